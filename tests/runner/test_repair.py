"""What goes out is always well-formed, whatever the log holds."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.repair import NO_RESULT, repaired


def user(content="Hi"):
    return {"role": "user", "content": content}


def assistant(content="Hi", *calls, **more):
    return {"role": "assistant", "content": content} | ({"tool_calls": list(calls)} if calls else {}) | more


def call(key="c1", name="add", arguments="{}", **more):
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def result(key="c1", content="3"):
    return {"role": "tool", "tool_call_id": key, "content": content}


SAME = [
    {"role": "system", "content": "Be kind."},
    user(),
    assistant("", call()),
    result(),
    assistant("3"),
    user("Thanks"),
]

FIXED = {
    "nothing wrong": (SAME, SAME),
    "an orphan call": ([user(), assistant("", call())], [user(), assistant("", call()), result(content=NO_RESULT)]),
    "an orphan among two": (
        [assistant("", call("a"), call("b")), result("b"), user()],
        [assistant("", call("a"), call("b")), result("a", NO_RESULT), result("b"), user()],
    ),
    "results in another order": (
        [assistant("", call("a"), call("b")), result("b", "2"), result("a", "1")],
        [assistant("", call("a"), call("b")), result("a", "1"), result("b", "2")],
    ),
    "a late result": ([assistant("", call()), user(), result()], [assistant("", call()), result(), user()]),
    "a result of no call": ([user(), result("x"), assistant()], [user(), assistant()]),
    "a result twice": ([assistant("", call()), result(), result(content="4")], [assistant("", call()), result()]),
    "an empty result": ([assistant("", call()), result(content="")], [assistant("", call()), result(content="Done.")]),
    "empty messages": ([user(""), user(" "), assistant(""), assistant(None), user()], [user()]),
    "no content": ([{"role": "user"}, user()], [user()]),
    "own fields": ([{**user(), "run": "7", "id": "x"}], [user()]),
    "foreign reasoning": ([assistant("Hi", reasoning="hm")], [assistant("Hi")]),
    "reasoning parts": (
        [assistant([{"type": "think", "text": "hm"}, {"type": "text", "text": "Hi"}])],
        [assistant("Hi")],
    ),
    "empty parts": ([user([{"type": "text", "text": ""}, {"type": "text", "text": "Hi"}])], [user("Hi")]),
    "broken arguments": (
        [assistant("", call(arguments='{"a": "x')), result()],
        [assistant("", call(arguments='{"unreadable": "{\\"a\\": \\"x"}')), result()],
    ),
    "arguments that are no object": (
        [assistant("", call(arguments="[1]")), result()],
        [assistant("", call(arguments='{"unreadable": "[1]"}')), result()],
    ),
    "no arguments": ([assistant("", call(arguments="")), result()], [assistant("", call()), result()]),
    "null arguments": ([assistant("", call(arguments=None)), result()], [assistant("", call()), result()]),
    "an object": (
        [assistant("", call(arguments={"a": 1})), result()],
        [assistant("", call(arguments='{"a": 1}')), result()],
    ),
    "a name no server takes": (
        [assistant("", call(name="get weather!")), result()],
        [assistant("", call(name="get_weather_")), result()],
    ),
    "a signature": ([assistant("", call(extra_content={"s": 1})), result()],) * 2,
    "halves of characters, NUL": ([user("a\ud800b\0")], [user("a\ufffdb\ufffd")]),
}


@pytest.mark.parametrize(("messages", "fixed"), FIXED.values(), ids=FIXED.keys())
def test_a_message_goes_out_well_formed(messages, fixed):
    before = json.dumps(messages)
    assert repaired(messages) == fixed
    assert json.dumps(messages) == before, "what came is not changed"
    assert repaired(repaired(messages)) == fixed, "what is sound stays as it is"


IMAGE = {"type": "image_url", "image_url": {"url": "data:x"}}
ASKED = {
    "reasoning": ([assistant("Hi", reasoning="hm")], [assistant("Hi", reasoning_content="hm")]),
    "bare": ([assistant("", call(extra_content={"s": 1})), result()], [assistant("", call()), result()]),
    "text": ([user([{"type": "text", "text": "a"}, IMAGE])], [user("a")]),
    "null": ([assistant("", call()), result()], [assistant(None, call()), result()]),
    "alternate": ([user("a"), user("b"), assistant("c"), assistant("d")], [user("a\n\nb"), assistant("c\n\nd")]),
    "after": (
        [assistant("", call()), result(), user()],
        [assistant("", call()), result(), assistant("(stopped)"), user()],
    ),
    "no-system": ([{"role": "system", "content": "S"}, user("a")], [user("S\n\na")]),
}


@pytest.mark.parametrize("quirk", ASKED)
def test_a_server_gets_what_it_insists_on(quirk):
    messages, fixed = ASKED[quirk]
    assert repaired(messages, frozenset({quirk})) == fixed


def test_pictures_stay_when_neighbours_are_joined():
    joined = repaired([user([{"type": "text", "text": "a"}, IMAGE]), user("b")], frozenset({"alternate"}))
    assert joined == [user([{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}])]


def test_a_conversation_of_turns_begins_with_a_person():
    assert repaired([assistant(), user()], frozenset({"alternate"}))[0]["role"] == "user"


def test_ids_are_made_unique_and_stay_the_same():
    messages = [
        assistant("", call(), call()),
        result(content="1"),
        result(content="2"),
        assistant("", call("")),
        user(),
    ]
    fixed = repaired(messages)
    keys = [c["id"] for m in fixed for c in m.get("tool_calls", [])]
    assert len(set(keys)) == 3 and all(keys)
    assert [(m["tool_call_id"], m["content"]) for m in fixed if m["role"] == "tool"] == [
        (keys[0], "1"),
        (keys[1], "2"),
        (keys[2], NO_RESULT),
    ]
    assert repaired(messages) == fixed, "the same history reads the same, so that servers can cache it"
    short = [c["id"] for m in repaired(messages, frozenset({"short"})) for c in m.get("tool_calls", [])]
    assert len(set(short)) == 3 and all(len(key) == 9 and key.isalnum() for key in short)


def test_the_result_of_a_later_call_is_not_taken_for_an_earlier_one_of_the_same_id():
    fixed = repaired([assistant("", call()), user(), assistant("", call()), result(content="later")])
    assert [m["content"] for m in fixed if m["role"] == "tool"] == [NO_RESULT, "later"]


KEYS = st.sampled_from(["", "a", "b", "call_1"])
CALLS = st.builds(call, KEYS, st.text(max_size=5), st.sampled_from(["", "{}", "[", "3", '{"a":1}']))
MESSAGES = st.one_of(
    st.builds(user, st.sampled_from(["", "Hi", None])),
    st.builds(assistant, st.sampled_from(["", "Hi"]), CALLS, CALLS),
    st.builds(assistant, st.sampled_from(["", "Hi"])),
    st.builds(result, KEYS),
)
QUIRKS = st.frozensets(
    st.sampled_from(["bare", "text", "null", "alternate", "after", "short", "no-system", "reasoning"])
)


@settings(max_examples=300, deadline=None)
@given(st.lists(MESSAGES, max_size=8), QUIRKS)
def test_no_history_makes_a_request_that_a_server_must_refuse(messages, quirks):
    open_calls: list[str] = []
    before = ""
    for message in repaired(messages, quirks):
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0) and message["content"]
        else:
            assert not open_calls, "each call has its result at once"
            assert message.get("content") or message.get("tool_calls")
        for asked in message.get("tool_calls", []):
            assert isinstance(json.loads(asked["function"]["arguments"]), dict)
            open_calls.append(asked["id"])
        if "alternate" in quirks and message["role"] == "user":
            assert before != "user"
        if "after" in quirks and message["role"] == "user":
            assert before != "tool"
        before = message["role"]
    assert not open_calls
