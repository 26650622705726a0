"""Ask a model: one streamed turn, in pieces, whatever kind of OpenAI-compatible server it is."""

import functools
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import h11
import httpx2

from runner import refusals
from runner.answer import Answer
from runner.events import TooLong
from runner.pieces import Failure, Piece, Server, Text
from runner.quirks import Wish
from runner.stream import Chunks
from runner.wire import Wire

if TYPE_CHECKING:
    import openai

PACE = 0.045  # seconds between two reads of an answer, when many are being written
PACE_EACH = 0.002  # seconds between two reads for each answer that is being written
GRACE = 5.0  # seconds for the usage and the end marker to follow the finish reason


class Limits(NamedTuple):
    """Seconds a server may take: to begin its answer, between two events, and for the whole answer."""

    first: float = 60.0
    silence: float = 60.0
    longest: float = 600.0


USUAL = Limits()
READERS: list[Iterator[bytes]] = []  # the answers that are being written
CLIENTS: dict[tuple[str, str, Limits], "openai.OpenAI"] = {}


def ask(
    server: Server,
    messages: list[dict],
    *,
    tools: Sequence[dict] = (),
    parameters: dict = {},  # noqa: B006
    pace: float = 0,
    limits: Limits = USUAL,
    stream: bool = True,
) -> Iterator[Piece]:
    """Stream one model turn: text and reasoning as they come, then the calls, and Usage last. Raises Failure.

    Closing the generator, or an exception raised into the greenlet that reads it, closes the connection at once.
    """
    wish = Wish(server, messages, list(tools), parameters, stream)
    with plainly(server), ExitStack() as stack:
        reply = opened(wish, limits, stack, stream)
        yield from pieces(
            Answer(wish.names), Chunks(server, library()._streaming.SSEDecoder().decode), reply, pace, limits.silence
        )


def complete(server: Server, messages: list[dict], *, limit: int, seconds: float) -> str:
    """A short answer in one piece, at most LIMIT tokens and SECONDS long, for titles. Raises Failure."""
    limits = Limits(seconds, seconds, seconds)
    found = ask(server, messages, parameters={"max_tokens": limit}, limits=limits, stream=False)
    return "".join(piece.text for piece in found if isinstance(piece, Text)).strip()


def opened(wish: Wish, limits: Limits, stack: ExitStack, stream: bool) -> httpx2.Response:
    """The reply whose head has come. What the server refuses by name is left out, and it is asked again."""
    create = client_of(wish.server, limits).chat.completions.with_streaming_response.create
    while True:
        # In `extra_body` the client leaves the messages alone; as `messages` it takes 1.5 s for 5,000 of them.
        body = {"messages": wish.said(), **wish.more()}
        try:
            reply = stack.enter_context(create(model=wish.server.model, messages=[], stream=stream, extra_body=body))
            return reply.http_response
        except library().APIStatusError as why:
            if why.status_code not in (400, 422, 500) or not wish.learn(why.response.text, why.status_code):
                raise


@functools.cache
def library() -> ModuleType:
    """The openai package. Its import takes a second, which the start of the server and its first page do not pay."""
    import openai
    import openai._streaming

    return openai


def client_of(server: Server, limits: Limits) -> "openai.OpenAI":
    """The one client of a server, with its connections. It follows no redirect: the person knows who answers."""
    known = server.address, server.key, limits
    if not (server.key.isascii() and server.key.isprintable() and " " not in server.key):
        raise refusals.misnamed(server)
    if known not in CLIENTS:
        CLIENTS[known] = new_client(*known)
    return CLIENTS[known]


def new_client(address: str, key: str, limits: Limits) -> "openai.OpenAI":
    pool = httpx2.Client(transport=Wire(*limits), trust_env=False, follow_redirects=False)
    return library().OpenAI(
        base_url=address, api_key=key or "none", max_retries=0, http_client=pool, timeout=limits.longest
    )


def pieces(answer: Answer, chunks: Chunks, reply: httpx2.Response, pace: float, silence: float) -> Iterator[Piece]:
    """What REPLY says. It has finished with its end marker or a finish reason, else it was cut."""
    try:
        yield from spoken(answer, chunks, reply, pace, silence)
        if not answer.reason and not chunks.over:
            raise refusals.cut(chunks.server)
    except (Failure, TooLong, httpx2.HTTPError) as why:
        if not answer.reason or isinstance(why, (Failure, TooLong)):
            yield from answer.rest()
            raise
    yield from answer.last()


def spoken(answer: Answer, chunks: Chunks, reply: httpx2.Response, pace: float, silence: float) -> Iterator[Piece]:
    body = reply.extensions["body"]
    for piece in paced(reply.iter_bytes(), pace):
        before = chunks.heard
        for chunk in chunks.feed(piece):
            answer.take(chunk)
        yield from answer.drain()
        if chunks.over:
            return
        body.expect(
            silence if chunks.heard > before or chunks.kind == "json" else None, GRACE if answer.reason else None
        )
    for chunk in chunks.end():
        answer.take(chunk)
    yield from answer.drain()


def paced(read: Iterator[bytes], pace: float) -> Iterator[bytes]:
    """At most one read every PACE seconds (0: the more answers, the more seldom).

    Each then takes all that has come, and a flood cannot hold the others up.
    """
    READERS.append(read)
    try:
        for piece in read:
            due = time.monotonic() + (pace or min(PACE, PACE_EACH * len(READERS)))
            yield piece
            time.sleep(max(0.0, due - time.monotonic()))
    finally:
        READERS.remove(read)


@contextmanager
def plainly(server: Server) -> Iterator[None]:
    """The errors of the client as Failures, in the person's words."""
    try:
        yield
    except library().APIStatusError as why:
        raise refusals.refused(server, why.status_code, why.response.headers, why.response.content) from why
    except (
        library().APIConnectionError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        h11.LocalProtocolError,
        UnicodeError,
    ) as why:
        raise broken(server, why) from why
    except TooLong as why:
        raise refusals.garbage(server, b"", "sent a line longer than any answer needs") from why


def broken(server: Server, why: Exception) -> Exception:
    """The Failure for a connection that did not come about, fell silent or broke."""
    error = why.__cause__ if isinstance(why, library().APIConnectionError) and why.__cause__ else why
    if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout)):
        return refusals.unreachable(server, error)
    if isinstance(error, httpx2.TimeoutException):
        return refusals.silent(server, str(error))
    if isinstance(error, (httpx2.NetworkError, httpx2.RemoteProtocolError)):
        return refusals.cut(server, str(error), again=error is not why)
    if isinstance(error, httpx2.DecodingError):
        return refusals.garbage(server, b"", "sent something that cannot be unpacked")
    return refusals.misnamed(server)


def warm() -> None:
    """Pay the client's slow first imports before the first person asks."""
    new_client("http://127.0.0.1:9/v1", "none", USUAL).chat.completions.with_streaming_response  # noqa: B018


def hang_up() -> None:
    """Close the connections that idle; those in use close with their answers."""
    while CLIENTS:
        CLIENTS.popitem()[1].close()
