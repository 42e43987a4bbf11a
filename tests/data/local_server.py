"""A real HTTP server on this machine, whose answers a test decides."""

import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        # The client closes the connection when it has seen enough.
        with suppress(BrokenPipeError, ConnectionResetError):
            self.server.answers[self.path](self)

    def log_message(self, *arguments):
        pass


class LocalServer(ThreadingHTTPServer):
    """Answers each path with the function that the test gave for it."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests, self.closing = {}, [], threading.Event()

    def address(self, answer):
        """Return an address that is answered by ``answer(handler)``."""
        path = f"/{len(self.answers)}"
        self.answers[path] = answer
        return f"http://127.0.0.1:{self.server_port}{path}"


@contextmanager
def running_server():
    with LocalServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()


def send(handler, status, body, **headers):
    """Send an answer; headers are written with underscores."""
    handler.send_response(status)
    for name, value in {"Content_Length": len(body), **headers}.items():
        if value is not None:
            handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()
    handler.wfile.write(body)


def content(body):
    return lambda handler: send(handler, 200, body)


def status(code):
    return lambda handler: send(handler, code, b"a page of words")


def redirect_to(address):
    return lambda handler: send(handler, 302, b"", Location=address)


def cut_at(body, end):
    """Announce a whole content, but close the connection at a byte of it."""
    return lambda handler: send(handler, 200, body[:end], Content_Length=len(body))


def one_after_the_other(*answers):
    """Give each answer once, and the last for ever."""
    left = list(answers)
    return lambda handler: (left.pop(0) if len(left) > 1 else left[0])(handler)
