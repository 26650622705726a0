"""Stop ends the work within a second wherever it is; again and onward send what is seen."""

import time
from collections.abc import Callable

import pytest

from models import Conversation, Item
from tests.browser import Browser, as_fresh
from tests.place import Place, Visitor
from tests.scripted import DONE, END, HANG, RESET, Request, Scripted, finish, last_user, text, thought

AT_ONCE = 1.0  # seconds


def streamed(script: Scripted) -> list[Request]:
    return [request for request in script.requests if request.body.get("stream")]


def said(request: Request) -> list[tuple[str, str]]:
    return [(m["role"], m["content"]) for m in request.body["messages"] if m["role"] != "system"]


def stopped_within_a_second(place: Place, ada: Visitor, chat: str) -> None:
    began = time.monotonic()
    assert ada.stops(chat).status_code == 303
    place.until(lambda: not Item.find(Item.chat == chat, Item.done == 0), "all has ended", AT_ONCE + 2)
    assert place.status(chat) == "stopped"
    assert time.monotonic() - began < AT_ONCE + 2  # the machine may be slow; the model's side is measured by itself


WAYS: dict[str, tuple] = {
    "before the first byte": (HANG,),
    "after the head": (b": hello\n\n", HANG),
    "while it thinks": (thought("Let me see"), HANG),
    "while it writes": (text("Half an ans"), HANG),
    "between two chunks": tuple(part for _ in range(400) for part in (text("x "), 0.05)),
}


BEGUN = ("while it thinks", "while it writes", "between two chunks")


def test_stop_hangs_up_within_a_second_at_any_moment(place: Place, script: Scripted):
    for way, parts in WAYS.items():
        script.when(way).plays(*parts, form="bare" if way == "before the first byte" else "chunked")
    ada = place.visitor()
    chats = {way: ada.begins(way) for way in WAYS}
    for way, chat in chats.items():
        place.until(lambda way=way: asked_for(script, way), "the model is asked")
        if way in BEGUN:
            place.until(lambda chat=chat: begun(chat), "it has begun")
    for way, chat in chats.items():
        ada.stops(chat)
        assert asked_for(script, way)[0].gone.wait(AT_ONCE), way
    for way, chat in chats.items():
        place.settled(chat)
        assert place.status(chat) == "stopped"
        assert bool(place.texts(chat)) == (way in BEGUN[1:]), f"{way}: what was written stays, and no empty bubble"


def asked_for(script: Scripted, way: str) -> list[Request]:
    return [request for request in streamed(script) if last_user(request.body) == way]


def begun(chat: str) -> Item | None:
    return Item.find(Item.chat == chat, Item.kind.in_(("text", "reasoning")), Item.text != "")


def test_stop_ends_a_wait_for_another_try(place: Place, script: Scripted):
    script.refuses(429, "slow down", retry_after="50")
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.until(lambda: "Trying again in 50 s" in str([i.text for i in place.items(garden)]), "it says that it waits")
    stopped_within_a_second(place, ada, garden)
    assert place.kinds(garden) == ["user", "stop"], "the notice is gone"


def test_stop_ends_the_making_of_a_title(place: Place, script: Scripted):
    script.says("Water them.")
    script.when("Name this conversation").plays(HANG, form="bare")
    ada = place.visitor()
    garden = ada.begins("How are the beds?")
    naming = lambda: [r for r in script.requests if not r.body.get("stream")]  # noqa: E731
    place.until(naming, "a title is asked for")
    ada.stops(garden)
    assert naming()[0].gone.wait(AT_ONCE)
    place.settled(garden)
    assert Conversation.get_by_id(garden).title == "How are the beds?"


def test_stop_gives_up_a_message_that_waits_for_a_free_place(script: Scripted, open_place: Callable[..., Place]):
    place, gate = open_place(script, CHAT_RUNS="1"), script.gate()
    script.plays(text("Busy"), gate, *END)
    ada = place.visitor()
    busy, waits = ada.begins("One"), ada.begins("Two")
    stopped_within_a_second(place, ada, waits)
    gate.open()
    place.settled(busy)
    assert place.kinds(waits) == ["user", "stop"]


def test_a_message_and_its_stop_at_the_same_moment_end(place: Place, script: Scripted):
    script.always(lambda body: [text("Answer"), 0.2, *END])
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.settled(garden)
    for number in range(25):
        ada.asks(garden, f"Question {number}")
        ada.stops(garden)
    place.settled(garden)
    ada.asks(garden, "And now?")
    place.until(lambda: place.items(garden)[-1].text == "Answer" and place.status(garden) == "idle", "it still works")


def test_stop_works_without_a_socket_and_from_another_device(place: Place, script: Scripted, browser: Browser):
    script.plays(text("Half an ans"), HANG)
    ada, phone = place.visitor("Ada"), place.visitor("Ada")
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    page.get_by_text("Half an ans").wait_for()
    page.get_by_label("Your message").fill("a draft")
    phone.stops(garden)
    assert script.requests[0].gone.wait(AT_ONCE)
    page.get_by_text("You stopped this answer.").wait_for()
    assert page.get_by_label("Your message").input_value() == "a draft"
    assert as_fresh(page)


# Again, onward, and what the model is told


def test_again_sends_the_same_request(place: Place, script: Scripted):
    script.says("Old.").says("New.")
    ada = place.visitor()
    garden = ada.begins("Count <b>to</b> three")
    place.settled(garden)
    ada.again(garden)
    place.settled(garden)
    first, second = streamed(script)
    assert first.body == second.body


def test_again_while_a_title_is_made_keeps_both_answers_and_the_title(place: Place, script: Scripted):
    script.says("Old.").says("New.")
    gate = script.gate()
    script.when("Name this conversation").plays(gate, b'{"choices":[{"message":{"content":"Beds"}}]}')
    ada = place.visitor()
    garden = ada.begins("How are the beds?")
    assert gate.reached.wait(20)
    ada.again(garden)
    place.settled(garden)
    gate.open()
    place.until(lambda: Conversation.get_by_id(garden).title == "Beds", "the title comes")
    assert [item.text for item in Item.select().where(Item.kind == "text").order_by(Item.id)] == ["Old.", "New."]
    assert place.texts(garden) == ["New."]


def test_a_name_given_while_a_title_is_made_stays(place: Place, script: Scripted):
    script.says("Old.").says("New.")
    gate = script.gate()
    script.when("Name this conversation").plays(gate, b'{"choices":[{"message":{"content":"Beds"}}]}')
    ada = place.visitor()
    garden = ada.begins("How are the beds?")
    assert gate.reached.wait(20)
    ada.client.post(f"/conversations/{garden}/title", data={"title": "  My own\tname "})
    gate.open()
    ada.again(garden)
    place.settled(garden)
    assert Conversation.get_by_id(garden).title == "My own name"


@pytest.mark.parametrize("way", ["length", "cut"])
def test_an_answer_that_was_cut_off_goes_on_once(way: str, place: Place, script: Scripted, browser: Browser):
    ending = (finish("length"), DONE) if way == "length" else (RESET,)
    script.plays(text("One, two, "), *ending).says("three.").says("Four.")
    ada = place.visitor()
    garden = ada.begins("Count")
    page = browser.page(ada, garden)
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("three.").wait_for()
    place.settled(garden)
    assert place.texts(garden) == ["One, two, ", "three."]
    assert said(streamed(script)[1])[:2] == [("user", "Count"), ("assistant", "One, two, ")]
    assert as_fresh(page)
    ada.asks(garden, "And?")
    place.settled(garden)
    words = " ".join(content for _, content in said(streamed(script)[2]))
    assert words.count("One, two,") == 1 and words.count("three.") == 1


def test_what_is_seen_is_what_is_sent_after_switches(place: Place, script: Scripted):
    script.says("Old.").says("New.").says("Then.").says("Newest.")
    ada = place.visitor()
    garden = ada.begins("One")
    place.settled(garden)
    ada.again(garden)
    place.settled(garden)
    asked = Item.find(Item.chat == garden, Item.kind == "user")
    ada.client.post(f"/conversations/{garden}/branch", data={"item": asked.id, "branch": asked.versions()[0]})
    ada.asks(garden, "Two")
    place.settled(garden)
    visible = [(i.kind, i.text) for i in place.items(garden) if i.kind in ("user", "text")]
    assert visible == [("user", "One"), ("text", "Old."), ("user", "Two"), ("text", "Then.")]
    assert said(streamed(script)[2]) == [("user", "One"), ("assistant", "Old."), ("user", "Two")]
    ada.again(garden)
    place.settled(garden)
    assert said(streamed(script)[3]) == said(streamed(script)[2])


# What a person sees of a model that fails


def test_a_failure_in_words_lets_the_next_message_go_out(place: Place, script: Scripted, browser: Browser):
    gate = script.gate()
    script.plays(text("Half"), gate, {"error": {"message": "the GPU fell over", "code": 502}}).says("Better.")
    ada = place.visitor()
    garden = ada.begins("One")
    page = browser.page(ada, garden)
    page.get_by_text("Half").wait_for()
    ada.asks(garden, "Two")
    gate.open()
    page.get_by_text("the GPU fell over").first.wait_for(state="attached")
    page.get_by_text("Better.").wait_for()
    page.get_by_text("This answer was cut off.").wait_for()
    page.get_by_role("button", name="Try again").wait_for()
    place.settled(garden)
    assert place.kinds(garden) == ["user", "text", "error", "user", "text"]
    assert as_fresh(page)


@pytest.mark.real
def test_an_answer_of_a_model_that_is_gone_comes_again_from_the_usual_one(place: Place, script: Scripted):
    script.says("From afar.")
    ada = place.visitor()
    garden = ada.begins("Hello", model="far-1")
    place.settled(garden)
    place.kill()
    for name in ("AI_URL", "AI_KEY", "AI_MODEL"):
        del place.settings[name]
    place.start()
    assert ada.again(garden).status_code == 303
    place.until(
        lambda: place.status(garden) != "working" and not Conversation.get_by_id(garden).open_wish(), "it ends", 60
    )
    answer = [item for item in place.items(garden) if item.drawn][-1]
    assert (answer.kind, place.status(garden)) == ("text", "idle") and answer.model.startswith("local:")


def test_a_model_that_thinks_and_says_nothing_is_asked_once_more_and_then_named(place: Place, script: Scripted):
    script.thinks("Hmm.").thinks("Hmm, hmm.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.settled(garden)
    items = place.items(garden)
    assert [item.kind for item in items] == ["user", "reasoning", "reasoning", "error"]
    assert items[-1].text == "The model wrote no answer."
    assert "Hmm." in ada.sees(garden) and "Try again" in ada.sees(garden)


def test_a_model_that_is_not_there_is_named_and_the_conversation_lives(open_place: Callable[..., Place]):
    with Scripted() as gone:
        place = open_place(gone)
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.settled(garden)
    [wish, error] = place.items(garden)
    assert error.kind == "error" and error.name and error.text and error.input
    assert place.status(garden) == "failed"
    assert ada.again(garden).status_code == 303
    place.settled(garden)
    assert [item.kind for item in place.items(garden) if item.drawn] == ["user", "error"]
