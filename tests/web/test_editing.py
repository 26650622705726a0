"""One's own messages: worded anew in place or on a branch, taken back, and the draft that was there meanwhile."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from models import Conversation, Draft, Item
from tests.browser import Browser, as_fresh, held
from tests.place import Place, Visitor
from tests.scripted import END, HANG, Gate, Scripted, last_user, text


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    with Scripted() as found:
        yield found.always(lambda body: [text(f"You said: {last_user(body)}"), *END])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, script: Scripted) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("editing"), script)
    yield found
    found.close()


@pytest.fixture(scope="module")
def ada(place: Place) -> Visitor:
    return place.visitor("Ada")


@pytest.fixture
def garden(place: Place, ada: Visitor) -> str:
    return begun(place, ada, "Hello")


@pytest.fixture
def page(browser: Browser, ada: Visitor, garden: str) -> Iterator[Page]:
    found = browser.page(ada, garden)
    yield found
    found.context.close()


def begun(place: Place, ada: Visitor, *words: str) -> str:
    chat = ada.begins(words[0])
    place.settled(chat)
    for more in words[1:]:
        ada.asks(chat, more)
        place.settled(chat)
    return chat


def said(place: Place, chat: str) -> list[str]:
    return [item.text for item in place.items(chat) if item.kind in ("user", "text")]


def message(place: Place, chat: str, words: str) -> Item:
    return next(item for item in place.items(chat) if item.kind == "user" and item.text == words)


def edits(ada: Visitor, chat: str, item: Item, words: str, **form: str) -> int:
    return ada.asks(chat, words, edits=item.id, **form).status_code


def busy(place: Place, script: Scripted, ada: Visitor, chat: str, *waiting: str) -> Gate:
    """An answer that waits at a gate, and messages that wait for it."""
    gate = script.gate()
    script.plays(text("Well "), gate, text("then."), *END)
    ada.asks(chat, "Busy?")
    assert gate.reached.wait(20)
    for words in waiting:
        ada.asks(chat, words)
    return gate


# An answered message


def test_an_answered_message_in_other_words_is_a_branch_and_both_are_kept(place: Place, script: Scripted, ada: Visitor):
    garden = begun(place, ada, "One", "Two", "Three")
    before = said(place, garden)
    assert edits(ada, garden, message(place, garden, "Two"), "Two again") == 303
    place.settled(garden)
    assert said(place, garden) == ["One", "You said: One", "Two again", "You said: Two again"]
    asked = [m["content"] for m in script.requests[-1].body["messages"] if m["role"] != "system"]
    assert asked == ["One", "You said: One", "Two again"], "what is seen is what is sent"

    new = message(place, garden, "Two again")
    old, there = new.wordings()
    assert ada.client.post(f"/conversations/{garden}/branch", data={"item": new.id, "branch": old}).status_code == 303
    assert said(place, garden) == before
    two = message(place, garden, "Two")
    ada.client.post(f"/conversations/{garden}/branch", data={"item": two.id, "branch": there})
    assert said(place, garden)[2:] == ["Two again", "You said: Two again"]


def test_the_first_message_can_be_worded_anew_and_its_answer_asked_for_again(place: Place, ada: Visitor):
    garden = begun(place, ada, "One", "Two")
    one = message(place, garden, "One")
    edits(ada, garden, one, "First")
    place.settled(garden)
    assert said(place, garden) == ["First", "You said: First"]
    ada.again(garden)
    place.settled(garden)
    first = message(place, garden, "First")
    assert (len(first.wordings()), len(first.versions())) == (2, 2)
    edits(ada, garden, first, "Foremost")
    place.settled(garden)
    assert said(place, garden) == ["Foremost", "You said: Foremost"]
    foremost = message(place, garden, "Foremost")
    assert (len(foremost.wordings()), foremost.versions()) == (3, [])
    assert len(one.wordings()) == 3 and one.versions() == []
    page = ada.sees(garden)
    assert "3/3" in page and "Versions of the message" in page and "Versions of the answer" not in page
    ada.client.post(f"/conversations/{garden}/branch", data={"item": foremost.id, "branch": first.branch})
    page = ada.sees(garden)
    assert "2/3" in page and "2/2" in page, "the newest answer to the second wording"


def test_the_same_edit_twice_is_one(place: Place, ada: Visitor, garden: str):
    hello = message(place, garden, "Hello")
    for _ in range(3):
        assert edits(ada, garden, hello, "Good day", client_id="edit-once") == 303
    place.settled(garden)
    assert len(hello.wordings()) == 2


def test_other_words_for_a_message_that_is_being_answered_stop_that_answer(
    place: Place, script: Scripted, ada: Visitor
):
    script.plays(text("Half an ans"), HANG)
    garden = ada.begins("Hello")
    place.until(lambda: "Half" in said(place, garden)[-1])
    edits(ada, garden, message(place, garden, "Hello"), "Good day")
    place.until(lambda: said(place, garden) == ["Good day", "You said: Good day"])
    place.settled(garden)


def test_a_restart_between_an_edit_and_its_answer_opens_no_second_branch(place: Place, script: Scripted, ada: Visitor):
    garden = begun(place, ada, "One", "Two")
    script.plays(text("Half"), HANG)
    two = message(place, garden, "Two")
    edits(ada, garden, two, "Two again")
    place.until(lambda: said(place, garden)[-1] == "Half")
    place.kill()
    place.start()
    place.settled(garden)
    assert len(two.wordings()) == 2
    assert said(place, garden) == ["One", "You said: One", "Two again", "You said: Two again"]


def test_only_ones_own_messages_can_be_changed(place: Place, script: Scripted, ada: Visitor, garden: str):
    ben = place.visitor("Ben")
    place.joins(garden, ben)
    hello = message(place, garden, "Hello")
    answer = ben.asks(garden, "Goodbye", edits=hello.id)
    assert answer.status_code == 409 and "who wrote this message" in answer.text
    text_item = next(item for item in place.items(garden) if item.kind == "text")
    assert edits(ada, garden, text_item, "I never said so") == 409
    gate = busy(place, script, ada, garden, "Mine")
    mine = Conversation.get_by_id(garden).queue()[0]
    assert ben.client.post(f"/conversations/{garden}/unqueue", data={"item": mine.id}).status_code == 409
    assert ben.asks(garden, "His", edits=mine.id, queued="1").status_code == 409
    gate.open()
    place.settled(garden)
    assert said(place, garden)[-2:] == ["Mine", "You said: Mine"]


# A message that waits


def test_a_message_that_waits_is_worded_anew_in_place(place: Place, script: Scripted, ada: Visitor, garden: str):
    gate = busy(place, script, ada, garden, "First", "Second")
    first = Conversation.get_by_id(garden).queue()[0]
    assert edits(ada, garden, first, "First of all", queued="1") == 303
    gate.open()
    place.settled(garden)
    assert said(place, garden)[-4:] == ["First of all", "You said: First of all", "Second", "You said: Second"]
    answer = ada.asks(garden, "Too late", edits=first.id, queued="1")
    assert answer.status_code == 409 and "has begun" in answer.text and "Too late" in answer.text
    late = ada.client.post(f"/conversations/{garden}/unqueue", data={"item": first.id})
    assert late.status_code == 409 and "has begun" in late.text


def test_a_message_that_waits_is_taken_back_and_the_next_one_goes(
    place: Place, script: Scripted, ada: Visitor, garden: str
):
    gate = busy(place, script, ada, garden, "First", "Second")
    first = Conversation.get_by_id(garden).queue()[0]
    assert ada.client.post(f"/conversations/{garden}/unqueue", data={"item": first.id}).status_code == 303
    gate.open()
    place.settled(garden)
    assert said(place, garden)[-3:] == ["Well then.", "Second", "You said: Second"]


# In the page


def test_up_in_the_empty_box_edits_the_last_message_and_the_versions_show_both(place: Place, garden: str, page: Page):
    box = page.get_by_label("Your message")
    box.press("ArrowUp")
    assert box.input_value() == "Hello" and page.get_by_text("Editing your message").is_visible()
    page.keyboard.press("Escape")
    assert box.input_value() == "" and not page.get_by_text("Editing your message").is_visible()
    box.fill("not empty")
    box.press("ArrowUp")
    assert box.input_value() == "not empty"
    page.locator(".user").hover()
    page.get_by_role("link", name="Edit this message").click()
    assert box.input_value() == "Hello"
    box.press_sequentially(" there")
    page.keyboard.press("Enter")
    page.get_by_text("You said: Hello there").wait_for()
    assert box.input_value() == "not empty", "the draft that was there"
    page.get_by_text("2/2").wait_for()
    place.settled(garden)
    assert as_fresh(page)
    page.get_by_role("button", name="Earlier version").click()
    page.get_by_text("You said: Hello", exact=True).wait_for()
    page.get_by_text("1/2").wait_for()
    assert as_fresh(page)


def test_an_edit_never_touches_the_draft(place: Place, ada: Visitor, garden: str, page: Page):
    box = page.get_by_label("Your message")
    box.fill("Half a thought")
    place.until(lambda: Draft.of(garden, ada.person.id).text == "Half a thought")
    page.locator(".user").hover()
    page.get_by_role("link", name="Edit this message").click()
    box.fill("Something that is no draft")
    ada.client.post(f"/conversations/{garden}/draft", data={"text": "From the phone", "client_id": "phone"})
    held(page, "document.getElementById('draft').textContent === 'From the phone'")
    assert box.input_value() == "Something that is no draft"
    page.keyboard.press("Escape")
    assert box.input_value() == "From the phone"
    assert Draft.of(garden, ada.person.id).text == "From the phone"
    page.get_by_role("button", name="Bring back the other text").click()
    assert box.input_value() == "Half a thought"


def test_a_queued_message_is_edited_and_removed_from_the_page(
    place: Place, script: Scripted, ada: Visitor, garden: str, page: Page
):
    gate = busy(place, script, ada, garden, "First", "Second")
    box = page.get_by_label("Your message")
    page.locator(".user[data-state=queued]").nth(1).wait_for()
    box.press("ArrowUp")
    assert box.input_value() == "Second"
    box.fill("Second, really")
    page.keyboard.press("Enter")
    page.locator(".user[data-state=queued]").get_by_text("Second, really").wait_for()
    page.get_by_role("button", name="Remove").first.click()
    held(page, "document.getElementById('text').value === 'First'")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Bring back the other text").click()
    assert box.input_value() == "Second, really"
    box.fill("")
    ada.asks(garden, "Third")
    page.locator(".user[data-state=queued]").get_by_text("Third").wait_for()
    box.press("ArrowUp")
    box.fill("Third, too late")
    gate.open()
    place.settled(garden)
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("has begun meanwhile").wait_for()
    assert box.input_value() == "Third, too late"
    page.keyboard.press("Enter")
    page.get_by_text("You said: Third, too late").wait_for()
    place.settled(garden)
    assert said(place, garden)[-2:] == ["Third, too late", "You said: Third, too late"]


def test_without_scripts_a_message_is_edited_as_a_plain_form(place: Place, ada: Visitor, garden: str, browser: Browser):
    context = browser.context(ada, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{place.url}/conversations/{garden}")
    page.get_by_role("link", name="Edit this message").click()
    assert page.get_by_text("Editing your message").is_visible()
    page.get_by_label("Your message").fill("Good day")
    page.get_by_role("button", name="Send").click()
    place.settled(garden)
    page.reload()
    assert page.get_by_text("You said: Good day").is_visible() and "?edit" not in page.url
    context.close()
