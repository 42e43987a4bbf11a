"""Who is let in, asked by a client that keeps to no rule."""

from pathlib import Path
from urllib.parse import quote

import pytest

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Server": None,
}


@pytest.mark.parametrize("end", ["", "/", "/wrong", "/%00", "/{token}x"])
@pytest.mark.parametrize("path", ["/", "/api/settings", "/page.js"])
def test_without_the_token_nothing_is_there(server, end, path):
    asked = server.ask("GET", end.format(token=server.token) + path)

    assert asked.status == 404
    assert server.token.encode() not in asked.body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "127.0.0.1", "", None])
def test_another_name_of_the_machine_is_refused(server, host):
    asked = server.ask("GET", f"/{server.token}/", headers={"Host": host})

    assert asked.status in (400, 421)
    assert server.token.encode() not in asked.body


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil",
        None,
    ],
)
@pytest.mark.parametrize(
    "asked", ["POST api/files?name=a.csv", "POST api/runs", "DELETE api/runs/x"]
)
def test_a_page_of_another_origin_can_neither_write_nor_read(server, origin, asked):
    method, path = asked.split()
    written = server.page(method, path, b"{}", {"Origin": origin})
    read = server.page("GET", "api/runs/x", headers={"Origin": origin})

    assert written.status == 403
    assert not [name for name in read.headers if "access-control" in name.lower()]


@pytest.mark.parametrize(
    "path",
    [
        *("../pyproject.toml", "..%2f..%2fapplication.py", "%2e%2e/runs.py"),
        *("page/../../runs.py", "//etc/passwd", "page.js%00.html", "page.html.j2"),
        *("api/runs/%2e%2e/files/result.json", "api/runs/..%2f..%2f/files/table.csv"),
    ],
)
def test_other_files_are_not_served(server, path):
    assert server.page("GET", path).status == 404


@pytest.mark.parametrize(
    ("content", "status"),
    [("", 400), ("x", 400), ("[]", 400), ("[" * 60_000, 400), (" " * 150_000, 413)],
    ids=["nothing", "no JSON", "a list", "deep", "150 kB"],
)
def test_broken_choices_are_refused_in_a_sentence(server, content, status):
    answer = server.form("runs", "asked", content)

    assert answer.status == status
    assert b"the choices cannot be read" in answer.body
    assert server.page("POST", "api/runs", content.encode()).status == 400


@pytest.mark.parametrize(
    "name",
    [
        *("../../escaped.csv", "/tmp/escaped.csv", "..\\..\\escaped.csv"),
        *("escaped\0.csv", "escaped.csv/../../b.csv", "escaped" * 900 + ".csv"),
    ],
    ids=["up", "root", "backslashes", "NUL", "up in the midst", "long"],
)
def test_a_name_never_leads_elsewhere_and_is_shown_in_one_line(server, name):
    file = server.upload(quote(name, safe="%"), b"a,b\n1,2\n3,4\n")
    run = server.start(file, "look")
    shown = server.wait_for(run, "done", "failed")["name"]
    stored = [path.name for path in server.folder.rglob("*") if path.is_file()]

    assert not [each for each in stored if "escaped" in each]
    assert not Path("/tmp/escaped.csv").exists()
    assert shown.isprintable()
    assert not set(shown) & set("/\\")
    assert 0 < len(shown) < 200


@pytest.mark.parametrize(
    ("path", "policy"),
    [
        *(("", "script-src 'self'"), ("page.js", "script-src 'self'")),
        *(("api/settings", "default-src 'none'"), ("nothing", "default-src 'none'")),
        ("api/runs/none", "default-src 'none'"),
    ],
)
def test_every_answer_has_the_headers_that_protect(server, path, policy):
    answer = server.page("GET", path)

    assert {name: answer.getheader(name) for name in HEADERS} == HEADERS
    assert policy in answer.getheader("Content-Security-Policy")
    assert "frame-ancestors 'none'" in answer.getheader("Content-Security-Policy")


def test_the_address_works_as_localhost_and_without_its_last_slash(server):
    local = {"Host": f"localhost:{server.port}"}
    answer = server.ask("GET", f"/{server.token}", headers=local)

    assert b"<title>ufselect</title>" in server.page("GET", "", headers=local).body
    assert answer.status == 307
    assert answer.getheader("Location").endswith(f"/{server.token}/")
