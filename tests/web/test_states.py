"""axe finds nothing, in no state that a page can be in: wide by day, small by night."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from database import database
from models import Conversation, Item
from tests.browser import Browser, connected
from tests.place import Place, Visitor
from tests.scripted import HANG, Scripted, text, thought
from tests.web.test_look import ALL_KINDS

SIZES = {"light": (1280, 800), "dark": (320, 640)}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Scripted() as script:
        script.says(ALL_KINDS, thinks="Briefly.").says("Another wording.").refuses(401, "Incorrect API key")
        script.always(lambda body: [thought("Let me see."), text("Half of "), HANG])
        found = Place(Path(tmp_path_factory.mktemp("states")), script)
        yield found
        found.close()


@pytest.fixture(scope="module")
def ada(place: Place) -> Visitor:
    return place.visitor("Ada")


@pytest.fixture(scope="module")
def garden(place: Place, ada: Visitor) -> str:
    """A conversation with every kind of item, one of two wordings, and a long message."""
    chat = ada.begins("Tell me about the tides\n" * 60)
    for deed in (lambda: None, lambda: ada.again(chat), lambda: ada.asks(chat, "And the Moon?")):
        deed()
        place.settled(chat)
    wish = place.items(chat)[-1].run
    call = {"name": "water", "input": '{"bed": "north"}', "output": "watered", "state": "done", "done": 1}
    database.run(lambda: Conversation.get_by_id(chat).add(Item.get_by_id(wish), "call", **call))
    return chat


@pytest.fixture(scope="module")
def page(browser: Browser, ada: Visitor) -> Iterator[Page]:
    context = browser.context(ada, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def pressed(key: str, shown: str):
    def deed(page: Page) -> None:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(key)
        page.locator(shown).wait_for()

    return deed


def clicked(part: str, shown: str):
    def deed(page: Page) -> None:
        page.locator(part).filter(visible=True).first.click()
        page.locator(shown).filter(visible=True).first.wait_for()

    return deed


def attached(page: Page) -> None:
    names = ("notes.txt", "a-name-that-is-longer-than-a-small-screen-is-wide.md")
    files = [{"name": name, "mimeType": "text/plain", "buffer": b"Water the roses. "} for name in names]
    page.locator("input[type=file]").first.set_input_files(files)
    page.locator("#attached .file").nth(1).wait_for()
    page.get_by_label("Your message").fill("With two files")


def folded_out(page: Page) -> None:
    page.evaluate("document.querySelectorAll('#items details').forEach((fold) => (fold.open = true))")
    page.evaluate("document.querySelectorAll('.user__all').forEach((all) => (all.checked = true))")


def answering(page: Page) -> None:
    page.get_by_label("Your message").fill("Go on")
    page.keyboard.press("Enter")
    page.get_by_text("Half of").first.wait_for()
    page.get_by_label("Your message").fill("And then?")
    page.keyboard.press("Enter")
    page.locator(".user[data-state=queued]").first.wait_for()


def cut_off(page: Page) -> None:
    page.evaluate("document.getElementById('offline').hidden = false")


STATES = {
    "every kind of item": ("conversations/{garden}", folded_out),
    "a find bar without words": ("conversations/{garden}?find=", lambda page: page.locator("#find").wait_for()),
    "a find bar with hits": ("conversations/{garden}?find=moon", lambda page: page.locator(".find__count").wait_for()),
    "the palette": ("conversations/{garden}", pressed("Control+k", "dialog#palette[open]")),
    "the keys": ("conversations/{garden}", pressed("?", "dialog#keys[open]")),
    "the menu of a conversation": ("conversations/{garden}", clicked(".head .dots", "#menu button")),
    "the directions": ("conversations/{garden}", clicked("[data-action=direction]", ".menu__panel")),
    "files that wait": ("conversations/{garden}", attached),
    "editing": ("conversations/{garden}", clicked("[data-action=edit]", "#editing")),
    "a search with hits": ("search?q=tides", lambda page: page.locator(".hit").first.wait_for()),
    "a search without": ("search?q=nothing-of-it", lambda page: page.locator(".results__empty").wait_for()),
    "the archive": ("archived", lambda page: None),
    "the deleted": ("deleted", lambda page: None),
    "no such page": ("conversations/none", lambda page: None),
    "an answer and a queue": ("conversations/{garden}", answering),
    "a lost connection": ("conversations/{garden}", cut_off),
}


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_out_of_reach(place: Place, garden: str, page: Page, state: str):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    path, deed = STATES[state]
    for scheme, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{place.url}/{path.format(garden=garden)}")
        if "{garden}" in path:
            connected(page)
        deed(page)
        found = axe.run(page).response
        assert any(rule["id"] == "color-contrast" for rule in found["passes"]), "the rule was tried"
        faults = [(rule["id"], [n["html"] for n in rule["nodes"]]) for rule in found["violations"]]
        assert faults == [], scheme
        assert page.evaluate("document.documentElement.scrollWidth") == width
