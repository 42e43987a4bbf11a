"""An environment with the packages that others have written, apart from ours."""

import os
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / ".peers"
PACKAGES = ("ITMO_FS", "skfeature-chappers", "fastcan", "scikit-learn")


def peers_python(folder: Path = FOLDER) -> str:
    """Return the interpreter of the environment, which is made if it is missing.

    A package that cannot be installed is missed where it is used.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.is_file():
        print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        for package in PACKAGES:
            command = [str(python), "-m", "pip", "install", "--quiet", package]
            subprocess.run(command, check=False)
    return str(python)
