"""The chunks in the bytes of a reply: server-sent events, or the JSON of a server that does not stream."""

import json
from collections.abc import Callable, Generator, Iterable, Iterator

import orjson

from runner import refusals
from runner.events import Lines
from runner.pieces import Server

BODY = 16_000_000  # bytes of a JSON answer
KEPT = 4000  # first bytes, to show what came when it is no answer
BOM = b"\xef\xbb\xbf"
PLAIN = b"data: {"


class Chunks:
    """Feed it bytes as they come; `over` once the end marker was read. DECODE takes a line, gives an event or None."""

    def __init__(self, server: Server, decode: Callable[[str], object]) -> None:
        self.server, self.decode = server, decode
        self.lines, self.start, self.body = Lines(), b"", []
        self.size = self.heard = 0
        self.kind, self.over = "", False

    def feed(self, piece: bytes) -> Iterator[dict]:
        """The chunks that PIECE completes, then raises Failure for an error in the stream, or TooLong."""
        if len(self.start) < KEPT:
            self.start += piece[: KEPT - len(self.start)]
        self.kind = self.kind or kind_of(self.start)
        if self.kind == "json":
            self.gather(piece)
        elif self.kind != "page":
            rest = (yield from self.plain(piece)) if self.lines.idle else piece
            yield from self.events(self.lines.feed(rest))

    def plain(self, piece: bytes) -> Generator[dict, None, bytes]:
        """The chunks at the front of PIECE that came whole, each as one line of data; then what is left of PIECE.

        Nearly all do, and the way through lines and fields costs four times as much.
        """
        at = 0
        while piece.startswith(PLAIN, at) and (end := piece.find(b"\n\n", at)) > 0:
            line = piece[at + len(PLAIN) - 1 : end]
            if b"\n" in line or b"\r" in line:
                break
            try:
                chunk = orjson.loads(line)
            except orjson.JSONDecodeError:
                break
            at = end + 2
            self.heard += 1
            yield self.sound(chunk)
        return piece[at:]

    def gather(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > BODY:
            raise refusals.garbage(self.server, self.start, "sent more than an answer can be")
        self.body.append(piece)

    def end(self) -> Iterator[dict]:
        """The chunks that only the end completes. Raises Failure where nothing was an answer."""
        if self.kind == "json":
            yield from self.whole(b"".join(self.body).strip().removeprefix(BOM))
        elif self.kind != "page":
            yield from self.events(self.lines.end())
        if not self.heard:
            why = "sent something that is no answer of a model" if self.start.strip() else "sent an empty answer"
            raise refusals.garbage(self.server, self.start, why)

    def whole(self, body: bytes) -> Iterator[dict]:
        """An answer in one piece, an array of chunks, or a chunk a line."""
        try:
            chunks = listed(loaded(body))
        except ValueError:
            chunks = self.by_lines(body)
        self.heard += len(chunks)
        for chunk in chunks:
            yield self.sound(chunk)
        self.over = True

    def by_lines(self, body: bytes) -> list[dict]:
        try:
            return [chunk for line in body.splitlines() if line.strip() for chunk in listed(loaded(line))]
        except ValueError as why:
            raise refusals.garbage(self.server, self.start) from why

    def events(self, lines: Iterable[str]) -> Iterator[dict]:
        for line in lines:
            event = self.decode(line)
            if event is None or not event.data.strip():
                continue
            self.heard += 1
            self.over = event.data.strip() == "[DONE]"
            if self.over:
                return
            yield from self.chunk(event.data, event.event == "error")

    def chunk(self, text: str, wrong: bool) -> list[dict]:
        try:
            found = loaded(text)
        except ValueError as why:
            if wrong:
                raise refusals.failed(self.server, text) from why
            words = "sent a piece of an answer that is not valid JSON"
            raise refusals.garbage(self.server, text[:KEPT].encode(), words) from why
        if wrong:
            raise refusals.failed(self.server, found)
        return [self.sound(chunk) for chunk in listed(found)]

    def sound(self, chunk: dict) -> dict:
        """CHUNK, unless it is an error. Raises Failure."""
        wrong = chunk.get("error")
        if not wrong and "choices" not in chunk:
            wrong = chunk.get("object") == "error" or chunk.get("type") == "error" or chunk.get("detail")
        if wrong:
            raise refusals.failed(self.server, chunk)
        return chunk


def kind_of(start: bytes) -> str:
    """What a reply is by its first byte: no line of server-sent events begins like JSON or a page does."""
    start = start.removeprefix(BOM).lstrip()
    if not start or BOM.startswith(start):
        return ""
    return {b"{": "json", b"[": "json", b"<": "page"}.get(start[:1], "events")


def loaded(text: str | bytes) -> object:
    """TEXT as JSON; lone surrogates and raw control characters pass. Raises ValueError where it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(text.decode("utf-8", "replace") if isinstance(text, bytes) else text, strict=False)
    except RecursionError as why:
        raise ValueError("nested too deep") from why


def listed(found: object) -> list[dict]:
    """The chunks in FOUND: itself, or those of a list; what is no object says nothing."""
    return [chunk for chunk in (found if isinstance(found, list) else [found]) if isinstance(chunk, dict)]
