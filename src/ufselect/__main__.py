"""Lets ``python -m ufselect`` do what ``ufselect`` does."""

from ufselect.cli import main

raise SystemExit(main())
