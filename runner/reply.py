"""HTTP/1.1 as it is read: the head of an answer and the parts of its body, as far as the bytes have come.

The parser is httptools' (Node's llhttp): h11, which writes the requests, takes 30 µs for each chunk it reads, a quarter
of all that a chunk of an answer cost the server.
"""

import httptools
import httpx2

HEAD = 65536  # bytes a head may have
LENIENT = (  # what real servers do, and what is harmless here: each answer has one reader, us
    "lenient_headers",
    "lenient_optional_cr_before_lf",
    "lenient_optional_crlf_after_chunk",
    "lenient_spaces_after_chunk_size",
    "lenient_data_after_close",
)


class Reply:
    """One answer. Feed it what the socket gives; `begun` once its head has come, `over` once all of it has."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self.parser.set_dangerous_leniencies(**dict.fromkeys(LENIENT, True))
        self.headers: list[tuple[bytes, bytes]] = []
        self.status, self.reason, self.size = 0, b"", 0
        self.parts: list[bytes] = []
        self.begun = self.over = self.lasts = False
        self.fault: Exception | None = None

    def feed(self, piece: bytes) -> None:
        """PIECE has come, b"" when nothing more will. A fault is told by `take`, behind what came before it."""
        if not piece:
            self.ended()
            return
        try:
            self.parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as why:
            if not self.over:
                self.fault = httpx2.RemoteProtocolError(f"sent what is no HTTP: {why}")
        self.size += 0 if self.begun else len(piece)
        if self.size > HEAD:
            self.fault = httpx2.RemoteProtocolError("sent a head that does not end")

    def ended(self) -> None:
        """The server closed: a body without a length ends so, another one was cut."""
        if self.begun and not self.measured():
            self.over = True
        elif not self.over:
            where = "in the middle of the answer" if self.begun else "before the answer"
            self.fault = httpx2.RemoteProtocolError(f"the connection closed {where}")

    def measured(self) -> bool:
        """Whether the answer itself tells where it ends."""
        return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

    def take(self) -> bytes:
        """The body as far as it has come and was not taken yet. Raises httpx2.RemoteProtocolError."""
        parts, self.parts = self.parts, []
        if self.fault and not parts:
            raise self.fault
        return b"".join(parts)

    @property
    def reusable(self) -> bool:
        """Whether the connection is free for another request."""
        return self.over and self.lasts and self.fault is None

    # What the parser tells

    def on_status(self, reason: bytes) -> None:
        if not self.over:
            self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.begun:  # (what comes behind the body is nobody's)
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.status = self.parser.get_status_code()
        if self.status < 200:  # "go on", "early hints": the answer itself comes behind
            self.headers, self.reason = [], b""
        else:
            self.begun, self.lasts = True, self.parser.should_keep_alive()

    def on_body(self, part: bytes) -> None:
        if not self.over:
            self.parts.append(part)

    def on_message_complete(self) -> None:
        self.over = self.over or self.begun
