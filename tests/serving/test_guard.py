"""Who is let in and for how long, asked by a client that keeps to no rule."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")
uvicorn = pytest.importorskip("uvicorn")

from ufselect.serving.guard import TimedProtocol  # noqa: E402 - needs both
from ufselect.serving.server import listening  # noqa: E402

SECURITY = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


FOREIGN = ["null", "http://evil.example", "http://127.0.0.1:1", "http://127.0.0.1.evil"]


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


@pytest.mark.parametrize("origin", [*FOREIGN, None])
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
        *("../pyproject.toml", "..%2f..%2fapplication.py", "%2e%2e/guard.py"),
        *("page/../../guard.py", "//etc/passwd", "page.js%00.html", "page.html.j2"),
        *("api/runs/%2e%2e/files/result.json", "api/runs/..%2f..%2f/files/table.csv"),
    ],
)
def test_other_files_are_not_served(server, path):
    assert server.page("GET", path).status == 404


@pytest.mark.parametrize(
    "body", [b"", b"x", b"[]", b"\xff", b"[" * 60_000, b"{" + b" " * 1_100_000]
)
def test_broken_content_is_refused(server, body):
    assert server.page("POST", "api/runs", body).status in (400, 413)


@pytest.mark.parametrize(
    "name", ["../../escaped.csv", "/tmp/escaped.csv", "..\\..\\escaped.csv", "a\0.csv"]
)
def test_a_name_that_leads_elsewhere_does_not(server, name):
    answer = server.page("POST", f"api/files?name={quote(name)}", b"a,b\n1,2\n3,4\n")
    stored = [path.name for path in server.folder.rglob("*") if path.is_file()]

    assert answer.status in (201, 400, 415)
    assert not [each for each in stored if "escaped" in each]
    assert not Path("/tmp/escaped.csv").exists()


def test_every_answer_has_the_headers_that_protect(server):
    for path, policy in (
        *(("", "script-src 'self'"), ("page.js", "script-src 'self'")),
        *(("api/settings", "default-src 'none'"), ("nothing", "default-src 'none'")),
        ("api/runs/none", "default-src 'none'"),
    ):
        answer = server.page("GET", path)
        assert {name: answer.getheader(name) for name in SECURITY} == SECURITY
        assert policy in answer.getheader("Content-Security-Policy")
        assert "frame-ancestors 'none'" in answer.getheader("Content-Security-Policy")
        assert answer.getheader("Server") is None
    local = {"Host": f"localhost:{server.port}"}
    assert b"<title>ufselect</title>" in server.page("GET", "", headers=local).body
    answer = server.ask("GET", f"/{server.token}")
    assert (answer.status, answer.getheader("Location")) == (307, f"/{server.token}/")


class Impatient(TimedProtocol):
    """The same in a fraction of the time."""

    max_connections = 20
    header_seconds = 0.3
    body_seconds = 0.3
    bytes_per_second = 1e6


async def sized(scope, receive, send):
    """Answer with the size of the body; a body that breaks off has none."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    body = str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def impatient_server():
    with listening(0) as listener:
        config = uvicorn.Config(
            sized, http=Impatient, log_level="critical", lifespan="off"
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listener]))
        try:
            yield lambda: asyncio.open_connection(*listener.getsockname())
        finally:
            server.should_exit = True
            await running


@pytest.mark.parametrize(
    ("sent", "piece"),
    [
        (b"", b""),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", b""),
        (b"GET / HTTP/1.1\r\n", b"X: y\r\n"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n", b""),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n", b"x"),
        # The second request of a connection is timed, too.
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n", b"X: y\r\n"),
    ],
)
def test_a_request_that_never_ends_is_closed(sent, piece):
    async def closed():
        async with impatient_server() as connect, asyncio.timeout(60):
            reader, writer = await connect()
            writer.write(sent)
            ended = asyncio.create_task(reader.read())
            # One that trickles would last for ever.
            while not ended.done():
                writer.write(piece)
                await asyncio.wait([ended], timeout=0.05)
            writer.close()
            return await ended

    answered = asyncio.run(closed())
    assert answered.count(b"200 OK") == sent.count(b"\r\n\r\nGET")


def test_a_large_body_has_its_time_and_connections_are_limited():
    async def attempt():
        async with impatient_server() as connect:
            reader, writer = await connect()
            size = 4_000_000
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n" % size)
            for _ in range(10):  # longer in all than a header may take
                await asyncio.sleep(0.05)
                writer.write(bytes(size // 10))
            answer = await reader.read()
            writer.close()
            opened = [await connect() for _ in range(40)]
            ended = [asyncio.create_task(each.read()) for each, _ in opened]
            done, _ = await asyncio.wait(ended, timeout=0.2)
            await asyncio.wait(ended, timeout=60)
            for _, each in opened:
                each.close()
            return answer, len(done), all(each.done() for each in ended)

    answer, n_refused, all_closed = asyncio.run(attempt())
    assert answer.endswith(b"4000000")
    assert n_refused >= 40 - Impatient.max_connections
    assert all_closed
