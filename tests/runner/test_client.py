"""Answers as servers stream them, every oddity over real HTTP: what the person reads, and what is kept apart."""

import json
import threading
import time

import pytest

from runner.client import Limits, ask, complete, hang_up
from runner.pieces import Cut, Garbage, Reasoning, Silent, Text, Usage
from tests.runner.heard import HELLO, heard, server
from tests.scripted import (
    DONE,
    END,
    FIN,
    HANG,
    RESET,
    delta,
    event,
    finish,
    text,
    thought,
    usage,
)


@pytest.fixture(autouse=True)
def no_connection_left():
    yield
    hang_up()


def data(*lines: str, end: str = "\n") -> bytes:
    return "".join(f"{line}{end}" for line in lines).encode()


TOLD = json.dumps(text("Hé 👋"), ensure_ascii=False)
SPLIT = [f"data: {part}" for part in (TOLD[:20], TOLD[20:])]
DETAILS = [{"type": "reasoning.text", "text": "hm"}, {"type": "reasoning.encrypted", "data": "xyz"}]
LISTED = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "Yes"},
    {"type": "reference", "reference_ids": [1]},
]

# What is sent, what is read as text, what as reasoning.
SAID = {
    "plain": ([text("Hel"), text("lo"), *END], "Hello", ""),
    "no end marker but a finish reason": ([text("Hello"), finish()], "Hello", ""),
    "an end marker but no finish reason": ([text("Hello"), DONE], "Hello", ""),
    "closed after the finish reason": ([text("Hello"), finish(), FIN], "Hello", ""),
    "reset after the finish reason": ([text("Hello"), finish(), 0.1, RESET], "Hello", ""),
    "text after the end": ([text("Hello"), *END, text(" again"), DONE], "Hello", ""),
    "finish reason with the last text": ([delta("stop", content="Hello"), DONE], "Hello", ""),
    "text after the finish reason": ([text("Hel"), finish(), text("lo"), DONE], "Hello", ""),
    "null content, no role": ([delta(content=None), delta(role=""), delta(), text("Hi"), *END], "Hi", ""),
    "null delta": ([{"choices": [{"index": 0, "delta": None}]}, text("Hi"), *END], "Hi", ""),
    "no delta": ([{"choices": [{"content_filter_offsets": {}}]}, text("Hi"), *END], "Hi", ""),
    "no choices": ([{"id": "x"}, {"choices": None}, {"choices": []}, text("Hi"), *END], "Hi", ""),
    "odd values": ([b"data: 3\n\ndata: null\n\ndata: [null]\n\n", {"choices": [None]}, text("Hi"), *END], "Hi", ""),
    "a second choice": ([text("Hi"), {"choices": [{"index": 1, "delta": {"content": "no"}}]}, *END], "Hi", ""),
    "the old form": ([{"choices": [{"text": "Hi"}]}, *END], "Hi", ""),
    "a refusal": ([delta(refusal="I must not."), *END], "I must not.", ""),
    "the whole message once more": (
        [text("Hi"), {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}, DONE],
        "Hi",
        "",
    ),
    "content in parts": ([delta(content=LISTED), *END], "Yes", "hm"),
    "content as one part": ([delta(content={"type": "text", "text": "Yes"}), *END], "Yes", ""),
    "reasoning_content": ([thought("h"), thought("m"), text("Yes"), *END], "Yes", "hm"),
    "reasoning": ([delta(reasoning="hm"), text("Yes"), *END], "Yes", "hm"),
    "thinking": ([delta(thinking="hm"), text("Yes"), *END], "Yes", "hm"),
    "reasoning_details": ([delta(reasoning_details=DETAILS), text("Yes"), *END], "Yes", "hm"),
    "the same in two fields": (
        [delta(reasoning="hm", reasoning_content="hm", reasoning_details=DETAILS), text("Yes"), *END],
        "Yes",
        "hm",
    ),
    "a tag within reasoning": ([thought("use `</think>` to end"), text("Yes"), *END], "Yes", "use `</think>` to end"),
    "a tag after reasoning": ([thought("hm"), text("<think> is a tag"), *END], "<think> is a tag", "hm"),
    "only reasoning": ([thought("hm"), *END], "", "hm"),
    "nothing": ([*END], "", ""),
    "a tool call in words": (
        [text('<tool_call>{"name":"add"}</tool_call>'), *END],
        '<tool_call>{"name":"add"}</tool_call>',
        "",
    ),
    "CRLF": ([data(f"data: {TOLD}", "", "data: [DONE]", "", end="\r\n")], "Hé 👋", ""),
    "CR": ([data(f"data: {TOLD}", "", "data: [DONE]", "", end="\r")], "Hé 👋", ""),
    "mixed ends": ([f"data: {TOLD}\r\n\ndata: {TOLD}\r\rdata: [DONE]\n\n".encode()], "Hé 👋Hé 👋", ""),
    "many data lines": ([data(*SPLIT, "", "data: [DONE]", "")], "Hé 👋", ""),
    "no space after the colon": ([data(f"data:{TOLD}", "", "data:[DONE]", "")], "Hé 👋", ""),
    "ids, retry, comments, events": (
        [
            data(
                ": hi",
                "id: 7",
                "retry: 3",
                "event: message",
                f"data: {TOLD}",
                "",
                "foo",
                "id: 8",
                "",
                "data: [DONE]",
                "",
            )
        ],
        "Hé 👋",
        "",
    ),
    "a BOM": ([b"\xef\xbb\xbf", data(f"data: {TOLD}", ""), DONE], "Hé 👋", ""),
    "no blank line at the end": ([data(f"data: {TOLD}", "", "data: [DONE]")], "Hé 👋", ""),
    "no line end at the end": ([data(f"data: {TOLD}", ""), b"data: [DONE]"], "Hé 👋", ""),
    "two end markers": ([text("Hi"), finish(), DONE, DONE], "Hi", ""),
    "bytes one by one": ([bytes([b]) for b in event(text("Hé 👋")) + DONE], "Hé 👋", ""),
    "bytes that are no UTF-8": ([b'data: {"choices":[{"delta":{"content":"a\xffb"}}]}\n\n', *END], "a\ufffdb", ""),
    "halves of a surrogate pair": (
        [b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n', 0.01]
        + [b'data: {"choices":[{"delta":{"content":"\\ude00b"}}]}\n\n', *END],
        "a😀b",
        "",
    ),
    "a lone surrogate": (
        [b'data: {"choices":[{"delta":{"content":"a\\ud800b\\ud83d"}}]}\n\n', *END],
        "a\ufffdb\ufffd",
        "",
    ),
    "NUL and raw control characters": (
        [b'data: {"choices":[{"delta":{"content":"a\\u0000b\tc"}}]}\n\n', *END],
        "a\ufffdb\tc",
        "",
    ),
    "a 60 kB event": ([text("x" * 60_000), *END], "x" * 60_000, ""),
    "wide text": ([text("漢字" * 9000), *END], "漢字" * 9000, ""),
}


@pytest.mark.parametrize(("sent", "words", "thoughts"), SAID.values(), ids=SAID.keys())
def test_what_the_model_says_is_read_once_and_whole(script, sent, words, thoughts):
    script.plays(*sent)
    found = heard(script)
    assert (found["text"], found["thoughts"]) == (words, thoughts)
    assert isinstance(found["pieces"][-1], Usage), "it finished"


@pytest.mark.parametrize(("sent", "words", "thoughts"), list(SAID.values())[:12], ids=list(SAID)[:12])
def test_an_answer_cut_at_every_byte_reads_the_same(script, sent, words, thoughts):
    whole = b"".join(
        part if isinstance(part, bytes) else event(part) for part in sent if isinstance(part, (bytes, dict))
    )
    for at in range(0, len(whole), 19):
        script.plays(whole[:at], 0.002, whole[at:])
        found = heard(script)
        assert (found["text"], found["thoughts"]) == (words, thoughts), at


WHOLE = {"choices": [{"message": {"content": "Hi", "reasoning": "hm"}, "finish_reason": "stop"}], "usage": {}}
ONCE = {
    "an object": json.dumps(WHOLE).encode(),
    "an object over many lines": b"\xef\xbb\xbf\n" + json.dumps(WHOLE, indent=2).encode(),
    "an array of chunks": json.dumps([thought("hm"), text("H"), text("i"), finish()]).encode(),
    "a chunk a line": b"\n".join(json.dumps(c).encode() for c in (thought("hm"), text("H"), text("i"), finish())),
    "no finish reason": b'{"choices":[{"message":{"content":"<think>hm</think>Hi"}}]}',
}


@pytest.mark.parametrize("body", ONCE.values(), ids=ONCE.keys())
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain"])
def test_a_server_that_does_not_stream_is_heard_once(script, body, kind):
    script.replies(body, kind)
    found = heard(script)
    assert (found["text"], found["thoughts"]) == ("Hi", "hm")
    assert isinstance(found["pieces"][-1], Usage), "it finished"
    assert len(script.requests) == 1


def test_a_finish_reason_of_tools_without_one_is_an_answer(script):
    script.plays(text("Hi"), finish("tool_calls"), DONE)
    found = heard(script)
    assert (found["text"], found["calls"], found["ended"]) == ("Hi", [], "tool_calls")


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", "eos", "end_turn"])
def test_the_finish_reason_is_told(script, reason):
    script.says("Some", reason=reason)
    assert heard(script)["ended"] == reason


COUNTED = {
    "at the end": ([usage(7, 3)], (7, 3, 0, 0)),
    "missing": ([], (0, 0, 0, 0)),
    "null": ([{"choices": [], "usage": None}], (0, 0, 0, 0)),
    "on every chunk, the last counts": ([usage(7, 1), usage(7, 2), usage(7, 3)], (7, 3, 0, 0)),
    "then an empty one": ([usage(7, 3), {"choices": [], "usage": None}], (7, 3, 0, 0)),
    "no choices field": ([{"usage": {"prompt_tokens": 7, "completion_tokens": 3}}], (7, 3, 0, 0)),
    "within the choice": (
        [{"choices": [{"delta": {}, "usage": {"prompt_tokens": 7, "completion_tokens": 3}}]}],
        (7, 3, 0, 0),
    ),
    "negative, odd": ([usage(-7, "3")], (0, 0, 0, 0)),
    "details": (
        [usage(7, 3, prompt_tokens_details={"cached_tokens": 5}, completion_tokens_details={"reasoning_tokens": 2})],
        (7, 3, 5, 2),
    ),
    "null details": ([usage(7, 3, prompt_tokens_details=None)], (7, 3, 0, 0)),
    "other names": ([{"usage": {"input_tokens": 7, "output_tokens": 3}}], (7, 3, 0, 0)),
}


@pytest.mark.parametrize(("sent", "counts"), COUNTED.values(), ids=COUNTED.keys())
def test_tokens_are_counted_once(script, sent, counts):
    script.plays(text("Hi"), finish(), *sent, DONE)
    found = heard(script)["usage"]
    assert (found.read, found.wrote, found.cached, found.reasoning) == counts


BROKEN = {
    "closed after a whole line": ([text("Hel"), FIN], Cut),
    "ended without a marker": ([text("Hel")], Cut),
    "closed within a line": ([text("Hel"), b"data: {", FIN], Cut),
    "reset": ([text("Hel"), 0.1, RESET], Cut),
    "a line that never ends": ([text("Hel"), b"data: " + b"x" * 1_100_000], Garbage),
    "no JSON": ([text("Hel"), b"data: {nope\n\n", text("lo"), *END], Garbage),
    "silence": ([text("Hel"), HANG], Silent),
    "comments for ever": ([text("Hel"), *[b": ping\n\n", 0.1] * 40], Silent),
    "a drip within a line": ([text("Hel"), b"data: ", *[b"x", 0.1] * 40], Silent),
    "words for ever": ([text("Hel"), *[text(""), 0.1] * 40], Silent),
}


@pytest.mark.parametrize(("sent", "kind"), BROKEN.values(), ids=BROKEN.keys())
def test_an_answer_that_breaks_off_says_so_and_keeps_what_came(script, sent, kind):
    script.plays(*sent)
    found = heard(script, limits=Limits(1, 0.6, 1.2))
    assert (found["text"], found["ended"].split(":")[0]) == ("Hel", kind.__name__)
    assert found["ended"].count("The test server") == 1


def test_words_held_back_for_a_tag_are_kept_when_the_answer_breaks_off(script):
    script.plays(text("<thi"), FIN)
    assert heard(script)["text"] == "<thi"


def test_a_server_that_drips_its_head_is_given_up(script):
    script.plays(b"HTTP/1.1 200 OK\r\nX-Long: ", *[b"x", 0.1] * 30, form="bare")
    began = time.monotonic()
    found = heard(script, limits=Limits(0.5, 0.5, 2))
    assert found["ended"].startswith("Silent") and time.monotonic() - began < 1.5


def test_a_server_that_goes_on_talking_past_its_time_is_given_up(script):
    script.plays(*[text("a"), 0.05] * 100)
    found = heard(script, limits=Limits(1, 1, 1))
    assert (
        found["ended"]
        == "Silent: The test server: It took too long for its answer. Try again, or choose another model."
    )
    assert 10 <= len(found["text"]) <= 25


def test_after_its_finish_reason_a_silent_server_has_finished(script, monkeypatch):
    monkeypatch.setattr("runner.client.GRACE", 0.2)
    script.plays(text("Hi"), finish(), HANG)
    found = heard(script)
    assert (found["text"], found["ended"]) == ("Hi", "stop")


def test_closing_the_answer_hangs_up_at_once(script):
    script.plays(text("Hel"), HANG)
    answer = ask(server(script), HELLO)
    assert next(answer) == Text("Hel")
    answer.close()
    assert script.requests[0].gone.wait(1)


def test_a_flood_cannot_hold_the_others_up(script):
    script.plays(*[b"".join(map(event, [text("x")] * 5000))] * 4, *END)
    began = time.monotonic()
    found = [piece for piece in ask(server(script), HELLO) if isinstance(piece, Text)]
    assert sum(len(piece.text) for piece in found) == 20_000
    assert len(found) >= (time.monotonic() - began) / 0.1, "it comes in many parts, with pauses between them"


def test_pieces_that_came_together_are_one(script):
    script.plays(b"".join(map(event, [thought("a"), thought("b"), text("c"), text("d"), finish()])) + DONE)
    assert heard(script)["pieces"][:2] == [Reasoning("ab"), Text("cd")]


def test_one_connection_serves_turn_after_turn(script):
    for _ in range(3):
        script.says("Hi")
        assert heard(script)["text"] == "Hi"
        time.sleep(0)
    assert len({request.peer for request in script.requests}) == 1


def test_a_title_comes_in_one_piece(script):
    script.title = "<think>hm</think>\nWatering  "
    assert complete(server(script), HELLO, limit=20, seconds=5) == "Watering"
    assert script.requests[0].body["max_tokens"] == 20 and not script.requests[0].body["stream"]


def test_many_answers_at_once_do_not_mix(script):
    script.always(lambda body: [text(f"It is {body['messages'][0]['content']}"), 0.2, *END])
    told = {}

    def one(number: int) -> None:
        said = [{"role": "user", "content": str(number)}]
        told[number] = "".join(p.text for p in ask(server(script), said) if isinstance(p, Text))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {number: f"It is {number}" for number in range(50)}
