"""What can be asked of the server, and what it answers."""

import json
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message

from ufselect._version import __version__
from ufselect.registry import all_selectors
from ufselect.report.rendering import (
    content_security_policy,
    docstring_sections,
    package_file,
)
from ufselect.serving.choices import (
    FORMATS,
    checked_choices,
    remedies_on_page,
    words_of_page,
)
from ufselect.serving.runs import RESULT, Runs
from ufselect.serving.server import Settings
from ufselect.serving.uploads import (
    GIVEN,
    KNOWN_ENDINGS,
    Refusal,
    Source,
    Uploads,
    size_in_words,
)
from ufselect.tuning import AutoSelect

TEMPLATES = Environment(
    loader=PackageLoader("ufselect.serving"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "frame-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# A report runs its script and saves files, but may not send requests to the server in
# the name of the page.
REPORT_POLICY = (
    f"{content_security_policy()}; sandbox allow-scripts allow-downloads; "
    "frame-ancestors 'self'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# Enough for the roles of thousands of columns. Systems limit an argument to 128 kB.
MAX_BYTES_OF_CHOICES = 100_000


class Application:
    """Answers the page; runs and uploads live in the given folder."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        for name in ("uploads", "runs"):
            (folder / name).mkdir()
        self.settings = settings
        self.runs = Runs(folder / "runs", settings.n_jobs)
        self.uploads = Uploads(
            *(folder / "uploads", settings.max_upload, settings.file),
            in_use=self.runs.sources_in_use,
        )
        self.n_ended = 0

    def at(self, token: str, port: int) -> Starlette:
        """Return the whole, as a server takes it; every path begins with the token."""
        routes = [
            Route("/", self.page),
            Route("/{name:str}", self.page),
            Route("/api/settings", self.start_of_page),
            Route("/api/files", self.upload, methods=["POST"]),
            Route("/api/runs", self.start, methods=["POST"]),
            Route("/api/runs/{run}", self.state),
            Route("/api/runs/{run}", self.cancel, methods=["DELETE"]),
            Route("/api/runs/{run}/result", self.result),
            Route("/api/runs/{run}/report", self.report),
            Route("/api/runs/{run}/files/{name}", self.download),
        ]
        return Starlette(
            routes=[Mount(f"/{token}", routes=routes)],
            middleware=[Middleware(Protection, token=token, port=port)],
            lifespan=self._life,
            exception_handlers={HTTPException: _problem},
        )

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        """End all runs when the server ends."""
        yield
        self.n_ended = await self.runs.close()

    async def page(self, request: Request) -> Response:
        """Send the page, its style or its script."""
        name = request.path_params.get("name", "page.html")
        if name == "page.html":
            kind = "text/html"
            content = TEMPLATES.get_template("page.html.j2").render(
                version=__version__,
                automatic=in_two_sentences(AutoSelect).partition(". ")[2],
                groups=grouped_methods(),
                formats=FORMATS,
                largest=size_in_words(self.settings.max_upload),
            )
        elif name == "page.css":
            # The page looks like its reports.
            kind, content = "text/css", package_file("report.css") + _file(name)
        elif name == "page.js":
            kind, content = "text/javascript", _file(name)
        else:
            raise HTTPException(404)
        headers = {"Content-Security-Policy": PAGE_POLICY}
        return Response(content, media_type=kind, headers=headers)

    async def start_of_page(self, _: Request) -> Response:
        """Send the known formats, the size limit, and the table given at the start."""
        settings = self.settings
        given = None if settings.file is None else _told(self.uploads.find(GIVEN))
        return JSONResponse(
            {
                "endings": KNOWN_ENDINGS,
                "given": given,
                "max_upload": settings.max_upload,
                "max_upload_in_words": size_in_words(settings.max_upload),
            }
        )

    async def upload(self, request: Request) -> Response:
        """Take a table, which is a file of a form; its name is in the address."""
        name = request.query_params.get("name", "")
        with self.uploads.expecting(name) as count:

            async def receive() -> Message:
                message = await request.receive()
                count(len(message.get("body", b"")))
                return message

            # What is too large is refused before it comes.
            declared = request.headers.get("content-length", "")
            self.uploads.check_size(int(declared) if declared.isdecimal() else 0, name)
            try:
                async with Request(request.scope, receive).form(
                    max_files=1, max_fields=0
                ) as form:
                    table = form.get("table")
                    if not isinstance(table, UploadFile):
                        raise Refusal(400, "no file has come; choose it again")
                    source = await run_in_threadpool(
                        self.uploads.store, name, table.file
                    )
            except ClientDisconnect:
                return Response(status_code=400)
        return JSONResponse(_told(source), 201)

    async def start(self, request: Request) -> Response:
        """Start to look at a table, to select from it or to compare methods."""
        asked = await _asked(request)
        source = self.uploads.find(asked.get("file"))
        choices = checked_choices(asked.get("choices", {}))
        run = self.runs.start(source, str(asked.get("action")), choices)
        return JSONResponse(run.described(), 201)

    async def state(self, request: Request) -> Response:
        """Send the state of a run."""
        run = self.runs.find(request.path_params["run"])
        return JSONResponse(run.described() | {"ahead": self.runs.ahead_of(run)})

    async def cancel(self, request: Request) -> Response:
        """End a run."""
        run = self.runs.find(request.path_params["run"])
        run.cancel()
        return JSONResponse(run.described())

    async def result(self, request: Request) -> Response:
        """Send the output of the command."""
        run = self.runs.find(request.path_params["run"])
        if run.state != "done":
            raise Refusal(404, "this run has no result")
        text = await run_in_threadpool((run.folder / RESULT).read_text, "utf-8")
        if run.action != "look":
            return Response(text, media_type="application/json")
        seen = json.loads(text)
        seen["problem"] = words_of_page(seen["problem"] or "")
        seen["remedies"] = remedies_on_page(seen["remedies"])
        seen["notes"] = [words_of_page(note) for note in seen["notes"]]
        return JSONResponse(seen)

    async def report(self, request: Request) -> Response:
        """Send the report to look at."""
        path = self._written(request.path_params["run"], "report.html")
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return FileResponse(path, media_type="text/html", headers=headers)

    async def download(self, request: Request) -> Response:
        """Send a result to be saved."""
        run, name = request.path_params["run"], request.path_params["name"]
        path = self._written(run, name)
        suggested = self.runs.find(run).described()["files"][name]
        kind = "application/octet-stream"
        return FileResponse(path, media_type=kind, filename=suggested)

    def _written(self, run: str, name: str) -> Path:
        """Return a result by its name, which is looked up and never made a path."""
        results = self.runs.find(run).results()
        if name not in results:
            raise Refusal(404, "this run has no such file")
        return results[name]


def grouped_methods() -> dict[str, dict[str, str]]:
    """Return what each method does, in groups by what the methods declare."""
    groups: dict[str, dict[str, str]] = {
        "Clusters or an embedding of the samples, predicted from few features": {},
        "Neighbour graphs: features that change little between similar samples": {},
        "Reconstruction: few features from which all others follow": {},
        "Baselines, to compare with": {},
    }
    predicted, graphs, rebuilt, baselines = groups.values()
    for name, selector in all_selectors().items():
        declared = selector.PROPERTIES
        if declared.regression:
            group = predicted
        elif declared.self_expression == "features":
            group = rebuilt
        else:
            group = baselines if declared.similarity == "no" else graphs
        group[name] = in_two_sentences(selector)
    return groups


def in_two_sentences(selector: type) -> str:
    """Return what a method is called, and the first sentence of what it does.

    Examples
    --------
    >>> from ufselect import RandomSelection
    >>> in_two_sentences(RandomSelection)
    'Keep features drawn at random. A baseline for every other method.'
    """
    name, _, rest = docstring_sections(selector)[""].partition("\n\n")
    does = re.split(r"::|\.(?= |$)", " ".join(rest.split()))[0]
    return f"{name} {does}." if does else name


def _told(source: Source) -> dict[str, Any]:
    return {"file": source.identity, "name": source.name, "size": source.size}


def _file(name: str) -> str:
    path = Path(__file__).parent / "templates" / name
    return path.read_text(encoding="utf-8")


async def _asked(request: Request) -> dict[str, Any]:
    """Return the JSON in the only field of a form."""
    try:
        form = await request.form(
            max_files=0, max_fields=1, max_part_size=MAX_BYTES_OF_CHOICES
        )
        content = json.loads(str(form.get("asked", "")))
    except HTTPException as error:
        raise Refusal(
            413,
            "the choices cannot be read, or are longer than "
            f"{size_in_words(MAX_BYTES_OF_CHOICES)}; drop columns from the file, or "
            "use the command line",
        ) from error
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise Refusal(400, "the choices cannot be read; reload the page")
    return content


class Protection(BaseHTTPMiddleware):
    """Lets in who comes from this machine, with the token, from the page itself.

    A server on the loopback address is reached by every program and every user of the
    machine, and by every web page that its browser shows. The token keeps out who does
    not know it; the check of ``Host`` keeps out pages that give this address a name of
    their own; the check of ``Origin`` keeps other pages from writing. No header of CORS
    is ever sent, so that no other page can read.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        super().__init__(app)
        self.token = token
        # Browsers leave the usual port out.
        end = "" if port == 80 else f":{port}"
        self.hosts = {f"127.0.0.1{end}", f"localhost{end}"}

    async def dispatch(
        self, request: Request, call_next: RequestResponseEndpoint
    ) -> Response:
        """Let a request pass, or refuse it; protect the answer."""
        host = request.headers.get("host", "")
        token = request.scope["path"].removeprefix("/").partition("/")[0]
        response: Response
        if host not in self.hosts:
            response = PlainTextResponse("this is not the address of the web page", 421)
        elif not secrets.compare_digest(token.encode(), self.token.encode()):
            response = PlainTextResponse("nothing is here", 404)
        elif request.method not in ("GET", "HEAD") and (
            request.headers.get("origin") != f"http://{host}"
        ):
            response = PlainTextResponse("only the web page itself may do this", 403)
        else:
            response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response


async def _problem(_: Request, error: Exception) -> Response:
    """Answer an error with its sentence."""
    assert isinstance(error, HTTPException)
    words = "the request cannot be read; reload the page"
    if isinstance(error, Refusal):
        words = error.detail
    elif error.status_code == 404:
        words = "nothing is here"
    return JSONResponse({"problem": words}, error.status_code)
