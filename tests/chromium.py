"""A real browser for tests: headless Chromium, spoken to by its DevTools protocol over a pair of pipes."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 30  # seconds for anything at all

# Chromium reads commands from file 3 and answers in file 4.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
OPTIONS = (
    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--force-color-profile=srgb", "--hide-scrollbars",
)  # fmt: skip


def find() -> str | None:
    """The path of a Chromium on this machine, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """One tab of one browser; a context manager that ends the browser in any case."""

    def __init__(self, binary: str) -> None:
        self.binary = binary
        self.console_errors: list[str] = []
        self._count = 0
        self._session: str | None = None
        self._buffer = b""
        self._answers: dict[int, dict] = {}
        self._events: list[str] = []

    def __enter__(self) -> "Chromium":
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_read, self._commands = os.pipe()
        self._replies, to_write = os.pipe()
        # Above 4, so that neither is overwritten when it is copied to 3 and 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
        launch = [sys.executable, "-I", "-S", "-c", LAUNCH, *map(str, ends), self.binary, *OPTIONS]
        self._process = subprocess.Popen(
            [*launch, f"--user-data-dir={self._profile}"],
            pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        for end in (to_read, to_write, *ends):
            os.close(end)
        try:
            target = self._send("Target.createTarget", url="about:blank")["targetId"]
            self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self._send(f"{domain}.enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE)
        os.close(self._commands)
        os.close(self._replies)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, path: str | os.PathLike[str], width: int = 1280, dark: bool = False, height: int = 900) -> None:
        """Load a file, in a window so wide; what the console says starts anew."""
        self.resize(width, height)
        self.prefer(dark)
        self._send("Page.navigate", url="about:blank")
        self.console_errors.clear()
        self._events.clear()
        self._send("Page.navigate", url=Path(path).resolve().as_uri())
        self._until(lambda: "Page.loadEventFired" in self._events, "the page to load")
        self.settle()

    def resize(self, width: int, height: int = 900) -> None:
        self._send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def prefer(self, dark: bool) -> None:
        """Say that the reader wants a dark page, or a light one."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[feature])

    def settle(self) -> None:
        """Wait until what was asked for has been drawn."""
        frame = "new Promise(done => requestAnimationFrame(done))"
        for _ in range(3):
            self.evaluate(frame)

    def evaluate(self, javascript: str) -> object:
        """The value of an expression in the page; a promise is waited for."""
        answer = self._send("Runtime.evaluate", expression=javascript, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(_description(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Click the middle of an element, as a reader would."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def hover(self, x: float, y: float) -> None:
        """Move the pointer to a point of the window."""
        self._send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def press(self, key: str) -> None:
        """Press a key of the keyboard, by its name in JavaScript."""
        code, text = {"Enter": (13, "\r"), " ": (32, " "), "ArrowLeft": (37, ""), "ArrowRight": (39, "")}[key]
        common = {"key": key, "windowsVirtualKeyCode": code}
        self._send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self._send("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is in the window, scrolled into view."""
        place = self.evaluate(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)}); if (!found) return null;"
            "found.scrollIntoView({block: 'center', behavior: 'instant'}); const box = found.getBoundingClientRect();"
            "return [box.left + box.width / 2, box.top + box.height / 2] })()"
        )
        assert place is not None, f"nothing on the page is {selector}"
        return tuple(place)

    def screenshot(self, path: str | os.PathLike[str], whole: bool = True) -> None:
        """A picture of the whole page, or of what the window shows."""
        answer = self._send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def print_pdf(self, path: str | os.PathLike[str]) -> None:
        """The page as it is printed on A4."""
        answer = self._send("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=False)
        Path(path).write_bytes(base64.b64decode(answer["data"]))

    def _send(self, method: str, **parameters: object) -> dict:
        self._count += 1
        number = self._count
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        self._until(lambda: number in self._answers, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _until(self, done, what: str) -> None:
        """Read messages until there is what was waited for."""
        end = time.monotonic() + PATIENCE
        while not done():
            if not select.select([self._replies], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium took more than {PATIENCE} s: {what}")
            data = os.read(self._replies, 1 << 20)
            if not data:
                raise RuntimeError(f"Chromium ended while it was asked: {what}")
            *messages, self._buffer = (self._buffer + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message: dict) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        method, about = message["method"], message["params"]
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.console_errors.append(_description(about["exceptionDetails"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.console_errors.append(about["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            self.console_errors.append(str([part.get("value", part.get("description")) for part in about["args"]]))


def _description(details: dict) -> str:
    return details.get("exception", {}).get("description") or details["text"]
