"""Who listens to the page or moves over it by keys: what is told, what has a name, and that the focus stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Browser, held
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text, thought

# Whatever a live part of the page says from now on; one that is told off says nothing.
HEARS = """() => {
  const told = "[aria-live], [role=status], [role=alert], [role=log]";
  window.heard = [];
  new MutationObserver((changes) => changes.forEach(({ target }) => {
    const live = (target.nodeType === 1 ? target : target.parentElement)?.closest(told);
    const words = live?.innerText.trim();
    const speaks = words && live.checkVisibility() && live.getAttribute("aria-live") !== "off";
    if (speaks && heard.at(-1) !== words) heard.push(words);
  })).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""
CONTROLS = {"button", "link", "textbox", "searchbox", "checkbox", "combobox", "radio", "DisclosureTriangle", "menuitem"}


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    with Scripted() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, script: Scripted) -> Iterator[Place]:
    place = Place(Path(tmp_path_factory.mktemp("listening")), script)
    yield place
    place.close()


@pytest.fixture(scope="module")
def ada(place: Place) -> Visitor:
    return place.visitor("Ada")


def tree(page: Page) -> list[dict]:
    """What a screen reader sees: role, name and properties of each part, in order."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", "").strip(),
            **{one["name"]: one["value"].get("value") for one in node.get("properties", [])},
        }
        for node in nodes
        if not node["ignored"]
    ]


def test_an_answer_is_told_when_it_begins_and_when_it_is_ready_and_never_word_by_word(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    words = [text(f"word {number} ") for number in range(40)]
    gates = [script.gate() for _ in range(2)]
    script.says("Yes.").plays(
        *(gates[0], thought("Hm."), text("# First\n\n")),
        *(part for word in words for part in (word, 0.01)),
        *(text("\n\n### Second\n\n[a link](https://a.test)"), gates[1], *END),
    )
    garden = ada.begins("Hello")
    place.settled(garden)
    page = browser.page(ada, garden)
    page.evaluate(HEARS)
    page.get_by_label("Your message").fill("And now?")
    page.keyboard.press("Enter")
    expect(page.locator("#told")).to_have_text("Answering")
    gates[0].open()
    page.get_by_role("link", name="a link").wait_for()
    assert page.evaluate("heard.filter((words) => words !== 'Sending…')") == ["Answering"], "no word of it is told"

    seen = tree(page)
    log = next(part for part in seen if part["role"] == "log")
    assert log["name"] == "Conversation" and log.get("live", "off") == "off"
    told = [part["live"] for part in seen if part["role"] == "status" and part.get("live")]
    assert told and set(told) == {"polite"}
    assert [(p["role"], p) for p in seen if p["role"] in CONTROLS and not p["name"]] == [], "every control has a name"
    levels = [part["level"] for part in seen if part["role"] == "heading"]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    assert levels.count(1) == 1 and 3 in levels

    gates[1].open()
    expect(page.locator("#told")).to_have_text("Answer ready")
    assert page.evaluate("heard.filter((words) => words !== 'Sending…')") == ["Answering", "Answer ready"]
    page.context.close()


PLACES = {
    "Again": ".answer [data-action=again]",
    "a fold": ".reasoning summary",
    "a link in an answer": ".answer .content a",
    "a row of the list": ".row__link",
    "Edit": ".user [data-action=edit]",
    "code that scrolls": ".answer pre",
}


def test_the_focus_stays_where_it_is_whatever_arrives(place: Place, script: Scripted, browser: Browser, ada: Visitor):
    script.says("See [there](https://a.test).\n\n```py\nx = 1\n```", thinks="Hm.")
    garden = ada.begins("Hello")
    place.settled(garden)
    page = browser.page(ada, garden)
    for name, part in PLACES.items():
        gate = script.gate()
        script.plays(thought("Well."), text("Here it "), gate, text("**comes**: [x](https://b.test)"), *END)
        spot = page.locator(part).first
        spot.focus()
        spot.evaluate("spot => (spot.mark = true)")
        ada.asks(garden, f"And with the focus on {name}?")
        page.get_by_text("Here it").last.wait_for()
        assert page.evaluate("document.activeElement.mark"), name
        gate.open()
        place.settled(garden)
        held(page, "document.querySelector('#status').dataset.status === 'idle'")
        assert page.evaluate("document.activeElement.mark"), name
        spot.evaluate("spot => spot.blur()")
    page.context.close()


def test_what_one_may_do_is_in_sight_where_nothing_hovers(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    script.says("One.").says("Two.")
    garden = ada.begins("Hello")
    place.settled(garden)
    ada.asks(garden, "And now?")
    place.settled(garden)
    page = browser.page(ada, garden, viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    seen = "one => { let o = 1; for (; one; one = one.parentElement) o *= getComputedStyle(one).opacity; return o }"
    deeds = page.locator("#items :is([data-action=copy], [data-action=again], [data-action=edit])")
    assert deeds.count() == 8
    for deed in deeds.all():
        box = deed.bounding_box()
        assert deed.evaluate(seen) == 1 and box["height"] >= 44 and box["width"] >= 44
    page.locator(".head [data-menu]").tap()
    row = page.locator(".row .dots").first
    assert row.evaluate(seen) == 1 and row.bounding_box()["width"] >= 44
    page.context.close()
