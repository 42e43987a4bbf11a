"""Requests that a page of somebody else, or another user of the machine, would send."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

SECONDS = 300
MOST_BYTES = 200_000
OUTSIDE = (
    "../pyproject.toml",
    "..%2f..%2fapplication.py",
    "%2e%2e/guard.py",
    "page/../../guard.py",
    "//etc/passwd",
    "api/runs/%2e%2e/files/result.json",
    "api/runs/..%2f..%2f/files/table.csv",
    "page.js%00.html",
)
NAMES = ("../../escaped.csv", "/tmp/escaped.csv", "..\\..\\escaped.csv", "a\0.csv")
NAMES += ("escaped.csv/../../../x", "con.csv", "." * 300 + ".csv", "<img src=x>.csv")
HOSTS = ("evil.example", "127.0.0.1:1", "", "localhost.evil.example")
ORIGINS = ("null", "http://evil.example", "https://127.0.0.1", "http://127.0.0.1.evil")


class Page(NamedTuple):
    """A page that is served."""

    port: int
    token: str
    folder: Path

    def status(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str]]:
        """Send a request as it is; return the answer's status and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        sent = {"Host": f"127.0.0.1:{self.port}", **headers}
        connection.putrequest(method, path, skip_host=True)
        for name, value in sent.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders())


@contextmanager
def served(folder: Path) -> Iterator[Page]:
    """Run ``ufselect serve``; all that it writes is in the folder."""
    command = [sys.executable, "-m", "ufselect", "serve", "--json", "--no-browser"]
    process = subprocess.Popen(
        [*command, "--max-upload", str(MOST_BYTES)],
        env=dict(os.environ, TMPDIR=str(folder)),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = urlsplit(json.loads(process.stdout.readline())["address"])
        yield Page(address.port or 0, address.path.strip("/"), folder)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)


def without_token(page: Page) -> Iterator[bool]:
    """Ask without the token, or with a wrong one."""
    for start in ("", "/", "/wrong", f"/{page.token}x", f"/{page.token[:-1]}"):
        for rest in ("/", "/api/settings", "/page.js"):
            yield page.status("GET", f"{start}{rest}")[0] == 404


def under_another_name(page: Page) -> Iterator[bool]:
    """Ask as after DNS rebinding."""
    for host in HOSTS:
        yield page.status("GET", f"/{page.token}/", Host=host)[0] in (400, 421)


def from_another_page(page: Page) -> Iterator[bool]:
    """Write, read and ask for permission from a page of another origin."""
    for origin in ORIGINS:
        for path in ("api/files?name=a.csv", "api/runs"):
            yield (
                page.status("POST", f"/{page.token}/{path}", b"{}", Origin=origin)[0]
                == 403
            )
        for method in ("GET", "OPTIONS"):
            answer = page.status(method, f"/{page.token}/api/runs/x", Origin=origin)
            yield not [name for name in answer[1] if "access-control" in name.lower()]


def for_other_files(page: Page) -> Iterator[bool]:
    """Ask for files that are none of the page's."""
    for path in OUTSIDE:
        yield page.status("GET", f"/{page.token}/{path}")[0] == 404


def uploads_with_names(page: Page) -> Iterator[bool]:
    """Upload under names that lead elsewhere; nothing may appear there."""
    for name in NAMES:
        before = _outside(page.folder)
        path = f"/{page.token}/api/files?name={quote(name)}"
        status, _ = page.status(
            "POST", path, b"a,b\n1,2\n", Origin=f"http://127.0.0.1:{page.port}"
        )
        stored = [each.name for each in page.folder.rglob("*") if each.is_file()]
        yield (
            status in (201, 400, 415)
            and _outside(page.folder) == before
            and all(each.startswith("table") for each in stored)
        )


def _outside(folder: Path) -> set[str]:
    return {
        each.name for place in (folder.parent, Path.cwd()) for each in place.iterdir()
    }


def uploads_too_large(page: Page) -> Iterator[bool]:
    """Upload more than is taken, also when less is announced."""
    own = {"Origin": f"http://127.0.0.1:{page.port}"}
    path = f"/{page.token}/api/files?name=large.csv"
    try:
        status, _ = page.status("POST", path, bytes(3 * MOST_BYTES), **own)
    except OSError:  # the server hung up while more was coming
        status = 413
    kept = sum(each.stat().st_size for each in page.folder.rglob("*") if each.is_file())
    yield status == 413 and kept <= MOST_BYTES


def from_another_machine(page: Page) -> Iterator[bool]:
    """Connect to the addresses by which others see this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return
        other = probe.getsockname()[0]
    try:
        socket.create_connection((other, page.port), timeout=5).close()
        yield other.startswith("127.")
    except OSError:
        yield True
