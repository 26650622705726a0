"""The block of thoughts with which some models begin their answer, told apart from the answer while it streams."""

import re
from collections.abc import Iterator

from runner.pieces import Reasoning, Text

# How it begins, how it ends, and what may stand before the answer then.
TAGS = [(f"<{tag}>", f"</{tag}>", "") for tag in ("think", "thinking", "reasoning", "thought", "seed:think")]
TAGS += [
    ("[think]", "[/think]", ""),
    ("◁think▷", "◁/think▷", ""),
    ("<|channel|>analysis<|message|>", "<|end|>", "<|start|>assistant<|channel|>final<|message|>"),
]


class Thinking:
    """Feed it content as it comes: a leading block becomes Reasoning, all else Text, talk about the tags untouched.

    Text is held back only while it may still become a tag, or is white space around the block.
    """

    def __init__(self) -> None:
        self.step, self.held, self.before = self.begin, "", ""
        self.close, self.skip = "", ""

    def feed(self, text: str) -> Iterator[Text | Reasoning]:
        if self.over:
            yield Text(text)
        else:
            self.held += text
            yield from self.step()

    @property
    def over(self) -> bool:
        """The answer itself has begun: all that follows is text."""
        return self.step == self.plain

    def end(self) -> Iterator[Text | Reasoning]:
        """Give what is still held: the answer is over, or its thoughts turn out to come in a field of their own."""
        held, kind = self.held, Reasoning if self.step == self.think else Text
        self.step, self.held = self.plain, ""
        if held if kind is Text else held.strip():
            yield kind(held)

    def begin(self) -> Iterator[Text | Reasoning]:
        """Nothing but white space was said yet."""
        start = self.held.lstrip()
        tag = next((tag for tag in TAGS if same(start[: len(tag[0])], tag[0])), None)
        if tag:
            self.held, self.close, self.skip = start[len(tag[0]) :], *tag[1:]
            self.step = self.think
            yield from self.think()
        elif not any(same(start, tag[0][: len(start)]) for tag in TAGS):
            yield from self.end()

    def think(self) -> Iterator[Text | Reasoning]:
        """Within the block, until its end; an end in backquotes is talk about it."""
        closes = re.finditer(re.escape(self.close), self.held, re.IGNORECASE)
        found = next((m for m in closes if (self.before + self.held)[m.start() - 1 + len(self.before)] != "`"), None)
        thought = self.held[: found.start() if found else -overlap(self.held, self.close) or None].rstrip()
        if thought:
            yield Reasoning(thought if self.before else thought.lstrip())
            self.before = thought[-1]
        self.held = self.held[found.end() if found else len(thought) :]
        if found:
            self.step = self.answer
            yield from self.answer()

    def answer(self) -> Iterator[Text]:
        """Between the block and the answer."""
        self.held = self.held.lstrip()
        if self.held and not self.skip.startswith(self.held):
            self.held = self.held.removeprefix(self.skip).lstrip()
            yield from self.end()

    def plain(self) -> Iterator[Text]:
        """The answer itself."""
        yield from self.end()


def same(one: str, other: str) -> bool:
    return one.lower() == other


def overlap(text: str, close: str) -> int:
    """How many of the last characters of TEXT may begin CLOSE."""
    sizes = range(min(len(text), len(close) - 1), 0, -1)
    return next((size for size in sizes if same(text[-size:], close[:size])), 0)
