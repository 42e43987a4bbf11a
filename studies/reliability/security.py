"""Which attacks on downloads, written files and the server succeed?

Downloads from a local server that redirects or sends other content; names of features
that would be code in a page or in a spreadsheet; requests to a real ``ufselect serve``.
An attack without effect is "refused"; text that is shown or written literally, and read
back unchanged, is "answered".

    python -m studies security
"""

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np

from studies.findings import Outcome
from studies.reliability import page_attacks as attacks
from studies.settings import Settings
from ufselect import LaplacianScore
from ufselect.data import CataloguedSet, Patience, read_table, write_table
from ufselect.data.download import download
from ufselect.data.tables.table import Origin, Table, as_names
from ufselect.report import (
    Effort,
    Paragraph,
    Section,
    html_page,
    selection_report,
)
from ufselect.report import TextTable as PageTable

DURATION = "3 minutes"
HASTE = Patience(timeout=5.0, longest=20.0, attempts=1, delay=0.001)
BODY = b"the right content"
ELSEWHERE = (
    "http://example.org/set.mat",
    "file:///etc/passwd",
    "ftp://example.org/set.mat",
    "gopher://example.org/",
    "data:text/plain,x",
    "//example.org/x",
    "HTTP://EXAMPLE.ORG/x",
)
HOSTILE = (
    "<script>alert(1)</script>",
    "</title><script>x</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='x",
    "]]><svg onload=x>",
    "</template><iframe src=javascript:x>",
    "&#60;script&#62;x",
    "&lt;b&gt;",
    "\u202egnp.exe",
    "--><!--<b>",
    "${7*7}{{7*7}}",
    "javascript:alert(1)",
    "$\\frac{1}{0}$",
    "</style><style>*{display:none}",
)
FORMULAS = (
    "=1+1",
    "+a",
    "-a",
    "@SUM(A1)",
    "'=1+1",
    "''-x",
    "\uff1d1",
    '=HYPERLINK("x")',
)
FORMULAS += (
    "=cmd|' /C calc'!A0",
    "+1;=2",
    "-2+3+cmd|x",
    "@a,b",
    "=a\tb",
    "-1.5",
    "'tis",
)


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of the attacks."""
    yield refused("downloads from addresses that are not https", addresses())
    yield refused("downloads that lead to such addresses", _redirects())
    yield refused("downloads of another content", _contents())
    yield answered("names that would be programs, in a plain page", shown(plain_page))
    yield answered("names that would be programs, in a report", reported())
    yield answered("names that would be formulas, in text", formulas())
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "page")
        place.mkdir()
        with attacks.served(place) as page:
            for what, attack in REQUESTS.items():
                yield refused(what, attack(page))


REQUESTS: dict[str, Callable[[attacks.Page], Iterator[bool]]] = {
    "requests without the token": attacks.without_token,
    "requests under another name of the machine": attacks.under_another_name,
    "requests from another page": attacks.from_another_page,
    "requests for other files": attacks.for_other_files,
    "requests with broken content": attacks.with_broken_content,
    "requests that never end": attacks.half_sent,
    "uploads under names that lead elsewhere": attacks.uploads_with_names,
    "uploads that are too large": attacks.uploads_too_large,
    "connections from another machine": attacks.from_another_machine,
}


def refused(what: str, attempts: Iterable[bool]) -> Outcome:
    """Count attacks that came to nothing."""
    results = list(attempts)
    return Outcome(what, len(results), 0, sum(results), len(results) - sum(results))


def answered(what: str, attempts: Iterable[bool]) -> Outcome:
    """Count text that stayed what it is."""
    results = list(attempts)
    return Outcome(what, len(results), sum(results), 0, len(results) - sum(results))


def _fetched(address: str) -> bool:
    """Tell whether a file appears when an address is asked for it."""
    checksum = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
    wanted = CataloguedSet("set", "", 1, 1, 1, checksum, "", (address,))
    with tempfile.TemporaryDirectory() as folder:
        reasons = download(wanted, Path(folder, "set.mat"), HASTE)
        return not reasons or Path(folder, "set.mat").exists()


def addresses() -> Iterator[bool]:
    """Ask addresses that are not https."""
    yield from (not _fetched(address) for address in ELSEWHERE)


@contextmanager
def _server(status: int, location: str = "", body: bytes = b"") -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    os.environ["no_proxy"] = "*"
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/set.mat"
        server.shutdown()


def _redirects() -> Iterator[bool]:
    for status in (301, 302, 303, 307, 308):
        for location in ELSEWHERE:
            with _server(status, location) as address:
                yield not _fetched(address)


def _contents() -> Iterator[bool]:
    for body in (b"", b"x", BODY + b"x", BODY[:-1], BODY.upper()):
        with _server(200, body=body) as address:
            yield not _fetched(address)
    with _server(200, body=BODY) as address:
        if not _fetched(address):
            raise AssertionError("the right content is refused, too")


class Structure(HTMLParser):
    """Tags and names of attributes of a page, and what its scripts are."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[object] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, name) for name, _ in attrs} | {tag}

    def handle_comment(self, data: str) -> None:
        self.found.add(("comment", data))


def shown(build: Callable[[str], str]) -> Iterator[bool]:
    """Tell of each name whether a page has no other parts than with a harmless one."""
    usual = Structure(build("harmless")).found
    yield from (Structure(build(name)).found <= usual for name in HOSTILE)


def plain_page(name: str) -> str:
    """Return a page that has a name wherever one can be."""
    rows = [[name, "1"], ["b", "2"]]
    table = PageTable([name, "score"], rows, caption=name, name=name, interactive=True)
    return html_page(name, [Section(name, [Paragraph(name), table])])


def reported() -> Iterator[bool]:
    """Tell the same of a report, in which all names are at once: it takes its time."""
    harmless = [f"gene {place}" for place in range(len(HOSTILE))]
    usual, found = (
        Structure(selection_page(names)).found for names in (harmless, HOSTILE)
    )
    yield from (found <= usual for _ in HOSTILE)


def selection_page(names: Sequence[str]) -> str:
    """Return the page about a selection among features of these names."""
    values = np.random.default_rng(0).normal(size=(20, len(names)))
    report = selection_report(
        values,
        LaplacianScore(len(names) - 1).fit(values),
        feature_names=names,
        labels=np.array(names[:2] * 10),
        effort=Effort(n_subsamples=2, n_cluster_numbers=2, n_random=19),
        command=names[0],
    )
    return report.html()


def formulas() -> Iterator[bool]:
    """Tell of each name whether no spreadsheet runs it, and it is read back."""
    values = np.array([[1.0, -2.0], [3.0, 4.0]])
    for name in FORMULAS:
        names, origin = as_names([name, "b"]), Origin(Path("x"), "x", None, {})
        table = Table(values, names, names, "id", names, "kind", "text", (), origin)
        stream = BytesIO()
        write_table(table, [0, 1], stream)
        stream.seek(0)
        again = read_table(stream, header=True, id_column="id", labels="kind")
        same = again.feature_names.tolist() == again.labels.tolist() == [name, "b"]
        first = stream.getvalue().decode().splitlines()[1].lstrip('"')
        yield same and (first[0] not in "=+-@\t\r\uff1d" or name == "-1.5")
