"""Try what should not break it; see running.py."""

import sys

from reliability.running import main

if __name__ == "__main__":
    sys.exit(main())
