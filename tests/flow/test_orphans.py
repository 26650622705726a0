"""What a crash, a stop or an error left unfinished never spoils what comes after it."""

import json

import pytest

from database import database
from models import Conversation, Item
from tests.place import Place
from tests.scripted import END, Scripted, text


def strictly(messages: list[dict]) -> list[str]:
    """What strict servers demand: each call has exactly one result, directly behind its message. The results."""
    results, waiting = [], []
    for message in messages:
        if message["role"] == "tool":
            assert waiting and message["tool_call_id"] in waiting, f"a result without a call: {message}"
            waiting.remove(message["tool_call_id"])
            results.append(message["content"])
        else:
            assert not waiting, f"calls without a result: {waiting}"
            waiting = [call["id"] for call in message.get("tool_calls", [])]
            for call in message.get("tool_calls", []):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert not waiting, f"calls without a result: {waiting}"
    return results


def asked(script: Scripted) -> list[dict]:
    """The requests for answers, without those for titles."""
    return [request.body for request in script.requests if request.body.get("stream")]


def calling(place: Place, chat: str, *states: str) -> None:
    """The run of a new wish in CHAT asked for one call of each of STATES; then the server was gone."""

    def calls() -> None:
        conversation = Conversation.get_by_id(chat)
        wish = conversation.ask(conversation.members()[0].id, "Water everything")
        conversation.claim(wish)
        for number, state in enumerate(states):
            columns = {"name": "water", "input": '{"bed": "north"}', "extra": json.dumps({"id": f"call_{number}"})}
            done = {"output": "It is wet.", "done": True} if state == "done" else {}
            conversation.add(wish, "call", state=state, **columns, **done)

    database.run(calls)


@pytest.fixture
def garden(place: Place, script: Scripted) -> str:
    """A conversation with an answer; the server is not running."""
    script.says("Hello.")
    chat = place.visitor().begins("Hello")
    place.settled(chat)
    place.kill()
    return chat


def test_three_calls_of_which_one_had_ended_when_the_server_died(place: Place, script: Scripted, garden: str):
    calling(place, garden, "done", "running", "running")
    script.says("One bed is wet.").says("Go on.")
    place.start()
    place.settled(garden)
    results = strictly(asked(script)[-1]["messages"])
    assert results[0] == "It is wet.", "the finished result is used, not asked for again"
    assert all("server restarted" in words and "may have taken effect" in words for words in results[1:])
    before = [(i.id, i.state, i.text, i.output) for i in Item.select().where(Item.kind == "call")]
    place.visitor().asks(garden, "go on")
    place.settled(garden)
    assert strictly(asked(script)[-1]["messages"]) == results
    assert [(i.id, i.state, i.text, i.output) for i in Item.select().where(Item.kind == "call")] == before
    assert place.texts(garden) == ["Hello.", "One bed is wet.", "Go on."]


def test_a_call_that_the_person_stopped_says_so(place: Place, script: Scripted, garden: str):
    calling(place, garden, "running")
    conversation = Conversation.get_by_id(garden)
    conversation.finish(conversation.open_wish(), "stopped", "stopped")
    script.says("All right.")
    place.start()
    place.visitor().asks(garden, "go on")
    place.settled(garden)
    [result] = strictly(asked(script)[-1]["messages"])
    assert "Stopped by the person" in result and "restarted" not in result


def test_a_stop_pressed_before_the_server_died_still_counts(place: Place, script: Scripted, garden: str):
    calling(place, garden, "running")
    conversation = Conversation.get_by_id(garden)
    conversation.stop(conversation.members()[0].id)
    place.start()
    place.settled(garden)
    assert place.status(garden) == "stopped"
    assert len(asked(script)) == 1, "the model was not asked again"


def test_an_empty_answer_that_was_begun_when_the_server_died_leaves_no_bubble(
    place: Place, script: Scripted, garden: str
):
    calling(place, garden)
    conversation = Conversation.get_by_id(garden)
    conversation.add(conversation.open_wish(), "text")
    conversation.add(conversation.open_wish(), "error", text="Still waiting", state="waiting")
    script.says("Here I am.")
    place.start()
    place.settled(garden)
    assert [(i.kind, i.text) for i in place.items(garden) if i.drawn][2:] == [
        ("user", "Water everything"),
        ("text", "Here I am."),
    ]
    assert not Item.find(Item.kind == "error")


def test_broken_arguments_in_the_log_do_not_wedge_the_conversation(place: Place, script: Scripted, garden: str):
    calling(place, garden, "done")
    database.run(lambda: Item.update(input='{"file": "a.txt", "text": "abc').where(Item.kind == "call").execute())
    script.says("Done.")
    place.start()
    place.settled(garden)
    assert strictly(asked(script)[-1]["messages"]) == ["It is wet."]
    assert Item.get(Item.kind == "call").input == '{"file": "a.txt", "text": "abc', "the log is unchanged"


def test_calls_of_tools_that_are_not_there_are_told_to_the_model_and_end(place: Place, script: Scripted):
    script.calls("water", bed="north").says("I cannot water.")
    ada = place.visitor()
    chat = ada.begins("Water")
    place.settled(chat)
    assert [item.kind for item in place.items(chat)] == ["user", "call", "text"]
    assert strictly(asked(script)[1]["messages"]) == ["There is no tool called water."]


def test_a_model_that_only_ever_calls_is_stopped_after_eight_steps(place: Place, script: Scripted):
    for _ in range(8):
        script.calls("water", bed="north")
    ada = place.visitor()
    chat = ada.begins("Water")
    place.settled(chat)
    assert place.items(chat)[-1].text == "I stopped after 8 steps"
    script.always(lambda body: [text("All right."), *END])
    ada.asks(chat, "Go on")
    place.settled(chat)
    assert place.texts(chat) == ["All right."]
