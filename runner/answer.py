"""An answer as it comes: chunks in, pieces out."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from runner.calls import Calls
from runner.deltas import asked_in, choice_of, said, spoken_in, thought_in, usage_in
from runner.pieces import Call, Reasoning, Text, Usage
from runner.thinking import Thinking


class Answer:
    """`take` each chunk, `drain` what they said (neighbours merged), and at the end `last`."""

    def __init__(self, tools: Collection[str] = ()) -> None:
        self.thinking, self.calls = Thinking(), Calls(tools)
        self.reason, self.usage = "", Usage()
        self.said: list[tuple[type, list[str]]] = []
        self.halves: dict[type, str] = {}
        self.thought = self.spoke = False

    def take(self, chunk: dict) -> None:
        choice = choice_of(chunk)
        delta = said(choice)
        if "delta" in choice or not (self.spoke or self.thought):  # some end with the whole message once more
            self.hear(delta)
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self.reason = reason
        if usage := usage_in(chunk):
            self.usage = usage

    def hear(self, delta: dict) -> None:
        if len(delta) == 1 and type(text := delta.get("content")) is str:  # nearly all of them
            return self.speak(text)
        thought = thought_in(delta)
        inner, text = spoken_in(delta.get("content")) if delta.get("content") else ("", "")
        if thought or inner:
            self.think(thought or inner)
        if text := text or spoken_in(delta.get("refusal"))[1]:
            self.speak(text)
        if delta.get("tool_calls") or delta.get("function_call"):
            for entry in asked_in(delta):
                self.calls.feed(entry)
                self.spoke = True

    def think(self, words: str) -> None:
        """Reasoning in its own field: then a tag in the content is talk."""
        if not self.thought:
            self.thought = True
            self.add_all(self.thinking.end())
        self.add(Reasoning, words)

    def speak(self, words: str) -> None:
        self.spoke = self.spoke or bool(words)
        if self.thought or self.thinking.over:
            self.add(Text, words)
        else:
            self.add_all(self.thinking.feed(words))

    def add_all(self, pieces: Iterator[Text | Reasoning]) -> None:
        for piece in pieces:
            self.add(type(piece), piece.text)

    def add(self, kind: type, words: str) -> None:
        if self.said and self.said[-1][0] is kind:
            self.said[-1][1].append(words)
        else:
            self.said.append((kind, [words]))

    def drain(self) -> Iterator[Text | Reasoning]:
        """What was said since the last time."""
        told, self.said = self.said, []
        for kind, words in told:
            text = self.halves.pop(kind, "") + "".join(words)
            if "\ud800" <= text[-1:] <= "\udbff":  # its other half comes with the next event
                self.halves[kind], text = text[-1], text[:-1]
            if text:
                yield kind(clean(text))

    def rest(self) -> Iterator[Text | Reasoning]:
        """What was held back: nothing more will come."""
        self.add_all(self.thinking.end())
        yield from self.drain()
        for kind, half in self.halves.items():
            yield kind(clean(half))

    def last(self) -> Iterator[Text | Reasoning | Call | Usage]:
        """What was held, the calls, the usage: the answer has finished."""
        yield from self.rest()
        for call in self.calls.end():
            yield replace(call, id=clean(call.id), name=clean(call.name), arguments=clean(call.arguments))
        yield replace(self.usage, reason=self.reason)


def clean(text: str) -> str:
    """TEXT that every database takes: pairs of surrogates joined, lone ones and NUL as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd") if "\0" in text else text
