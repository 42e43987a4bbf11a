"""Access to the server: from this machine, with the token, from the page itself.

A server on the loopback address is reached by every program and every user of the
machine, and by every web page that its browser shows. The token keeps out who does not
know it; the check of ``Host`` keeps out pages that give this address a name of their
own; the check of ``Origin`` keeps other pages from writing. No header of CORS is ever
sent, so that no other page can read. Connections that take too long are closed.
"""

import asyncio
import secrets

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

READING = {"GET", "HEAD"}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Stands before an application, which sees paths without the token.

    Parameters
    ----------
    application : ASGI application
        What is guarded.
    token : str
        The first part of every path.
    port : int
        Where the server listens.
    """

    def __init__(self, application: ASGIApp, token: str, port: int) -> None:
        self.application = application
        self.token = token
        # Browsers leave the usual port out.
        end = "" if port == 80 else f":{port}"
        self.hosts = {f"127.0.0.1{end}", f"localhost{end}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        token, slash, rest = scope["path"].removeprefix("/").partition("/")
        answer = self._refusal(scope, token)
        if answer is None and not slash:
            answer = RedirectResponse(f"/{self.token}/")
        application = answer or self.application
        await application({**scope, "path": f"/{rest}"}, receive, send_with_headers)

    def _refusal(self, scope: Scope, token: str) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self.hosts:
            return PlainTextResponse("this is not the address of the web page", 421)
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return PlainTextResponse("nothing is here", 404)
        is_own = headers.get("origin") == f"http://{host}"
        if scope["method"] not in READING and not is_own:
            return PlainTextResponse("only the web page itself may do this", 403)
        return None


class TimedProtocol(H11Protocol):
    """Closes connections that are too many, and those whose request is too slow.

    uvicorn limits the time between two requests, but not the time of a request.
    """

    max_connections = 256
    header_seconds = 10.0
    # A body may pause for this long, and must come at this rate on average.
    body_seconds = 30.0
    bytes_per_second = 1000.0
    _timer: asyncio.TimerHandle | None = None
    _state: object = None
    _deadline = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the headers."""
        super().connection_made(transport)
        self._allow(0)
        if len(self.connections) > self.max_connections:
            # Close one that has not sent a request yet.
            waiting = (
                each
                for each in self.connections
                if isinstance(each, TimedProtocol)
                and each._state is h11.IDLE
                and not each.transport.is_closing()
                and each is not self
            )
            next(waiting, self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Give time for what is still to come."""
        super().data_received(data)
        self._allow(len(data))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def _allow(self, size: int) -> None:
        state, now = self.conn.their_state, self.loop.time()
        if state is h11.SEND_BODY:
            earned = self._deadline + size / self.bytes_per_second
            limit = now + self.body_seconds
            self._deadline = min(earned, limit) if state is self._state else limit
        elif state is not self._state:
            self._deadline = now + self.header_seconds
        self._state = state
        if self._timer is None:
            self._timer = self.loop.call_at(self._deadline, self._check)

    def _check(self) -> None:
        """Close the connection if the client is late; else look again later."""
        self._timer = None
        if self._state not in (h11.IDLE, h11.SEND_BODY):
            return
        # Where reading pauses, the server is the slow one.
        if self.flow.read_paused:
            self._deadline = self.loop.time() + self.body_seconds
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._check)
        else:
            self.transport.close()
