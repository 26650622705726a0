"""Pressed twice, sent twice, at the same moment: it happens once."""

import threading
from collections.abc import Callable

import httpx2

from models import Conversation, Item
from tests.browser import Browser
from tests.place import Place
from tests.scripted import END, Scripted, text


def together(send: Callable[[], httpx2.Response], count: int) -> list[httpx2.Response]:
    """SEND by COUNT people's clicks at once."""
    answers: list[httpx2.Response] = []
    threads = [threading.Thread(target=lambda: answers.append(send())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_fifty_sends_of_one_message_are_one(place: Place, script: Scripted):
    script.says("Hello.").says("Yes.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    answers = together(lambda: ada.asks(garden, "Only once", client_id="once"), 50)
    assert {answer.status_code for answer in answers} == {303}
    assert Item.select().where(Item.text == "Only once").count() == 1
    place.settled(garden)


def test_fifty_sends_of_a_first_message_are_one_conversation(place: Place, script: Scripted):
    script.says("Hello.")
    ada = place.visitor()
    form = {"text": "Begin once", "client_id": "begin"}
    [chat] = {
        answer.headers["Location"] for answer in together(lambda: ada.client.post("/conversations", data=form), 50)
    }
    assert Conversation.select().count() == 1
    assert Item.select().where(Item.text == "Begin once").count() == 1
    place.settled(chat.rsplit("/", 1)[1])


def test_twenty_presses_of_again_are_one_while_it_goes(place: Place, script: Scripted):
    gate = script.gate()
    script.says("Old.").plays(text("New."), gate, *END)
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.settled(garden)
    answers = together(lambda: ada.again(garden), 20)
    assert {answer.status_code for answer in answers} == {303}
    gate.open()
    place.settled(garden)
    assert Item.select().where(Item.kind == "retry").count() == 1


def test_a_sign_in_link_pressed_twenty_times_at_once_signs_one_in(place: Place):
    def enter() -> httpx2.Response:
        with httpx2.Client(base_url=place.url, headers={"Origin": place.url}, trust_env=False, timeout=30) as client:
            return client.post("/enter", data={"key": place.key})

    assert sorted(answer.status_code for answer in together(enter, 20)) == [303] + [410] * 19


def test_enter_held_down_or_pressed_twice_sends_once(place: Place, script: Scripted, browser: Browser):
    script.says("Hello.").says("Yes.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.settled(garden)
    page = browser.page(ada, garden)
    page.get_by_label("Your message").fill("Once")
    page.evaluate("""() => { for (let n = 0; n < 9; n++) document.getElementById("composer").requestSubmit() }""")
    for _ in range(5):
        page.keyboard.press("Enter")
    page.get_by_text("Yes.").wait_for()
    place.settled(garden)
    assert [item.text for item in place.items(garden) if item.kind == "user"] == ["Hello", "Once"]
