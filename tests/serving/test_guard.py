"""Who is let in, asked of a real server by a client that keeps to no rule."""

import json
import socket

import pytest

SECURITY = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def test_without_the_token_there_is_nothing(server):
    wrong = ["/", "/wrong/", "/wrong/api/settings", "//", "/api/settings", "/%00/"]
    for path in [*wrong, f"/{server.token}x/"]:
        answer = server.ask("GET", path)
        assert answer.status == 404
        assert b"ufselect" not in answer.body
        assert server.token.encode() not in answer.body


def test_only_the_usual_names_of_this_machine_are_served(server):
    port = server.port
    for name in (f"127.0.0.1:{port}", f"localhost:{port}"):
        answer = server.page("GET", "", headers={"Host": name})
        assert answer.status == 200
        assert b"<title>ufselect</title>" in answer.body
    for name in (
        *("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1"),
        *("", None),
    ):
        answer = server.page("GET", "api/settings", headers={"Host": name})
        assert answer.status in (400, 421)
        assert b"max_upload" not in answer.body


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "api/files?name=a.csv"), ("POST", "api/runs"), ("DELETE", "api/runs/x")],
)
def test_other_pages_may_not_write(server, method, path):
    for origin in (
        *(None, "null", "http://evil.example", "http://127.0.0.1:1"),
        *(f"https://127.0.0.1:{server.port}", f"http://localhost:{server.port}"),
        f"http://127.0.0.1:{server.port}.evil.example",
    ):
        assert server.page(method, path, b"{}", {"Origin": origin}).status == 403


def test_other_pages_may_not_read_either(server):
    foreign = {"Origin": "http://evil.example"}
    read = server.page("GET", "api/settings", headers=foreign)
    preflight = server.page(
        "OPTIONS",
        "api/runs",
        headers=foreign | {"Access-Control-Request-Method": "POST"},
    )

    for answer in (read, preflight):
        names = [name.lower() for name, _ in answer.getheaders()]
        assert not [name for name in names if name.startswith("access-control")]
    assert preflight.status == 403


@pytest.mark.parametrize(
    ("path", "policy"),
    [
        ("", "script-src 'self'"),
        ("page.js", "script-src 'self'"),
        ("api/settings", "default-src 'none'"),
        ("api/runs/none", "default-src 'none'"),
        ("nothing", "default-src 'none'"),
    ],
)
def test_every_answer_has_the_headers_that_protect(server, path, policy):
    answer = server.page("GET", path)
    sent = {name: answer.getheader(name) for name in SECURITY}

    assert sent == SECURITY
    assert policy in answer.getheader("Content-Security-Policy")
    assert "frame-ancestors 'none'" in answer.getheader("Content-Security-Policy")
    assert answer.getheader("Server") is None


def test_no_path_leads_out_of_the_page(server):
    for path in (
        *("../pyproject.toml", "..%2f..%2fapplication.py", "application.py"),
        *("templates/../../guard.py", "%2e%2e/guard.py", "api/runs/../../x"),
        *("api/runs/%2e%2e/files/result.json", "page.js%00.html", "page.html.j2"),
    ):
        assert server.page("GET", path).status == 404


def test_the_token_alone_leads_to_the_page(server):
    answer = server.ask("GET", f"/{server.token}")

    assert answer.status == 307
    assert answer.getheader("Location") == f"/{server.token}/"


def test_only_the_loopback_address_is_served(server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # No packet is sent: the system only says by which address it would go.
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no other address")
        other = probe.getsockname()[0]
    if other.startswith("127."):
        pytest.skip("this machine has no other address")

    with pytest.raises(OSError, match="refused"):
        socket.create_connection((other, server.port), timeout=5)


def test_choices_that_are_no_json_are_one_sentence(server):
    for body in (b"", b"x", b"[]", b"\xff", b"[" * 60000, b"{" + b" " * 70000):
        answer = server.page("POST", "api/runs", body)
        assert answer.status in (400, 413)
        assert json.loads(answer.body)["problem"].startswith("the choices are")
