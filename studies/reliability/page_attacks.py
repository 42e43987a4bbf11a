"""Requests that a foreign web page, or another user of the machine, could send."""

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
OUTSIDE = ("../pyproject.toml", "..%2f..%2fapplication.py", "%2e%2e/guard.py")
OUTSIDE += ("page/../../guard.py", "//etc/passwd", "page.js%00.html", "page.html.j2")
OUTSIDE += ("application.py", "templates/../../guard.py", "api/runs/../../x")
OUTSIDE += ("api/runs/%2e%2e/files/result.json", "api/runs/..%2f..%2f/files/table.csv")
NAMES = ("../../escaped.csv", "/tmp/escaped.csv", "..\\..\\escaped.csv", "a\0.csv")
NAMES += ("escaped.csv/../../../x", "con.csv", "." * 300 + ".csv", "<img src=x>.csv")
HOSTS = ("evil.example", "127.0.0.1:1", "127.0.0.1", "", "localhost.evil.example")
ORIGINS = ("null", "http://evil.example", "http://127.0.0.1:1", "http://127.0.0.1.evil")
CONTENTS = (b"", b"x", b"[]", b"\xff", b"[" * 60_000, b"{" + b" " * 1_100_000)
# More than a server holds open, and longer than it waits for half a request.
N_CONNECTIONS = 300
SECONDS_OF_PATIENCE = 60


class Page(NamedTuple):
    """A page that is served."""

    port: int
    token: str
    folder: Path

    def status(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str]]:
        """Send a request as it is; return the answer's status and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        sent = {"Host": f"127.0.0.1:{self.port}", **headers}
        connection.putrequest(method, path, skip_host=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        leaked = answer.status >= 400 and self.token.encode() in answer.read()
        connection.close()
        return 0 if leaked else answer.status, dict(answer.getheaders())


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
    starts = ("", "/", "/wrong", "/%00", f"/{page.token}x", f"/{page.token[:-1]}")
    for start in starts:
        for rest in ("/", "/api/settings", "/page.js"):
            yield page.status("GET", f"{start}{rest}")[0] == 404


def under_another_name(page: Page) -> Iterator[bool]:
    """Ask as after DNS rebinding."""
    for host in (*HOSTS, f"evil.example:{page.port}", None):
        yield page.status("GET", f"/{page.token}/", Host=host)[0] in (400, 421)


def from_another_page(page: Page) -> Iterator[bool]:
    """Write, read and ask for permission from a page of another origin."""
    other = (f"https://127.0.0.1:{page.port}", f"http://localhost:{page.port}")
    for origin in (*ORIGINS, *other, f"http://127.0.0.1:{page.port}.evil", None):
        for request in (
            "POST api/files?name=a.csv",
            "POST api/runs",
            "DELETE api/runs/x",
        ):
            method, path = request.split()
            status, _ = page.status(
                method, f"/{page.token}/{path}", b"{}", Origin=origin
            )
            yield status == 403
        for method in ("GET", "OPTIONS"):
            answer = page.status(method, f"/{page.token}/api/runs/x", Origin=origin)
            yield not [name for name in answer[1] if "access-control" in name.lower()]


def for_other_files(page: Page) -> Iterator[bool]:
    """Ask for files that are none of the page's."""
    for path in OUTSIDE:
        yield page.status("GET", f"/{page.token}/{path}")[0] == 404


def with_broken_content(page: Page) -> Iterator[bool]:
    """Ask for a run with what is no object of JSON, or too much of it."""
    own = f"http://127.0.0.1:{page.port}"
    for content in CONTENTS:
        path = f"/{page.token}/api/runs"
        yield page.status("POST", path, content, Origin=own)[0] in (400, 413)


def half_sent(page: Page) -> Iterator[bool]:
    """Begin many requests and never end them; each is closed, and others go on."""
    opened = []
    for _ in range(N_CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", page.port), timeout=5)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        connection.settimeout(SECONDS_OF_PATIENCE)
        opened.append(connection)
    yield page.status("GET", f"/{page.token}/")[0] == 200
    for connection in opened:
        try:
            is_closed = connection.recv(1) == b""
        except ConnectionError:
            is_closed = True
        except TimeoutError:
            is_closed = False
        connection.close()
        yield is_closed


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
