"""The scroll law: whatever arrives, the first visible line of one who reads does not move."""

import itertools
import random
import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from models import Conversation
from tests.browser import Browser, held
from tests.place import Place, Visitor
from tests.scripted import DONE, Scripted, finish, text, usage
from tests.world import told

CODE = "```python\n" + "\n".join(f"row_{number} = water({number})" for number in range(60)) + "\n```"
TABLE = "| Bed | Litres |\n|---|---|\n" + "\n".join(f"| {number} | {number * 5} |" for number in range(30))
LONG = "\n\n".join(["A paragraph that goes over some lines on a screen of this width, as they do. " * 3] * 6)
ANSWERS = ("Yes.", CODE, LONG, TABLE, "- one\n- two\n\n> and three")
TURNS = 105

READS = """
  const scroller = document.getElementById("scroll"), items = document.getElementById("items");
  const edge = scroller.getBoundingClientRect().top;
  const line = [...items.querySelectorAll(".content > *, .user__text")].find((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > edge && bottom > top;
  });
  const was = line.getBoundingClientRect().top;
  const moved = () => Math.abs(line.getBoundingClientRect().top - was);
"""
# How far the line has moved at most in all frames that were painted, until the text has grown so many times.
WATCHES = """async ([times, deed]) => {
  READS
  const all = [];
  await new Promise((done) => {
    const sizes = new ResizeObserver(() => all.push(moved()) > times && (sizes.disconnect(), done()));
    sizes.observe(items);
    document.querySelector(deed)?.click();
  });
  return Math.max(...all);
}""".replace("READS", READS)

FOLD = """() => {
  const fold = document.createElement("details");
  fold.innerHTML = "<summary id=fold>Fold</summary>" + "<p>words</p>".repeat(9);
  document.querySelectorAll(".user__text")[2].append(fold);
}"""
LEFT = "(s => s.scrollHeight - s.scrollTop - s.clientHeight)(document.getElementById('scroll'))"


class Garden:
    """A long conversation in which an answer is written at 100 pieces a second until it is to end."""

    def __init__(self, folder) -> None:
        self.script, self.ending, self.closing = Scripted(), threading.Event(), threading.Event()
        self.script.always(lambda body: self.answer())
        self.place = Place(folder, self.script)
        self.ada: Visitor = self.place.visitor("Ada")
        self.chat = Conversation.begin(self.ada.person.id).id
        for number in range(TURNS):
            told(Conversation.get_by_id(self.chat), self.ada.person.id, f"Question {number}", ANSWERS[number % 5])

    def answer(self) -> Iterator:
        yield text("It begins.\n\n")
        for number in itertools.count():
            if self.ending.is_set():
                break
            yield text("\n\n" if number % 40 == 39 else f"word {number} ")
            yield 0.01
        yield text("\n\nIt ends.")
        self.closing.wait(20)
        yield from (finish(), usage(read=60_000), DONE)

    def begins(self, page: Page) -> None:
        self.ending.clear()
        self.closing.clear()
        self.ada.asks(self.chat, "And now?")
        held(page, "document.querySelector('#status').dataset.status === 'working' &&"
             " [...document.querySelectorAll('.answer')].at(-1).innerText.includes('word 9')")

    def ends(self) -> None:
        self.ending.set()
        self.closing.set()
        self.place.settled(self.chat)


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garden]:
    found = Garden(tmp_path_factory.mktemp("scroll"))
    yield found
    found.place.close()
    found.script.close()


@pytest.fixture
def page(garden: Garden, browser: Browser) -> Iterator[Page]:
    found = browser.page(garden.ada, garden.chat, viewport={"width": 900, "height": 600}, has_touch=True)
    garden.begins(found)
    yield found
    garden.ends()
    found.context.close()
    garden.ada.client.post(f"/conversations/{garden.chat}/draft", data={"text": ""})


def moved(page: Page, times: int = 3, deed: str = "#none") -> float:
    """How many pixels the first visible line moves while the text grows so many times; a part of one is rounding."""
    return page.evaluate(WATCHES, [times, deed])


@pytest.mark.parametrize("anchoring", ["auto", "none"], ids=["as in Chromium", "as in Safari, which keeps no line"])
def test_a_reader_anywhere_is_not_moved_while_an_answer_and_older_parts_come(page: Page, anchoring: str):
    page.evaluate("how => (document.getElementById('scroll').style.overflowAnchor = how)", anchoring)
    places, seen = random.Random(138), {}
    for number in range(50):
        goes = "at => { const s = document.getElementById('scroll'); s.scrollTop = at * (s.scrollHeight - 2000) }"
        page.evaluate(goes, 0 if number % 10 == 0 else places.random())
        seen[number] = moved(page, deed="#more" if number % 5 == 0 else "#none")
    assert {number: px for number, px in seen.items() if px >= 1} == {}
    assert page.locator("#more").count() == 0
    assert page.locator(".user__text", has_text=re.compile("^Question 0$")).count() == 1
    assert page.get_by_role("button", name="New below").is_visible()


def test_a_reader_is_not_moved_by_what_happens_around(garden: Garden, page: Page):
    """A fold elsewhere, messages that queue, a chosen text, a focus, and the end of the run."""
    page.evaluate("document.querySelectorAll('.item')[20].scrollIntoView()")
    assert moved(page) < 1
    page.evaluate("getSelection().selectAllChildren([...document.querySelectorAll('.answer p')].at(-6))")
    chosen = page.evaluate("String(getSelection())")
    assert moved(page) < 1 and chosen and page.evaluate("String(getSelection())") == chosen
    page.evaluate("document.querySelectorAll('.item')[22].focus({preventScroll: true})")
    assert moved(page) < 1 and page.evaluate("document.activeElement === document.querySelectorAll('.item')[22]")
    page.evaluate(FOLD)
    assert moved(page, deed="#fold") < 1
    for number in range(3):
        garden.ada.asks(garden.chat, f"Wait for it, {number}: {LONG}")
    page.get_by_text("Wait for it, 2").wait_for(state="attached")
    assert moved(page) < 1
    queued = page.locator(".user[data-state=queued]")
    queued.nth(1).evaluate("one => (one.scrollIntoView(), document.getElementById('scroll').scrollBy(0, 60))")
    assert moved(page, 9) < 1, "the answer grows above the messages that wait"
    page.evaluate("document.querySelectorAll('[data-action=unqueue]').forEach((button) => button.click())")
    held(page, "!document.querySelector('.user[data-state=queued]')")
    page.evaluate("document.querySelectorAll('.item')[20].scrollIntoView()")
    page.evaluate(f"() => {{ {READS}; window.moved = moved }}")
    garden.ends()
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    assert page.evaluate("moved()") < 1
    assert page.get_by_role("button", name="New below").is_visible()


WAYS = {
    "one notch of the wheel": lambda page: page.mouse.wheel(0, -100),
    "a finger's breadth on a trackpad": lambda page: page.mouse.wheel(0, -8),
    "PageUp": lambda page: page.keyboard.press("PageUp"),
    "Home": lambda page: page.keyboard.press("Home"),
    "the arrow": lambda page: page.keyboard.press("ArrowUp"),
    "a finger": lambda page: swiped(page, 64),
    "the bar": lambda page: dragged(page),
}


def swiped(page: Page, down: int) -> None:
    """A finger goes DOWN pixels over the text, and the page with it."""
    finger = page.context.new_cdp_session(page)
    for step in range(0, down + 1, 8):
        kind, at = "touchMove" if step else "touchStart", {"x": 450, "y": 300 + step}
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def dragged(page: Page) -> None:
    for _ in range(4):
        page.evaluate("document.getElementById('scroll').scrollTop -= 80")
        page.wait_for_timeout(30)


def test_every_way_up_stops_the_following_and_the_button_takes_it_up_again(garden: Garden, page: Page):
    page.locator("#scroll").hover()
    for way, deed in WAYS.items():
        assert moved(page, 5) > 0 or moved(page, 40) > 0, f"it is followed before {way}"
        page.evaluate("document.getElementById('scroll').focus()")
        deed(page)
        page.get_by_role("button", name="New below").wait_for()
        page.wait_for_timeout(300)  # a browser may scroll on softly
        assert moved(page, 5) < 1, way
        page.get_by_role("button", name="New below").click()
        held(page, f"{LEFT} < 1")


@pytest.mark.parametrize("width", [320, 1280])
def test_the_end_of_an_answer_moves_nothing_for_one_at_the_end(garden: Garden, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 600})
    garden.ending.set()
    page.get_by_text("It ends.").last.wait_for()
    held(page, f"innerWidth === {width} && {LEFT} < 1")
    page.evaluate(f"() => {{ {READS}; window.moved = moved }}")
    garden.ends()
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    page.locator(".answer").last.get_by_role("button", name="Again").wait_for()
    assert page.evaluate("moved()") < 1 and page.evaluate(LEFT) < 1
