"""Who is let in: this machine, with the token, from the page itself.

A server on the loopback address is reached by every program and every user of the
machine, and by every web page that its browser shows. The token keeps out who does not
know it; the check of ``Host`` keeps out pages that give this address a name of their
own; the check of ``Origin`` keeps other pages from writing. No header of CORS is ever
sent, so that no other page can read.
"""

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
            return PlainTextResponse("this is not the address of this page", 421)
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return PlainTextResponse("there is nothing here", 404)
        is_own = headers.get("origin") == f"http://{host}"
        if scope["method"] not in READING and not is_own:
            return PlainTextResponse("only the page itself may do this", 403)
        return None
