"""Thoughts at the beginning of an answer are folded away; talk about their tags is not touched."""

import pytest

from runner.pieces import Reasoning
from runner.thinking import Thinking

LEADING = {
    "think": ("<think>a</think>B", "a", "B"),
    "thinking": ("<thinking>a</thinking>B", "a", "B"),
    "reasoning": ("<reasoning>a</reasoning>B", "a", "B"),
    "thought": ("<thought>a</thought>B", "a", "B"),
    "capitals": ("<Think>a</THINK>B", "a", "B"),
    "brackets": ("[THINK]a[/THINK]B", "a", "B"),
    "triangles": ("◁think▷a◁/think▷B", "a", "B"),
    "channels": ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>B", "a", "B"),
    "channels, then the answer": ("<|channel|>analysis<|message|>a<|end|>B", "a", "B"),
    "white space": ("\n <think>\n\na  b\n\n</think>\n\nB\n", "a  b", "B\n"),
    "no thoughts": ("<think>\n\n</think>\n\nB", "", "B"),
    "never closed": ("<think>a b", "a b", ""),
    "a quoted end": ("<think>use `</think>` to end</think>B", "use `</think>` to end", "B"),
    "an end of another kind": ("<think>a</thinking></think>B", "a</thinking>", "B"),
    "odd letters": ("<think>İİİ</think>B", "İİİ", "B"),
    "a second block": ("<think>a</think>B <think>c</think>", "a", "B <think>c</think>"),
    "nothing after": ("<think>a</think>", "a", ""),
}
TALK = [
    "The `<think>` tag … <think> is a marker, </think> ends it.",
    "`<think>` begins it.",
    "```\n<think>x</think>\n```",
    "<thin",
    "<",
    "  ",
    "<b>bold</b>",
    "</think> alone",
    "1 < 2, [think] about it",
    "<thinks>no</thinks>",
    '<tool_call>{"name":"g"}</tool_call>',
]


def told(pieces: list[str]) -> tuple[str, str]:
    """The thoughts and the text."""
    thinking = Thinking()
    found = [piece for words in pieces for piece in thinking.feed(words)] + list(thinking.end())
    thoughts = "".join(piece.text for piece in found if isinstance(piece, Reasoning))
    return thoughts, "".join(piece.text for piece in found if not isinstance(piece, Reasoning))


def cuts(words: str) -> list[list[str]]:
    return [[words], list(words), *([words[:at], words[at:]] for at in range(len(words)))]


@pytest.mark.parametrize(("words", "thoughts", "text"), LEADING.values(), ids=LEADING.keys())
def test_a_leading_block_is_thought_wherever_it_is_cut(words, thoughts, text):
    for pieces in cuts(words):
        assert told(pieces) == (thoughts, text), pieces


@pytest.mark.parametrize("words", TALK)
def test_talk_about_a_tag_is_shown_as_written(words):
    for pieces in cuts(words):
        assert told(pieces) == ("", words), pieces


def test_text_is_held_only_while_it_may_be_a_tag():
    thinking = Thinking()
    assert [list(thinking.feed(piece)) for piece in ("<", "t", "h")] == [[], [], []]
    assert [piece.text for piece in thinking.feed("e")] == ["<the"]
    assert [piece.text for piece in thinking.feed("<")] == ["<"]
