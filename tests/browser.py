"""Debian's Chromium for the tests, and what one does in a page."""

import os
import time

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tests.place import Visitor

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-backgrounding-occluded-windows"),
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--mute-audio"),
    "--renderer-process-limit=2",  # the pages of one person share their process: a new one costs a second of two cores
]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


class Browser:
    """One browser process; each person gets a context of their own."""

    def __init__(self) -> None:
        self.driver = sync_playwright().start()
        self.chromium = self.driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

    def close(self) -> None:
        self.chromium.close()
        self.driver.stop()

    def context(self, visitor: Visitor, **options: object) -> BrowserContext:
        """A browser window in which VISITOR is signed in. Parley's worker stays out, but where the test is about it."""
        context = self.chromium.new_context(**{"service_workers": "block"} | options)
        context.add_cookies(visitor.cookies())
        context.set_default_timeout(20_000)
        return context

    def page(self, visitor: Visitor, chat: str = "", **options: object) -> Page:
        """A page of VISITOR that shows CHAT ("" a new conversation) and follows it."""
        return opened(self.context(visitor, **options), visitor, chat)


def opened(context: BrowserContext, visitor: Visitor, chat: str = "") -> Page:
    """One more page of VISITOR, in a window that is there."""
    page = context.new_page()
    page.goto(f"{visitor.place.url}/conversations/{chat}" if chat else visitor.place.url)
    connected(page)
    return page


def connected(page: Page) -> None:
    """Wait until the page's socket is open. (The content policy forbids Playwright's own wait_for_function.)"""
    held(page, "document.querySelector('#main')?._htmx?.ws?.connection?.socket?.readyState === 1")


def held(page: Page, expression: str, patience: float = 20.0) -> object:
    """Wait until the JavaScript EXPRESSION is true in PAGE; its value."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if value := page.evaluate(expression):
            return value
        page.wait_for_timeout(20)
    raise AssertionError(f"not within {patience} s: {expression}")


def shown(page: Page) -> str:
    """What the list of items shows, as HTML."""
    return page.locator("#items").inner_html()


def fresh(page: Page) -> str:
    """The same on a freshly loaded page of the same person."""
    other = page.context.new_page()
    other.goto(page.url)
    html = shown(other)
    other.close()
    return html


def as_fresh(page: Page, patience: float = 5.0) -> bool:
    """Whether PAGE comes to show what a fresh load shows; its last frames may still be on the way."""
    deadline = time.monotonic() + patience
    while shown(page) != fresh(page):
        if time.monotonic() > deadline:
            assert shown(page) == fresh(page)
    return True
