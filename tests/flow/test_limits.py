"""How much runs and waits at once: the rest waits in order, says so, and is never stuck."""

import re
from collections.abc import Callable

from playwright.sync_api import Page

from models import Conversation, Item
from tests.browser import Browser, as_fresh, held
from tests.place import Place
from tests.scripted import DONE, END, Scripted, finish, last_user, text, usage


def asked(script: Scripted) -> list[str]:
    """What the model was asked, in order."""
    return [last_user(request.body) for request in script.requests if request.body.get("stream")]


def test_what_finds_no_place_waits_in_order_and_the_page_says_so(
    script: Scripted, open_place: Callable[..., Place], browser: Browser
):
    place = open_place(script, CHAT_RUNS="2")
    gates = [script.gate() for _ in range(5)]
    for number, gate in enumerate(gates):
        script.when(f"Question {number}").plays(text("Yes, "), gate, text(f"{number}."), *END)
    ada = place.visitor()
    chats = [ada.begins(f"Question {n}") for n in range(5)]
    assert gates[0].reached.wait(20) and gates[1].reached.wait(20)
    page = browser.page(ada, chats[3])
    page.locator("#status").get_by_text("Waiting for its turn").wait_for()
    assert [place.status(chat) for chat in chats] == ["working", "working", "waiting", "waiting", "waiting"]
    gates[1].open()
    assert gates[2].reached.wait(20), "the next one begins at once"
    assert len(asked(script)) == 3
    for gate in gates:
        gate.open()
    page.get_by_text("Yes, 3.").wait_for()
    for chat in chats:
        place.settled(chat)
    assert {*asked(script)[:2]} == {"Question 0", "Question 1"}
    assert asked(script)[2:] == ["Question 2", "Question 3", "Question 4"]
    assert as_fresh(page)


def test_one_person_cannot_take_all_places(script: Scripted, open_place: Callable[..., Place]):
    place, gate = open_place(script, CHAT_RUNS="3", CHAT_RUNS_PERSON="1"), script.gate()
    script.when("Mine 1").plays(text("a"), gate, *END)
    script.when("Mine 2").says("b")
    script.when("His").says("At once.")
    ada, ben = place.visitor("Ada"), place.visitor("Ben")
    first, second = ada.begins("Mine 1"), ada.begins("Mine 2")
    assert gate.reached.wait(20)
    his = ben.begins("His")
    place.settled(his)
    assert place.texts(his) == ["At once."]
    assert place.status(second) == "waiting"
    gate.open()
    place.settled(first)
    place.settled(second)


def test_a_place_that_becomes_free_is_taken_at_once(script: Scripted, open_place: Callable[..., Place]):
    place = open_place(script, CHAT_RUNS="1")
    script.always(lambda body: [text("Yes."), *END])
    ada = place.visitor()
    chats = [ada.begins(f"Question {n}") for n in range(4)]
    for number in range(10):
        for chat in chats:
            ada.asks(chat, f"Question {number}")
    for chat in chats:
        place.settled(chat)
    assert [len(place.texts(chat)) for chat in chats] == [11] * 4


def test_a_queue_that_is_full_says_so_and_keeps_what_was_typed(place: Place, script: Scripted):
    gate = script.gate()
    script.plays(text("Wait"), gate, *END).always(lambda body: [text("Yes."), *END])
    ada = place.visitor()
    garden = ada.begins("Hello")
    assert gate.reached.wait(20)
    answers = [ada.asks(garden, f"Question {n}") for n in range(51)]
    assert [answer.status_code for answer in answers] == [303] * 50 + [409]
    assert "50 messages wait here already" in answers[-1].text and "Question 50" in answers[-1].text
    gate.open()
    place.until(lambda: not Conversation.get_by_id(garden).open_wish(), "all are answered", 60)
    assert [i.text for i in place.items(garden) if i.kind == "user"] == ["Hello", *(f"Question {n}" for n in range(50))]


def test_three_queued_messages_are_answered_in_order_after_a_kill_with_no_page_open(place: Place, script: Scripted):
    gate = script.gate()
    script.plays(text("Half"), gate)
    ada = place.visitor()
    garden = ada.begins("Question 0")
    for number in range(1, 4):
        ada.asks(garden, f"Question {number}")
    place.until(lambda: place.texts(garden) == ["Half"], "it has begun")
    place.kill()
    script.always(lambda body: [text(f"Answer to {last_user(body)}"), *END])
    place.start()
    place.settled(garden)
    assert [i.text for i in place.items(garden) if i.drawn] == [
        words for n in range(4) for words in (f"Question {n}", f"Answer to Question {n}")
    ]
    [cut] = Item.select().where(Item.state == "cut")
    assert cut.text == "Half"


def test_a_server_that_is_asked_to_end_saves_what_grows_and_goes_on_after_the_start(
    place: Place, script: Scripted, browser: Browser
):
    gate = script.gate()
    script.plays(text("The roses need"), gate)
    ada = place.visitor()
    garden = ada.begins("What now?")
    page = browser.page(ada, garden)
    page.get_by_text("The roses need").wait_for()
    assert place.stop() == 0
    assert script.requests[0].gone.wait(5), "the model is not left writing"
    assert Item.find(Item.kind == "text").text == "The roses need"
    script.says("The roses need water.")
    place.start()
    page.get_by_text("The roses need water.").wait_for()
    place.settled(garden)
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    assert as_fresh(page)


def test_a_server_that_cuts_the_front_off_without_a_word_is_found_out(place: Place, script: Scripted):
    ada = place.visitor()
    script.plays(text("Short."), finish(), usage(read=12), DONE)
    garden = ada.begins("Hello")
    place.settled(garden)
    assert "The server read only" not in ada.sees(garden), "so little text says nothing of tokens"
    script.plays(text("It is about beds."), finish(), usage(read=2048), DONE)
    ada.asks(garden, "What is this about? " + "All the beds of the garden. " * 1500)
    place.settled(garden)
    assert re.search(r"The server read only 2,048 of about 10,\d\d\d tokens", ada.sees(garden))


def test_a_page_too_many_says_so_and_goes_on_as_a_page(
    script: Scripted, open_place: Callable[..., Place], browser: Browser
):
    place = open_place(script, CHAT_PAGES_PERSON="2")
    ada = place.visitor()
    first, second = browser.page(ada), browser.page(ada)
    third = browser.context(ada).new_page()
    third.goto(place.url)
    third.get_by_text("You have too many pages open").wait_for()
    assert not first.get_by_text("You have too many pages open").is_visible()
    second.context.close()
    place.until(lambda: follows(third), "there is room again")
    script.says("It did.")
    rain = ada.begins("Did it rain?")
    third.locator(f"#conversation-{rain}").wait_for()
    place.settled(rain)


def follows(page: Page) -> bool:
    """Whether PAGE, loaded again, is let in."""
    page.reload()
    settled = "!offline.hidden || document.querySelector('#main')._htmx?.ws?.connection?.socket?.readyState === 1"
    held(page, settled)
    return page.locator("#offline").is_hidden()
