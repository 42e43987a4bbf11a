"""Opening public addresses: https only, from any byte on, redirects included."""

import re
import socket
import ssl
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from ufselect._version import __version__

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
# Answers that may be another one when asked again; 416 when asked without a range.
PASSING_FAULTS = {408, 416, 429, 500, 502, 503, 504}
PARTIAL_CONTENT = 206
# No such name, which is what being offline looks like, or no trust in who answers.
LASTING_FAULTS = (socket.gaierror, ssl.SSLError)


class RefusedError(Exception):
    """What an address offers is of no use, and would not be if asked again."""


def open_address(address: str, start: int, timeout: float) -> Any:
    """Return the answer of an address that was asked for its content from a byte on.

    Raises RefusedError where there is no point in asking again, and OSError or
    HTTPException where there may be.
    """
    headers = {"User-Agent": f"ufselect/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        if not _is_safe(address):
            raise RefusedError("is not an https address")
        opener = build_opener(_SafeRedirects)
        return opener.open(Request(address, headers=headers), timeout=timeout)
    except HTTPError as error:
        error.close()
        if error.code not in PASSING_FAULTS:
            raise RefusedError(f"HTTP {error.code} {error.reason}") from None
        raise
    except URLError as error:
        if isinstance(error.reason, LASTING_FAULTS):
            raise RefusedError(str(error.reason)) from error
        raise
    except ValueError as error:
        raise RefusedError(f"leads to a malformed address: {error}") from error


def first_byte(answer: Any, asked: int) -> int:
    """Return the byte at which an answer begins: zero if the server ignores ranges."""
    if answer.status != PARTIAL_CONTENT:
        return 0
    begin = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
    if begin is None or int(begin[1]) != asked:
        raise RefusedError("answers with a range that was not asked for")
    return asked


def length_of(answer: Any) -> int | None:
    """Return the number of bytes that an answer announces, or None."""
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None


def _is_safe(address: str) -> bool:
    scheme = urlsplit(address).scheme
    # Nothing can listen in within this machine, where the tests run a server.
    return scheme == "https" or (scheme == "http" and _is_loopback(address))


def _is_loopback(address: str) -> bool:
    return urlsplit(address).hostname in LOOPBACK


class _SafeRedirects(HTTPRedirectHandler):
    """Follows redirects to https, and from this machine to this machine."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str
    ) -> Any:
        inside = _is_loopback(req.full_url) and _is_safe(newurl)
        if not (inside or urlsplit(newurl).scheme == "https"):
            fp.close()
            raise RefusedError(f"redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
