"""A scripted OpenAI-compatible server: real HTTP on 127.0.0.1, which answers as a test tells it to.

    script = Scripted()                                # script.address is "http://127.0.0.1:PORT/v1"
    script.says("Hello there", cut=3)                  # one turn, three characters a chunk
    script.says("B", thinks="a")                       # reasoning first
    script.calls("water", bed="north").says("Done.")   # two turns, in this order
    script.refuses(429, "slow down", retry_after="2")
    gate = script.gate()
    script.plays(text("Hel"), gate, text("lo"), *END)  # waits until gate.open()
    script.plays(text("Hel"), 0.5, b"data: {", RESET)  # a pause, raw bytes, then the connection breaks
    script.when("weather").says("Rain.")               # for requests whose last user message has the word
    script.always(lambda body: [text("You said: "), text(last_user(body)), *END])   # load tests; an answer each

A part is bytes (sent as they are), a dict (one event), a number (seconds to wait), a gate, HANG (nothing, until
the peer leaves), RESET (a TCP reset) or FIN (the connection closes here, the HTTP body unfinished).
With form="bare" a turn has no head but its own parts; Scripted(tls=context) speaks TLS.
Requests that do not stream (titles) take no turn: they get `script.title`, unless `when` knows them.
`script.requests` keeps each Request: `body`, `headers`, `at` and `left` (monotonic seconds; `left` is None until the
peer closes early, then `gone` is set). `script.leftover()` are the turns nobody asked for, `script.surprises` the
requests that found no turn (they got a 500).
"""

import json
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANG, RESET, FIN = "hang", "reset", "fin"
DONE = b"data: [DONE]\n\n"


def event(chunk: object) -> bytes:
    """One server-sent event that holds CHUNK as JSON."""
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def delta(finish: str | None = None, **fields: object) -> dict:
    """A chunk with these FIELDS in its delta."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def text(words: str) -> dict:
    return delta(content=words)


def thought(words: str) -> dict:
    return delta(reasoning_content=words)


def call(name: str, arguments: object, index: int = 0, key: str = "") -> dict:
    """A whole call in one chunk; ARGUMENTS is an object, or its text as it is."""
    words = arguments if isinstance(arguments, str) else json.dumps(arguments)
    asked = {"name": name, "arguments": words}
    return delta(tool_calls=[{"index": index, "id": key or f"call_{index}", "type": "function", "function": asked}])


def finish(reason: str = "stop") -> dict:
    return delta(finish=reason)


def usage(read: int = 12, wrote: int = 5, **more: object) -> dict:
    return {"choices": [], "usage": {"prompt_tokens": read, "completion_tokens": wrote, **more}}


END = (finish(), usage(), DONE)


def pieces(words: str, cut: int) -> list[str]:
    """WORDS in pieces of CUT characters; 0 is one piece."""
    step = cut or len(words) or 1
    return [words[at : at + step] for at in range(0, len(words), step)]


def last_user(body: dict) -> str:
    """What the person said last in a request."""
    said = next((m.get("content") for m in reversed(body.get("messages", [])) if m.get("role") == "user"), "")
    return said if isinstance(said, str) else " ".join(part.get("text", "") for part in said or [])


class Gate:
    """Holds an answer until `open()`; `reached` is set when the answer has come to it."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def open(self) -> None:
        self.opened.set()


@dataclass
class Turn:
    """One scripted reply."""

    parts: Iterable
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    form: str = "chunked"  # or "whole", in one piece with its length, or "bare", with a head that is a part itself

    def framing(self) -> dict[str, str]:
        if self.form == "whole":
            return {"Content-Type": "application/json", "Content-Length": str(len(self.parts[0]))}
        return {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}


@dataclass
class Request:
    """What a client asked."""

    body: dict
    headers: dict[str, str]
    peer: tuple[str, int]
    at: float
    left: float | None = None
    gone: threading.Event = field(default_factory=threading.Event)


class Turns:
    def __init__(self) -> None:
        self.queue: deque[Turn] = deque()

    def says(self, words: str, *, cut: int = 0, thinks: str = "", every: float = 0.0, reason: str = "stop"):
        """One turn that answers WORDS, CUT characters a chunk, EVERY seconds one."""
        chunks = [*map(thought, pieces(thinks, cut)), *map(text, pieces(words, cut))]
        paced = [part for chunk in chunks for part in (chunk, every)] if every else chunks
        return self.plays(*paced, finish(reason), usage(wrote=len(chunks)), DONE)

    def thinks(self, words: str, *, cut: int = 0):
        """One turn of reasoning that answers nothing."""
        return self.plays(*map(thought, pieces(words, cut)), *END)

    def calls(self, name: str, **arguments: object):
        """One turn that asks for one tool."""
        key = f"call_{name}_{time.monotonic_ns()}"
        return self.plays(call(name, arguments, key=key), finish("tool_calls"), usage(), DONE)

    def refuses(self, status: int, why: object = "no", **headers: str):
        """One turn that is an HTTP error; WHY is words, or the JSON body. A header `retry_after` is Retry-After."""
        body = why if isinstance(why, (dict, list)) else {"error": {"message": why, "type": "error"}}
        return self.replies(json.dumps(body).encode(), "application/json", status, **headers)

    def replies(self, body: bytes, kind: str = "application/json", status: int = 200, **headers: str):
        """One turn whose body comes in one piece, with its length."""
        self.queue.append(Turn([body], status, {"Content-Type": kind} | named(headers), "whole"))
        return self

    def plays(self, *parts: object, status: int = 200, form: str = "chunked", **headers: str):
        """One turn made of PARTS (see above)."""
        self.queue.append(Turn(parts, status, named(headers), form))
        return self


def named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


class Scripted(Turns, AbstractContextManager):
    def __init__(self, *, tls=None, port: int = 0) -> None:
        super().__init__()
        self.rules: dict[str, Turns] = {}
        self.answer: Callable[[dict], Iterable] | None = None
        self.title, self.model = "A short title", "scripted-1"
        self.requests: list[Request] = []
        self.surprises: list[Request] = []
        self.lock = threading.Lock()
        self.server = Listener(("127.0.0.1", port), Reply)
        self.server.script, self.server.tls = self, tls
        self.address = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    gate = staticmethod(Gate)

    def when(self, marker: str) -> Turns:
        """The turns for requests whose last user message holds MARKER."""
        return self.rules.setdefault(marker, Turns())

    def always(self, answer: Callable[[dict], Iterable]) -> "Scripted":
        """ANSWER(body) gives the parts of every answer that no turn is queued for."""
        self.answer = answer
        return self

    def leftover(self) -> list[Turn]:
        """The turns that no request has taken."""
        return [turn for turns in (self, *self.rules.values()) for turn in turns.queue]

    def turn(self, request: Request) -> Turn:
        """What to answer REQUEST."""
        with self.lock:
            self.requests.append(request)
            for marker, turns in self.rules.items():
                if turns.queue and marker in last_user(request.body):
                    return turns.queue.popleft()
            if not request.body.get("stream"):
                return whole(self.title)
            if self.queue:
                return self.queue.popleft()
            if self.answer:
                return Turn(self.answer(request.body))
            self.surprises.append(request)
        return Turn([b'{"error":{"message":"The script has no turn left."}}'], 500, form="whole")

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def __exit__(self, *_: object) -> None:
        self.close()


def whole(words: str) -> Turn:
    """An answer that does not stream."""
    choice = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
    return Turn([json.dumps(usage() | {"choices": [choice]}).encode()], form="whole")


class Listener(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def finish_request(self, request, client_address) -> None:
        with self.tls.wrap_socket(request, server_side=True) if self.tls else nullcontext(request) as wrapped:
            super().finish_request(wrapped, client_address)

    def handle_error(self, request, client_address) -> None:
        """A peer that leaves is part of the play."""


class Reply(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        script = self.server.script
        models = {"object": "list", "data": [{"id": script.model, "object": "model"}]}
        self.play(Turn([json.dumps(models).encode()], form="whole"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(json.loads(body or b"{}"), dict(self.headers), self.client_address, time.monotonic())
        try:
            self.play(self.server.script.turn(request))
        except OSError:
            self.close_connection = True
            request.left = time.monotonic()
            request.gone.set()

    def play(self, turn: Turn) -> None:
        self.framed = turn.form == "chunked"
        if turn.form != "bare":
            self.send_response_only(turn.status)
            for name, value in (turn.framing() | turn.headers).items():
                self.send_header(name, value)
            self.end_headers()
        if any(self.perform(part) for part in turn.parts):
            return
        self.wfile.write(b"0\r\n\r\n" if self.framed else b"")

    def perform(self, part: object) -> bool:
        """Send or wait as PART says; True when the connection is over."""
        if isinstance(part, (bytes, dict)):
            self.send(part if isinstance(part, bytes) else event(part))
        elif isinstance(part, Gate):
            part.reached.set()
            while not part.opened.is_set():
                self.watch(0.02)
        elif isinstance(part, (int, float)):
            self.watch(part)
        elif part == HANG:
            self.watch(None)
        else:
            self.drop(reset=part == RESET)
            return True
        return False

    def send(self, piece: bytes) -> None:
        if piece:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if self.framed else piece)

    def watch(self, seconds: float | None) -> None:
        """Wait SECONDS (None: for ever). Raises ConnectionAbortedError as soon as the peer closes the connection."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        if poll.poll(None if seconds is None else seconds * 1000):
            raise ConnectionAbortedError

    def drop(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()
