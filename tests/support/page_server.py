"""A real ``ufselect serve`` process for tests, and a client without a browser."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from urllib.parse import quote, urlsplit

from signals import heed_signals

SECONDS = 180
# Of the largest table that the server of most tests takes.
MAX_BYTES = 2_000_000
BOUNDARY = "between-the-parts"


class PageServer:
    """A server in its own process, with its files in ``folder``."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "ufselect", "serve", "--json", "--no-browser"),
                *map(str, options),
            ],
            env=dict(os.environ, TMPDIR=str(folder)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_signals if os.name == "posix" else None,
        )
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.address = json.loads(line)["address"]
        parts = urlsplit(self.address)
        self.port, self.token = parts.port, parts.path.strip("/")
        self.origin = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()

    def end(self, number=signal.SIGINT):
        """End the server by a signal; return its exit code and output."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            said = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            # No process and no pipe is left to the tests that follow.
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, *said

    def ask(self, method, path, body=None, headers=None):
        """Send a request to an unmodified path; return the response with its body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        # What is None is left out, so that nothing is sent in its place.
        headers = {"Host": f"127.0.0.1:{self.port}"} | (headers or {})
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "Content-Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        response.body = response.read()
        connection.close()
        return response

    def page(self, method, path, body=None, headers=None):
        """Send a request as the page does."""
        own = {} if method == "GET" else {"Origin": self.origin}
        return self.ask(method, f"/{self.token}/{path}", body, own | (headers or {}))

    def form(self, path, field, content, headers=None):
        """Send a form with one field, or with a file if the content is bytes."""
        file = '; filename="blob"' if isinstance(content, bytes) else ""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{field}"{file}'
        content = content if file else content.encode()
        body = b"%s\r\n\r\n%s\r\n--%s--\r\n" % (
            *(head.encode(), content, BOUNDARY.encode()),
        )
        kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
        return self.page("POST", f"api/{path}", body, kind | (headers or {}))

    def begun(self, path, size, content):
        """Send the beginning of a form with a file; return the open connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.putrequest("POST", f"/{self.token}/api/{path}")
        connection.putheader("Origin", self.origin)
        connection.putheader(
            "Content-Type", f"multipart/form-data; boundary={BOUNDARY}"
        )
        connection.putheader("Content-Length", str(size))
        head = 'Content-Disposition: form-data; name="table"; filename="blob"'
        connection.endheaders(f"--{BOUNDARY}\r\n{head}\r\n\r\n".encode() + content)
        return connection

    def api(self, path, method="GET"):
        """Ask as the page does; return the content of the answer."""
        return json.loads(self.page(method, f"api/{path}").body)

    def send(self, name, content):
        """Upload a table; return the answer."""
        return self.form(f"files?name={quote(name)}", "table", content)

    def upload(self, name, content):
        """Upload a table; return the name that the server gives it."""
        answer = self.send(name, content)
        assert answer.status == 201, answer.body
        return json.loads(answer.body)["file"]

    def ask_for(self, file, action="select", **choices):
        """Ask for a run; return the answer."""
        asked = {"file": file, "action": action, "choices": choices}
        return self.form("runs", "asked", json.dumps(asked))

    def start(self, file, action="select", **choices):
        """Start a run; return its name."""
        return json.loads(self.ask_for(file, action, **choices).body)["run"]

    def wait_for(self, run, *states):
        """Wait until a run is in one of the states; return its description."""
        deadline = time.monotonic() + SECONDS
        while (state := self.api(f"runs/{run}"))["state"] not in states:
            assert time.monotonic() < deadline, state
            time.sleep(0.05)
        return state
