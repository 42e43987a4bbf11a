"""A file takes its name when it is complete, and not before."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name beside a file to write to, which then replaces it.

    If writing fails or is interrupted, a file that was there before stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as part:
    ...         _ = part.write_text("all of it")
    ...     [path.name for path in Path(folder).iterdir()]
    ['a.txt']
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
