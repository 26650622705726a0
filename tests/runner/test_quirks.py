"""Servers that refuse a parameter or the form of a message: the person sees nothing but the answer."""

import json

import pytest

from runner import client, quirks
from runner.client import ask
from runner.pieces import Failure, Refused, Server, Text
from tests.scripted import Scripted

HELLO = [{"role": "user", "content": "Hello"}]
TOOL = {"type": "function", "function": {"name": "add", "parameters": {}}}


@pytest.fixture(autouse=True)
def nothing_learned():
    quirks.LEARNED.clear()
    yield
    client.hang_up()


def answer(script: Scripted, messages=HELLO, **more) -> str:
    found = ask(Server("The test server", script.address, "k", "m"), messages, pace=0.001, **more)
    return "".join(piece.text for piece in found if isinstance(piece, Text))


# What is sent, how the server refuses it, and what is sent then.
PARAMETERS = {
    "max_tokens": (
        {"max_tokens": 9},
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_completion_tokens": 9},
    ),
    "max_completion_tokens": ({"max_completion_tokens": 9}, "max_completion_tokens: unknown field", {"max_tokens": 9}),
    "temperature": (
        {"temperature": 0.2},
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) is supported.",
        {},
    ),
    "parallel_tool_calls": ({"parallel_tool_calls": False}, "Unknown parameter: 'parallel_tool_calls'.", {}),
    "tool_choice": ({"tool_choice": "auto"}, "tool_choice: Extra inputs are not permitted", {}),
    "reasoning_effort": ({"reasoning_effort": "low"}, "Unrecognized request argument supplied: reasoning_effort", {}),
}
OPTIONS = {"stream_options": {"include_usage": True}}


def sent(script: Scripted, at: int) -> dict:
    """The parameters of a request beside those that each has."""
    return {k: v for k, v in script.requests[at].body.items() if k not in ("model", "messages", "stream")}


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(("wanted", "words", "then"), PARAMETERS.values(), ids=PARAMETERS.keys())
def test_a_refused_parameter_is_left_out_or_renamed_and_remembered(script, wanted, words, then, status):
    script.refuses(status, words).says("Hi").says("Ho")
    assert answer(script, parameters=wanted) == "Hi"
    assert answer(script, parameters=wanted) == "Ho"
    assert sent(script, 0) == OPTIONS | wanted
    assert sent(script, 1) == sent(script, 2) == OPTIONS | then


def test_refused_options_of_the_stream_are_left_out(script):
    script.refuses(400, "stream_options is not allowed").says("Hi")
    assert answer(script) == "Hi" and sent(script, 1) == {}


def test_an_unnamed_refusal_costs_the_options_first(script):
    script.refuses(400, "Extra inputs are not permitted").says("Hi")
    assert answer(script) == "Hi" and sent(script, 1) == {}


def test_several_are_refused_one_after_the_other(script):
    script.refuses(400, "unknown stream_options").refuses(400, "unknown top_k").refuses(400, "unknown max_tokens").says(
        "Hi"
    )
    assert answer(script, parameters={"top_k": 3, "max_tokens": 9}) == "Hi"
    assert sent(script, 3) == {"max_completion_tokens": 9}


def test_what_neither_name_pleases_is_left_out(script):
    script.refuses(400, "unknown: max_tokens").refuses(400, "unknown: max_completion_tokens").says("Hi")
    assert answer(script, parameters={"max_tokens": 9}) == "Hi"
    assert sent(script, 2) == OPTIONS


def test_a_value_out_of_its_range_is_told(script):
    script.refuses(400, "temperature must be between 0 and 2")
    with pytest.raises(Refused, match="between 0 and 2"):
        answer(script, parameters={"temperature": 9})


def test_tools_are_never_dropped_in_silence(script):
    script.refuses(400, "this model does not support tools")
    with pytest.raises(Refused, match="does not support tools"):
        answer(script, tools=[TOOL])


def test_a_server_that_says_no_for_ever_is_asked_a_few_times_only(script):
    for _ in range(3):
        script.refuses(400, "stream_options, temperature: unknown")
    with pytest.raises(Failure):
        answer(script, parameters={"temperature": 1})
    assert len(script.requests) == 3


def test_what_one_model_refuses_another_still_gets(script):
    script.refuses(400, "unknown parameter temperature").says("Hi").says("Ho")
    assert answer(script, parameters={"temperature": 1}) == "Hi"
    list(ask(Server("The test server", script.address, "k", "other"), HELLO, parameters={"temperature": 1}))
    assert sent(script, 2)["temperature"] == 1


CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}, "extra_content": {"s": 1}}
TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Add"},
    {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "3"},
    {"role": "user", "content": "Again"},
    {"role": "user", "content": "Please"},
]


def strict(body: dict) -> str:
    """What a server that takes only what it knows finds wrong."""
    allowed = {"role", "content", "tool_calls", "tool_call_id"}
    for message in body["messages"]:
        if set(message) - allowed or any(set(c) - {"id", "type", "function"} for c in message.get("tool_calls", [])):
            return "Extra inputs are not permitted"
    return ""


def mistral(body: dict) -> str:
    roles = [m["role"] for m in body["messages"]]
    if ("tool", "user") in zip(roles, roles[1:], strict=False):
        return "Unexpected role 'user' after role 'tool'"
    if any(len(c["id"]) != 9 for m in body["messages"] for c in m.get("tool_calls", [])):
        return "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."
    return ""


def gemma(body: dict) -> str:
    roles = [m["role"] for m in body["messages"] if m["role"] != "tool"]
    if "system" in roles:
        return "System role not supported"
    if any(a == b for a, b in zip(roles, roles[1:], strict=False)):
        return "Conversation roles must alternate user/assistant/user/assistant/..."
    return ""


def deepseek(body: dict) -> str:
    missing = [m for m in body["messages"] if m["role"] == "assistant" and "reasoning_content" not in m]
    return "Missing `reasoning_content` field in the assistant message" if missing else ""


def gemini(body: dict) -> str:
    calls = [c for m in body["messages"] for c in m.get("tool_calls", [])]
    return "" if all(c.get("extra_content") == {"s": 1} for c in calls) else "thought_signature is missing"


def blank(body: dict) -> str:
    empty = [m for m in body["messages"] if m["content"] == ""]
    return "messages: text content blocks must be non-empty" if empty else ""


@pytest.mark.parametrize("server", [strict, mistral, gemma, deepseek, gemini, blank], ids=lambda f: f.__name__)
def test_one_history_pleases_every_server(server):
    said = json.dumps(TALK)
    refused = []

    def body_of(wish: quirks.Wish) -> dict:
        return {"messages": wish.said(), **wish.more()}

    wish = quirks.Wish(Server("x", server.__name__, "k", "m"), TALK, [], {})
    while words := server(body_of(wish)):
        refused.append(words)
        assert wish.learn(words, 400), f"{words!r} taught nothing"
    assert len(refused) <= 3
    assert json.dumps(TALK) == said, "the log is not changed"
    again = quirks.Wish(Server("x", server.__name__, "k", "m"), TALK, [], {})
    assert server(body_of(again)) == "", "it is remembered"


def test_the_form_is_mended_over_the_wire(script):
    script.refuses(400, "Unexpected role 'user' after role 'tool'").says("Hi")
    assert answer(script, TALK) == "Hi"
    assert [m["role"] for m in script.requests[1].body["messages"]][3:5] == ["tool", "assistant"]
