"""Whether a file is the one that the catalogue means."""

import hashlib
from pathlib import Path


def has_checksum(path: Path, checksum: str) -> bool:
    """Say whether a file's content has a checksum of the catalogue.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "empty")
    ...     path.touch()
    ...     has_checksum(path, "git-blob:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    True
    """
    kind, _, expected = checksum.partition(":")
    if kind == "sha256":
        digest = hashlib.sha256()
    elif kind == "git-blob":
        # Git names a content by the SHA-1 of this header and the content.
        header = f"blob {path.stat().st_size}\0".encode()
        digest = hashlib.sha1(header, usedforsecurity=False)
    else:
        raise ValueError(f"{checksum!r} must begin with 'sha256:' or 'git-blob:'")
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest() == expected
