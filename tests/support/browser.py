"""A real browser for tests: headless Chromium, spoken to through a pipe.

The protocol of its developer tools is JSON with a null byte after each message. What
we need of it fits on this page, so that no driver has to be installed.
"""

import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless",
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-pipe",
)
SECONDS = 180
DOMAINS = ("Page", "Runtime", "Log", "Network")
# A frame waits until we have told it what we want to know.
ATTACHING = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
# Chromium reads from 3 and writes to 4. A process of its own puts the pipes there,
# because a function between fork and exec is not safe where there are threads.
LAUNCH = """
import fcntl, os, sys
spare = [fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 10) for pipe in sys.argv[1:3]]
for place, pipe in enumerate(spare, start=3):
    os.dup2(pipe, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium():
    """Return the path of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def saved_file(folder, ending=".csv"):
    """Return the file that a page saves in a folder, when it is there."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done = [f for f in folder.iterdir() if f.suffix == ending and f.stat().st_size]
        if done:
            return done[0]
        time.sleep(0.05)
    raise AssertionError("nothing was saved")


class Browser:
    """A page of a headless Chromium; all that happens in it is kept in ``events``.

    Frames of another origin are processes of their own, and ``events`` has theirs, too.
    """

    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process, self.send_to, self.read_from = self._start(path)
        self.numbers, self.events, self.rest = itertools.count(1), [], b""
        self.session, self.frames = None, []
        self._open_tab()

    def _open_tab(self):
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in DOMAINS:
            self.call(f"{domain}.enable")
        self.call("Target.setAutoAttach", **ATTACHING)
        return target

    def _start(self, path):
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()

        process = subprocess.Popen(
            [
                *(sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out)),
                *(path, *OPTIONS, f"--user-data-dir={self.profile.name}"),
            ],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        return process, ours_out, ours_in

    def call(self, method, **parameters):
        """Send a command and return its result; events are kept on the way."""
        number = self._send(method, parameters)
        answer = self._wait(lambda received: received.get("id") == number)
        assert "error" not in answer, answer
        return answer["result"]

    def _send(self, method, parameters, session=None):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session or self.session:
            message["sessionId"] = session or self.session
        os.write(self.send_to, json.dumps(message).encode() + b"\0")
        return number

    def _wait(self, wanted):
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" in self.rest:
                text, self.rest = self.rest.split(b"\0", 1)
                received = json.loads(text)
                if "method" in received:
                    self.events.append(received)
                self._react(received)
                if wanted(received):
                    return received
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.read_from], [], [], max(0, left))
            assert ready, "the browser does not answer"
            piece = os.read(self.read_from, 1 << 20)
            assert piece, "the browser has ended"
            self.rest += piece

    def _react(self, received):
        parameters = received.get("params", {})
        match received.get("method"):
            case "Page.javascriptDialogOpening":
                # The page stands still until the dialogue is answered.
                answer = ("Page.handleJavaScriptDialog", {"accept": True})
                self._send(*answer, received["sessionId"])
            case "Target.attachedToTarget" if parameters["waitingForDebugger"]:
                frame = parameters["sessionId"]
                self.frames.append(frame)
                for domain in DOMAINS:
                    self._send(f"{domain}.enable", {}, frame)
                self._send("Runtime.runIfWaitingForDebugger", {}, frame)
            case "Target.detachedFromTarget":
                gone = parameters["sessionId"]
                self.frames = [frame for frame in self.frames if frame != gone]

    @contextmanager
    def tab(self):
        """Work in a tab of its own; the first goes on by itself."""
        first, frames = self.session, self.frames
        self.frames = []
        target = self._open_tab()
        try:
            yield self
        finally:
            self.session = None
            self.call("Target.closeTarget", targetId=target)
            self.session, self.frames = first, frames

    @contextmanager
    def frame(self):
        """Work in the frame of the page, of which there is one."""
        page, deadline = self.session, time.monotonic() + SECONDS
        while not self.frames:
            assert time.monotonic() < deadline, "the page has no frame"
            self.happened()
        self.session = self.frames[-1]
        try:
            yield self
        finally:
            self.session = page

    def open(self, path):
        """Open a file from the disk, or an address, and wait until it is loaded."""
        self.events.clear()
        address = path if isinstance(path, str) else path.resolve().as_uri()
        answer = self.call("Page.navigate", url=address)
        assert "errorText" not in answer, answer
        if not any(self._is_loaded(event) for event in self.events):
            self._wait(self._is_loaded)

    def _is_loaded(self, event):
        """Tell whether an event is that the page is there, and not a frame of it."""
        loaded = event.get("method") == "Page.loadEventFired"
        return loaded and event["sessionId"] == self.session

    def ask(self, expression):
        """Return the value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Ask again until an expression is true."""
        deadline = time.monotonic() + SECONDS
        while not self.ask(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"{expression} never came true"
            time.sleep(0.05)

    def choose_file(self, selector, path):
        """Choose a file, as in the dialogue of an input for files."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        found = self.call("DOM.querySelector", nodeId=root, selector=selector)
        node = found["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def happened(self, *methods):
        """Return what the events of some kinds said."""
        self.ask("new Promise((done) => setTimeout(done, 50))")
        return [e["params"] for e in self.events if e["method"] in methods]

    def requests(self):
        """Return the addresses that were asked for, but for files and inline data."""
        urls = [e["request"]["url"] for e in self.happened("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith(("file:", "data:", "blob:"))]

    def complaints(self):
        """Return errors, messages on the console, and dialogues that were opened."""
        return self.happened(
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )

    def press(self, key):
        """Press and release a key, such as Enter or Tab."""
        codes = {"Enter": (13, "\r"), "Tab": (9, "")}
        code, text = codes[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text):
        """Write text where the focus is."""
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """Click in the middle of an element."""
        self.ask(
            f"document.querySelector({json.dumps(selector)})"
            ".scrollIntoView({block: 'center'})"
        )
        x, y = self.ask(
            f"(({{left, top, width, height}}) => [left + width / 2, top + height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def close(self):
        """End the browser and remove its profile."""
        os.close(self.send_to)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_from)
        self.profile.cleanup()
