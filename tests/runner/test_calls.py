"""Tool calls as servers stream them: each comes once and whole, whatever is missing or repeated."""

import pytest

from runner.client import hang_up
from runner.pieces import Call
from tests.runner.heard import heard
from tests.scripted import DONE, END, call, delta, finish, text, usage


@pytest.fixture(autouse=True)
def no_connection_left():
    yield
    hang_up()


def part(name=None, arguments=None, **more) -> dict:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return delta(tool_calls=[{"function": function, **more}])


A, B = ("add", '{"a":1}'), ("mul", '{"b":2}')
ASKED = {
    "whole": ([call(*A)], [A]),
    "in pieces": (
        [part("add", "", index=0, id="x"), part(arguments='{"a"', index=0), part(arguments=":1}", index=0)],
        [A],
    ),
    "no index": ([part(*A, id="c1")], [A]),
    "no index, arguments later": ([part("add", id="c1"), part(arguments='{"a":1}')], [A]),
    "two without index": ([part(*A, id="c1"), part(*B, id="c2")], [A, B]),
    "two without index or id": ([part(*A), part(*B)], [A, B]),
    "two of one name": ([part(*A), part("add", '{"a":2}')], [A, ("add", '{"a":2}')]),
    "the first without index": ([part(*A), part(*B, index=0)], [A, B]),
    "null index": ([part(*A, id="c1", index=None), part(*B, id="c2", index=0)], [A, B]),
    "all index 0 with ids": (
        [part(*A, id="a", index=0), part(*B, id="b", index=0), part(*A, id="c", index=0)],
        [A, B, A],
    ),
    "all index 0 without ids": ([part(*A, index=0), part(*B, index=0), part(*A, index=0)], [A, B, A]),
    "two in one delta": (
        [delta(tool_calls=[{"function": dict(zip(("name", "arguments"), c, strict=True))} for c in (A, B)])],
        [A, B],
    ),
    "gaps": ([call(*A, index=3, key="x"), call(*B, index=9, key="y")], [A, B]),
    "interleaved": (
        [part("add", "", index=0, id="x"), part("mul", "", index=1, id="y")]
        + [part(arguments='{"b":', index=1), part(arguments='{"a":', index=0)]
        + [part(arguments="2}", index=1), part(arguments="1}", index=0)],
        [A, B],
    ),
    "empty later fields": (
        [part("add", '{"a"', index=0, id="x"), part(None, ":1}", index=0, id="", type=""), part("", None, index=0)],
        [A],
    ),
    "the name again": ([part("add", '{"a"', index=0, id="x"), part("add", ":1}", index=0, id="x")], [A]),
    "the name again, no index": ([part("add", '{"a"'), part("add", ":1}")], [A]),
    "the name in pieces": ([part("get_", index=0, id="x"), part("weather", "{}", index=0)], [("get_weather", "{}")]),
    "the name grows": ([part("get_", index=0, id="x"), part("get_weather", "{}", index=0)], [("get_weather", "{}")]),
    "the id later": ([part("add", index=0), part(None, '{"a":1}', index=0, id="late")], [A]),
    "another id for each piece": (
        [part("add", '{"a"', index=0, id="r1"), part(None, ":1", index=0, id="r2"), part(None, "}", index=0, id="r3")],
        [A],
    ),
    "an object": ([part("add", {"a": 1})], [("add", '{"a": 1}')]),
    "an empty object": ([part("add", {})], [("add", "{}")]),
    "null": ([delta(tool_calls=[{"id": "x", "function": {"name": "add", "arguments": None}}])], [("add", "{}")]),
    "empty": ([part("add", "", id="x")], [("add", "{}")]),
    "no object": ([part("add", "[1]", id="x"), part("mul", '"foo"', id="y")], [("add", "[1]"), ("mul", '"foo"')]),
    "broken": ([part("add", '{"a": "abc', id="x")], [("add", '{"a": "abc')]),
    "one object, not a list": ([delta(tool_calls={"function": {"name": "add", "arguments": '{"a":1}'}})], [A]),
    "nulls": (
        [delta(tool_calls=None), delta(tool_calls=[None]), delta(tool_calls=[{"function": None}]), call(*A)],
        [A],
    ),
    "the old field": (
        [delta(function_call={"name": "add", "arguments": ""}), delta(function_call={"arguments": '{"a":1}'})],
        [A],
    ),
    "the old field, streamed": (
        [delta(function_call={"name": "add"}), delta(function_call={"arguments": '{"a":'})]
        + [delta(function_call={"arguments": "1}"})],
        [A],
    ),
    "text after a call": ([call(*A), text("Well.")], [A]),
    "200 calls": ([call("add", {"a": n}, index=n) for n in range(200)], [("add", f'{{"a": {n}}}') for n in range(200)]),
    "a name nobody offered": ([part("rm_rf", "{}", id="x")], [("rm_rf", "{}")]),
}


@pytest.mark.parametrize(("sent", "calls"), ASKED.values(), ids=ASKED.keys())
def test_calls_come_whole_and_one_by_one(script, sent, calls):
    script.plays(*sent, finish("tool_calls"), usage(), DONE)
    found = heard(script)
    assert found["calls"] == calls
    keys = [piece.id for piece in found["pieces"] if isinstance(piece, Call)]
    assert all(keys) and len(set(keys)) == len(calls), "each has an id of its own"


def test_two_calls_of_one_id_get_two(script):
    script.plays(call(*A, index=0, key="same"), call(*B, index=1, key="same"), *END)
    found = heard(script)
    assert found["calls"] == [A, B]
    assert len({piece.id for piece in found["pieces"] if isinstance(piece, Call)}) == 2


def test_what_a_server_wants_back_with_a_call_is_kept(script):
    signed = {"google": {"thought_signature": "abc=="}}
    script.plays(part(*A, id="x", index=0, extra_content=signed), part(*B, id="y", index=1), finish(), DONE)
    found = [piece.extra for piece in heard(script)["pieces"] if isinstance(piece, Call)]
    assert found == [{"extra_content": signed}, {}]
