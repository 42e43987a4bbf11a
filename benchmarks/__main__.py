"""Run benchmarks by their names; see running.py."""

import sys
from pathlib import Path

# Benchmarks import each other as they do when one is run as a script.
sys.path.insert(0, str(Path(__file__).parent))

from running import main

if __name__ == "__main__":
    sys.exit(main())
