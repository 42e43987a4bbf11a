"""Run studies by name; see runner.py."""

import sys

from studies.runner import main

if __name__ == "__main__":
    sys.exit(main())
