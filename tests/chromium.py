"""A real browser for tests: Chromium of this machine, driven by Playwright."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from waiting import STARTING

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60_000  # milliseconds for anything at all
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic", "--force-color-profile=srgb",
)  # fmt: skip


def find() -> str | None:
    """The path of a Chromium on this machine, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def missing() -> str | None:
    """What tests in a browser lack, as a sentence, or None."""
    if find() is None:
        return "there is no Chromium on this machine; get it with: apt-get install chromium"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "Playwright is not installed; get it with: pip install playwright"
    return None


class Chromium:
    """One tab of one browser; a context manager that ends the browser in any case."""

    def __init__(self) -> None:
        self.console_errors: list[str] = []
        self.requests: list[str] = []
        # Playwright keeps an event loop running in its thread, in which nobody else could then run another.
        self._thread = ThreadPoolExecutor(1, "chromium")

    def __enter__(self) -> "Chromium":
        try:
            self._thread.submit(self._launch).result()
        except BaseException:
            self._thread.shutdown()
            raise
        return self

    def _launch(self) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        try:
            self._browser = self._playwright.chromium.launch(
                executable_path=find(), args=OPTIONS, timeout=1000 * STARTING, handle_sigint=False
            )
        except BaseException:
            self._playwright.stop()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._thread.submit(self._close).result()
        finally:
            self._thread.shutdown()

    def _close(self) -> None:
        try:
            self._browser.close()
        finally:
            self._playwright.stop()

    def _do(self, act):
        """Have something done with the page, in Playwright's thread."""
        return self._thread.submit(lambda: act(self._page)).result()

    def open(self, path: str | os.PathLike[str], width: int = 1280, dark: bool = False, height: int = 900) -> None:
        """Load a file in a fresh window of this width, offline, and clear the console's messages."""
        self._thread.submit(self._open, Path(path).resolve().as_uri(), width, height, dark).result()
        self.settle()

    def _open(self, url: str, width: int, height: int, dark: bool) -> None:
        for context in self._browser.contexts:
            context.close()
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            is_mobile=width < 600,
            color_scheme="dark" if dark else "light",
            offline=True,
        )
        context.set_default_timeout(PATIENCE)
        self._page = context.new_page()
        self.console_errors, self.requests = [], []
        self._page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        self._page.on("console", self._listen)
        self._page.on("request", lambda request: self.requests.append(request.url))
        self._page.goto(url)

    def _listen(self, message) -> None:
        if message.type in ("error", "assert"):
            self.console_errors.append(message.text)

    def resize(self, width: int, height: int = 900) -> None:
        self._do(lambda page: page.set_viewport_size({"width": width, "height": height}))
        self.settle()

    def prefer(self, dark: bool) -> None:
        """Say that the reader wants a dark page, or a light one."""
        self._do(lambda page: page.emulate_media(color_scheme="dark" if dark else "light"))
        self.settle()

    def show_on(self, media: str) -> None:
        """Show the page as on a screen, or as in print."""
        self._do(lambda page: page.emulate_media(media=media))
        self.settle()

    def settle(self) -> None:
        """Wait until what was asked for has been drawn."""
        frame = "await new Promise(requestAnimationFrame);"
        self.evaluate(f"(async () => {{ {3 * frame} }})()")

    def evaluate(self, javascript: str) -> object:
        """The value of an expression in the page; a promise is waited for."""
        return self._do(lambda page: page.evaluate(javascript))

    def click(self, selector: str) -> None:
        """Click the middle of an element, as a reader would."""
        self._do(lambda page: page.locator(selector).first.click())
        self.settle()

    def hover(self, x: float, y: float) -> None:
        """Move the pointer to a point of the window."""
        self._do(lambda page: page.mouse.move(x, y))
        self.settle()

    def press(self, key: str) -> None:
        """Press a key of the keyboard, by its name in JavaScript."""
        self._do(lambda page: page.keyboard.press(key))
        self.settle()

    def middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is in the window, scrolled into view."""
        x, y = self.evaluate(
            f"(() => {{ const found = document.querySelector({json.dumps(selector)});"
            "found.scrollIntoView({block: 'center', behavior: 'instant'}); const box = found.getBoundingClientRect();"
            "return [box.left + box.width / 2, box.top + box.height / 2] })()"
        )
        return x, y

    def print_pdf(self, path: str | os.PathLike[str]) -> None:
        """The page as it is printed on A4."""
        self._do(lambda page: page.pdf(path=path, format="A4"))
