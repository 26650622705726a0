"""What a model turn is made of, and how it can fail. Values only."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Server:
    """Where a model answers: `name` as the person knows it, `address` with its /v1, `model` the id it is asked for."""

    name: str
    address: str
    key: str
    model: str


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Reasoning:
    text: str


@dataclass(frozen=True)
class Call:
    """A whole call; `arguments` is the server's own text, `extra` what it wants back unchanged with the call."""

    id: str
    name: str
    arguments: str
    extra: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """The last piece of a finished answer: tokens (0 where the server did not tell) and the finish reason."""

    read: int = 0
    wrote: int = 0
    cached: int = 0
    reasoning: int = 0
    reason: str = ""


Piece = Text | Reasoning | Call | Usage


class Failure(Exception):
    """A turn that did not end well, in the person's words: `who` failed, `why`, what to do (`advice`).

    `words` are the server's own, cleaned. `again` says that another try by itself makes sense as long as no text
    was shown, and `wait` the seconds the server asked for before it.
    """

    def __init__(
        self, who: str, why: str, advice: str = "", *, words: str = "", again: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(f"{who}: {' '.join(part for part in (why, advice) if part)}")
        self.who, self.why, self.advice = who, why, advice
        self.words, self.again, self.wait = words, again, wait


class Unreachable(Failure):
    """No connection: no such name, nobody listens, a certificate that does not hold."""


class Refused(Failure):
    """The server said no: `status` is its HTTP status (0 within a stream), `long` that the prompt was too long."""

    def __init__(self, *words: str, status: int = 0, long: bool = False, **more) -> None:
        super().__init__(*words, **more)
        self.status, self.long = status, long


class Busy(Failure):
    """The server is overloaded, limits us or broke: 429, 5xx, 529."""


class Silent(Failure):
    """Nothing came for too long, or the whole answer took too long."""


class Cut(Failure):
    """The connection ended before the answer did."""


class Garbage(Failure):
    """What came is no answer of a model."""


class Filtered(Failure):
    """The server's content filter stopped the request."""
