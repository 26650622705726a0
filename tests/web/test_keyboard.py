"""Everything by keys alone: from the first message to every place, on one page after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Browser, connected
from tests.place import Place
from tests.scripted import END, Scripted, text

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    with Scripted() as scripted:
        yield scripted


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, script: Scripted) -> Iterator[Place]:
    place = Place(Path(tmp_path_factory.mktemp("keys")), script)
    yield place
    place.close()


@pytest.fixture
def page(place: Place, browser: Browser) -> Page:
    return browser.page(place.visitor())


def focused(page: Page) -> str:
    """The words of what has the focus."""
    return page.evaluate("document.activeElement.innerText.replace(/\\s+/g, ' ').trim()")


def in_box(page: Page) -> bool:
    return page.evaluate("document.activeElement.id") == "text"


def test_a_conversation_from_its_first_word_to_its_end(page: Page, script: Scripted, place: Place):
    keys, gate = page.keyboard, script.gate()
    script.plays(text("The **north** bed is dry."), *END)
    keys.type("How are the beds?")
    keys.press("Enter")
    page.get_by_text("The north bed is dry.").wait_for()
    connected(page)
    script.plays(text("And the south"), gate, text(" bed."), *END)
    keys.type("And?")
    keys.press("Enter")
    page.get_by_text("And the south").wait_for()
    keys.press("Escape")
    expect(page.locator("#status")).to_have_attribute("data-status", "stopped")
    gate.open()
    assert in_box(page), "the focus is not lost with the Stop button"
    keys.press("Escape")
    assert focused(page).startswith("Answer by")
    keys.press("k")
    assert focused(page).endswith("And?")
    for _ in range(2):
        keys.press("k")
    assert focused(page).endswith("How are the beds?")
    keys.press("j")
    assert "The north bed is dry." in focused(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=place.url)
    keys.press("c")
    expect(page.locator("#told")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "The **north** bed is dry."
    script.plays(text("It rained meanwhile."), *END)
    keys.press("r")
    page.get_by_text("It rained meanwhile.").wait_for()
    keys.press("w")
    assert in_box(page)
    keys.press("j")
    assert page.get_by_label("Your message").input_value() == "j", "in the box a letter is a letter"


def test_a_message_is_worded_anew_by_keys(page: Page, script: Scripted):
    keys = page.keyboard
    script.plays(text("One."), *END)
    keys.type("Furst")
    keys.press("Enter")
    page.get_by_text("One.", exact=True).wait_for()
    connected(page)
    expect(page.locator("#status")).to_have_attribute("data-status", "idle")
    keys.press("Escape")
    keys.press("e")
    box = page.get_by_label("Your message")
    expect(box).to_have_value("Furst")
    box.press("ControlOrMeta+a")
    script.plays(text("Two."), *END)
    keys.type("First")
    keys.press("Enter")
    page.get_by_text("Two.", exact=True).wait_for()


def test_every_place_has_its_letters(page: Page, place: Place):
    places = {"a": "Assistants", "p": "Preferences", "i": "signed in", "h": "Start", "r": "Archived", "d": "Deleted"}
    for letter, words in places.items():
        page.goto(place.url)
        connected(page)
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(lambda url: url.rstrip("/") != place.url)
        assert words.lower() in page.title().lower() + page.locator("h1").first.inner_text().lower()
    page.keyboard.press("/")
    page.wait_for_url("**/search")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.press("Tab")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    page.keyboard.press("n")
    page.get_by_label("Your message").wait_for()


def test_the_palette_keeps_the_letters_of_somebody_who_types_fast(page: Page):
    typed = page.evaluate("""() => {
        document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true, cancelable: true}))
        const box = document.getElementById('palette-typed')
        box.value = 'zz'
        box.dispatchEvent(new Event('input', {bubbles: true}))
        return new Promise(done => setTimeout(() => done(document.getElementById('palette').open && box.value), 200))
    }""")
    assert typed == "zz"
    page.keyboard.press("Escape")


def test_the_palette_does_what_is_typed(page: Page, script: Scripted):
    keys = page.keyboard
    script.plays(text("Yes."), *END)
    script.title = "The rain in May"
    keys.type("Will it rain?")
    keys.press("Enter")
    page.locator("h1", has_text="The rain in May").wait_for()
    expect(page.locator("#status")).to_have_attribute("data-status", "idle")
    palette = page.get_by_role("dialog", name="Everything one can do")
    keys.press("ControlOrMeta+k")
    palette.wait_for()
    assert palette.get_by_role("button", name="Stop the answer").is_hidden(), "there is nothing to stop"
    keys.type("list of k")
    keys.press("Enter")
    page.get_by_role("dialog", name="Keys").wait_for()
    keys.press("Escape")
    keys.press("ControlOrMeta+k")
    keys.type("zzzz")
    palette.get_by_text("Nothing here is called that.").wait_for()
    for _ in "zzzz":
        keys.press("Backspace")
    keys.type("rain in")
    palette.get_by_role("link", name="The rain in May").first.wait_for()
    expect(palette.get_by_role("link", name="Archived")).to_be_hidden()
    keys.press("ArrowDown")
    assert focused(page) == "The rain in May"
    keys.press("Escape")
    expect(palette).to_be_hidden()
    assert in_box(page), "the focus comes back"
    keys.press("Escape")
    keys.press("m")
    page.get_by_role("dialog", name="What to do with this conversation").wait_for()
    keys.press("Escape")
    keys.press("l")
    assert focused(page).startswith("The rain in May")
    keys.press("f")
    page.get_by_role("searchbox").first.wait_for()


def test_the_keys_of_the_browser_stay_its_own(page: Page):
    page.evaluate(
        """() => {
            window.taken = [];
            addEventListener("keydown", (event) => event.defaultPrevented && taken.push(event.key));
        }"""
    )
    page.keyboard.press("Escape")
    for letter in "abcdefghijlmopqrsuvxyz0123456789":
        page.evaluate(
            """letter => {
                for (const held of [{ctrlKey: true}, {metaKey: true}, {ctrlKey: true, shiftKey: true}, {altKey: true}])
                    document.body.dispatchEvent(new KeyboardEvent("keydown",
                        {key: letter, code: "Key" + letter.toUpperCase(), bubbles: true, cancelable: true, ...held}));
            }""",
            letter,
        )
    assert page.evaluate("taken") == []
    assert page.url.rstrip("/").endswith(str(page.url.split(":")[-1]).rstrip("/"))
    assert page.locator("dialog[open]").count() == 0


def test_who_turns_letters_off_or_writes_another_alphabet_is_understood(page: Page, place: Place):
    press = """code => document.body.dispatchEvent(new KeyboardEvent("keydown",
        {key: "\\u0442", code, bubbles: true, cancelable: true}))"""
    page.evaluate("document.activeElement.blur()")
    assert page.evaluate(press, "KeyW") is False, "the place of the key counts"
    assert in_box(page)
    page.goto(f"{place.url}/preferences")
    page.get_by_label("Off").check()
    page.get_by_role("status").get_by_text("Saved.").wait_for()
    page.goto(place.url)
    connected(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("w")
    assert not in_box(page)
    page.keyboard.press("ControlOrMeta+k")
    page.get_by_role("dialog", name="Everything one can do").wait_for()


def test_the_list_over_a_small_page_keeps_what_is_behind_out_of_reach(place: Place, browser: Browser):
    page = browser.page(place.visitor(), viewport={"width": 360, "height": 640})
    opener = page.locator(".head [data-menu]")
    opener.focus()
    page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true" and page.evaluate("document.querySelector('#main').inert")
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate("!document.activeElement.closest('#main')")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.head [data-menu]')"), "the focus is where it was"
    assert not page.evaluate("document.querySelector('#main').inert")
