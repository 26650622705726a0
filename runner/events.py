"""The lines of a stream of server-sent events, bounded, as the WHATWG standard splits and decodes them."""

from collections.abc import Iterator

LINE = 1_000_000  # bytes a line may have
EVENT = 4_000_000  # bytes an event may have


class TooLong(Exception):
    """A line or an event is longer than any model's answer needs."""


class Lines:
    """Feed it bytes, cut anywhere; it gives whole lines as text, without the BOM, what is no UTF-8 as U+FFFD."""

    def __init__(self, line: int = LINE, event: int = EVENT) -> None:
        self.line, self.event = line, event
        self.parts: list[bytes] = []  # of the unfinished line
        self.waiting = self.size = 0  # bytes of the unfinished line, of the unfinished event
        self.first, self.after_cr = True, False

    @property
    def idle(self) -> bool:
        """Whether the next byte begins an event."""
        return not (self.first or self.after_cr or self.parts or self.size)

    def feed(self, piece: bytes) -> Iterator[str]:
        """The lines that PIECE completes. Raises TooLong, after those that are not."""
        if self.after_cr and piece:
            self.after_cr, piece = False, piece.removeprefix(b"\n")
        if not piece:
            return
        lines, ended = piece.splitlines(), piece.endswith((b"\n", b"\r"))
        self.after_cr = piece.endswith(b"\r")
        self.parts.append(lines[0])
        self.waiting += len(lines[0])
        if len(lines) > 1 or ended:
            lines[0] = b"".join(self.parts)
            self.parts = [] if ended else [lines.pop()]
            self.waiting = sum(map(len, self.parts))
            yield from map(self.decoded, lines)
        if self.waiting > self.line:
            raise TooLong

    def end(self) -> Iterator[str]:
        """What is left when the stream ends: its last line, and the blank one that completes an event."""
        yield self.decoded(b"".join(self.parts))
        yield ""

    def decoded(self, line: bytes) -> str:
        if not line:
            self.size = 0
        elif not line.startswith(b":"):
            self.size += len(line)
        if len(line) > self.line or self.size > self.event:
            raise TooLong
        if self.first:
            self.first, line = False, line.removeprefix(b"\xef\xbb\xbf")
        return line.decode("utf-8", "replace")
