"""The message box: keys, words that are being composed, and drafts that follow the person from page to page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from models import Draft
from tests.browser import Browser, held, opened
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, last_user, text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One server for all of these; the model repeats what it is told, in many pieces when it is asked for many."""
    script = Scripted()
    script.always(lambda body: [*answered(last_user(body)), *END])
    found = Place(tmp_path_factory.mktemp("composer"), script)
    yield found
    found.close()
    script.close()


def answered(said: str) -> list:
    if said.startswith("Many"):
        return [part for number in range(150) for part in (text(f"word {number} "), 0.02)]
    return [text(f"You said: {said}")]


@pytest.fixture(scope="module")
def ada(place: Place) -> Visitor:
    return place.visitor("Ada")


@pytest.fixture
def garden(place: Place, ada: Visitor) -> str:
    chat = ada.begins("Hello")
    place.settled(chat)
    return chat


@pytest.fixture
def page(browser: Browser, ada: Visitor, garden: str) -> Iterator[Page]:
    found = browser.page(ada, garden)
    yield found
    found.context.close()


def box(page: Page) -> str:
    return page.get_by_label("Your message").input_value()


def asked(place: Place, chat: str) -> list[str]:
    return [item.text for item in place.items(chat) if item.kind == "user"][1:]


def drafted(place: Place, ada: Visitor, chat: str, words: str) -> None:
    place.until(lambda: Draft.of(chat, ada.person.id).text == words, f"the draft is {words!r}")


# Keys


def test_enter_sends_and_shift_enter_breaks_the_line_or_the_other_way_round(place: Place, garden: str, page: Page):
    page.get_by_label("Your message").press_sequentially("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    assert box(page) == "One\ntwo"
    page.keyboard.press("Enter")
    place.until(lambda: asked(place, garden) == ["One\ntwo"])
    held(page, "!document.getElementById('text').value")
    page.evaluate("document.documentElement.dataset.enter = 'break'")
    page.keyboard.type("Three")
    page.keyboard.press("Enter")
    page.keyboard.type("four")
    assert box(page) == "Three\nfour"
    page.keyboard.press("Shift+Enter")
    place.until(lambda: asked(place, garden)[1:] == ["Three\nfour"])
    held(page, "!document.getElementById('text').value")
    page.keyboard.type("Five")
    page.keyboard.press("Control+Enter")
    place.until(lambda: asked(place, garden)[2:] == ["Five"])


COMPOSED = {
    "in composition": "down({ isComposing: true })",
    "as keyCode 229": "down({ keyCode: 229 })",
    "Safari: the end comes before the key": "box.dispatchEvent(new CompositionEvent('compositionstart'));"
    "box.dispatchEvent(new CompositionEvent('compositionend')); down({})",
    "Safari: with keyCode 229 a moment later": "box.dispatchEvent(new CompositionEvent('compositionstart'));"
    "box.dispatchEvent(new CompositionEvent('compositionend')); setTimeout(() => down({ keyCode: 229 }), 30)",
}
DOWN = """async () => {
  const box = document.getElementById("text");
  const enter = { key: "Enter", bubbles: true, cancelable: true };
  const down = (more) => box.dispatchEvent(new KeyboardEvent("keydown", { ...enter, ...more }));
  DEED;
  await new Promise((done) => setTimeout(done, 60));
}"""


@pytest.mark.parametrize("how", COMPOSED)
def test_an_enter_that_confirms_a_word_sends_nothing_and_the_next_one_sends(
    place: Place, garden: str, page: Page, how: str
):
    page.get_by_label("Your message").fill("日本")
    page.evaluate(DOWN.replace("DEED", COMPOSED[how]))
    assert box(page) == "日本" and page.locator("#sending").inner_text() == ""
    assert asked(place, garden) == []
    page.keyboard.press("Enter")
    place.until(lambda: asked(place, garden) == ["日本"])


def test_what_arrives_never_touches_what_is_being_typed(place: Place, ada: Visitor, garden: str, page: Page):
    page.evaluate("document.getElementById('text').mark = 1; document.getElementById('composer').mark = 1")
    page.get_by_label("Your message").fill("first last")
    page.evaluate("document.getElementById('text').setSelectionRange(6, 6)")
    ada.asks(garden, "Many")
    page.get_by_text("word 5 ").wait_for()
    page.keyboard.type("and before the ", delay=25)
    assert place.status(garden) == "working", "it was still arriving"
    assert box(page) == "first and before the last"
    assert page.evaluate("[document.activeElement.mark, document.activeElement.selectionStart]") == [1, 21]
    place.settled(garden)
    assert page.evaluate("document.getElementById('composer').mark") == 1
    page.keyboard.press("Enter")
    place.until(lambda: asked(place, garden) == ["Many", "first and before the last"])
    place.settled(garden)


def test_after_a_thousand_swaps_every_button_still_works(place: Place, garden: str, page: Page):
    page.evaluate("""async () => {
      const item = document.querySelector(".answer"), main = document.getElementById("main");
      for (let n = 0; n < 1000; n++) await htmx.swap({ sourceElement: main, target: main, swap: "none",
        text: `<hx-partial hx-target="#${item.id}" hx-swap="outerMorph">${item.outerHTML}</hx-partial>` });
    }""")
    page.get_by_role("button", name="Again").click()
    place.until(lambda: len(place.items(garden)) > 2 and not place.settled(garden))
    page.locator(".versions").get_by_text("2/2").wait_for()
    page.get_by_role("button", name="Earlier version").click()
    page.locator(".versions").get_by_text("1/2").wait_for()


# Drafts


def test_a_draft_comes_to_the_other_device_and_the_newest_wins_with_undo(
    place: Place, ada: Visitor, garden: str, page: Page, browser: Browser
):
    phone = opened(browser.context(ada), ada, garden)
    page.get_by_label("Your message").press_sequentially("Buy seeds")
    held(phone, "document.getElementById('text').value === 'Buy seeds'")
    assert not phone.get_by_text("Bring back the other text").is_visible()

    phone.get_by_label("Your message").fill("Buy seeds and straw")
    held(page, "document.getElementById('text').value === 'Buy seeds and straw'")
    assert not page.get_by_text("Bring back the other text").is_visible(), "nothing of it is lost"

    page.get_by_label("Your message").fill("Something else")
    held(phone, "document.getElementById('text').value === 'Something else'")
    phone.get_by_role("button", name="Bring back the other text").click()
    assert box(phone) == "Buy seeds and straw"
    held(page, "document.getElementById('text').value === 'Buy seeds and straw'")
    page.get_by_role("button", name="Bring back the other text").click()
    assert box(page) == "Something else"
    held(phone, "document.getElementById('text').value === 'Something else'")

    phone.get_by_label("Your message").press("Enter")
    held(page, "document.getElementById('text').value === ''")
    held(phone, "document.getElementById('text').value === ''")
    assert not page.get_by_text("Bring back the other text").is_visible()
    assert asked(place, garden) == ["Something else"]
    assert Draft.of(garden, ada.person.id).text == ""
    phone.context.close()


def test_typing_at_the_same_time_on_two_devices_loses_neither_text(
    place: Place, ada: Visitor, garden: str, page: Page, browser: Browser
):
    phone = opened(browser.context(ada), ada, garden)
    page.get_by_label("Your message").fill("From the desk")
    phone.get_by_label("Your message").fill("From the phone")
    place.until(lambda: box(page) == box(phone) and box(page) == Draft.of(garden, ada.person.id).text)
    kept = box(page)
    offering = next(p for p in (page, phone) if p.get_by_text("Bring back the other text").is_visible())
    offering.get_by_role("button", name="Bring back the other text").click()
    assert {kept, box(offering)} == {"From the desk", "From the phone"}
    phone.context.close()


def test_a_draft_is_kept_for_each_conversation_and_person(
    place: Place, ada: Visitor, garden: str, page: Page, browser: Browser
):
    ben = place.visitor("Ben")
    place.joins(garden, ben)
    bens = browser.page(ben, garden)
    page.get_by_label("Your message").fill("Only mine")
    drafted(place, ada, garden, "Only mine")
    ada.asks(garden, "Something that everybody sees")
    bens.get_by_text("You said: Something").wait_for()
    assert box(bens) == "" and "Only mine" not in bens.content() and "Only mine" not in ben.sees(garden)
    page.get_by_role("link", name="New conversation").click()
    assert box(page) == ""
    page.get_by_label("Your message").fill("A new one")
    drafted(place, ada, "", "A new one")
    page.goto(f"{place.url}/conversations/{garden}")
    assert box(page) == "Only mine"
    page.goto(place.url)
    assert box(page) == "A new one"
    ada.client.post("/draft", data={"text": ""})
    bens.context.close()


def test_a_draft_that_is_saved_after_its_message_was_sent_does_not_come_back(place: Place, ada: Visitor, garden: str):
    def keeps(words: str, client_id: str) -> str:
        form = {"text": words, "client_id": client_id}
        assert ada.client.post(f"/conversations/{garden}/draft", data=form).status_code == 303
        return Draft.of(garden, ada.person.id).text

    assert keeps("Water the roses", "one") == "Water the roses"
    ada.asks(garden, "Water the roses now", client_id="one")
    assert Draft.of(garden, ada.person.id).text == ""
    assert keeps("Water the roses", "one") == "", "the late draft of a sent message"
    assert keeps("And the next one", "two") == "And the next one"
    ada.asks(garden, "Sent from another device", client_id="three")
    assert Draft.of(garden, ada.person.id).text == "And the next one", "a draft that was not sent stays"
    ada.asks(garden, "And the next one")
    assert Draft.of(garden, ada.person.id).text == "", "a plain form that says the same"
    place.settled(garden)
