"""HTTP/1.1 under the model client: every wait has an end, every body a size, every read gives all that has come.

httpx2's own transport hands over one HTTP chunk at a time, cannot tell when the next read would block, and starts
its read time-out anew with every byte. Here the time for the first byte, for the next event and for the whole
answer are kept on the monotonic clock, from the connection to the last byte, also for a server that drips.
"""

import select
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager

import h11
import httpx2

from runner.reply import Reply

CONNECT = 5.0  # seconds for each address of a server
REUSE = 5.0  # seconds a connection may idle before it is used again
READ = 65536  # bytes
ERROR_BODY = 200_000  # bytes of an error that are read


class Wire(httpx2.BaseTransport):
    """Connections to one server. Seconds it may take: FIRST to the head, SILENCE between events, LONGEST in all."""

    def __init__(self, first: float, silence: float, longest: float) -> None:
        self.first, self.silence, self.longest = first, silence, longest
        self.context: ssl.SSLContext | None = None
        self.idle: list[Connection] = []
        self.closed = False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send REQUEST; the answer's `extensions["body"]` is its Body."""
        begun = time.monotonic()
        connection = self.connection(request.url)
        try:
            connection.send(request, begun + self.first)
            head = connection.head(begun + self.first)
        except BaseException:
            connection.close()
            raise
        body = Body(self, connection, time.monotonic() + self.silence, begun + self.longest)
        body.left = ERROR_BODY if head.status >= 300 else None
        extensions = {"http_version": b"HTTP/1.1", "reason_phrase": head.reason, "body": body}
        return httpx2.Response(head.status, headers=head.headers, stream=body, extensions=extensions)

    def connection(self, url: httpx2.URL) -> "Connection":
        """One that idles and still lives, or a new one."""
        if url.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"{url.scheme} is no protocol of the web")
        while self.idle:
            connection = self.idle.pop()
            if connection.lives(url):
                return connection
            connection.close()
        return Connection(url, self.tls() if url.scheme == "https" else None)

    def tls(self) -> ssl.SSLContext:
        if self.context is None:
            self.context = httpx2.create_ssl_context(trust_env=False)
            self.context.set_alpn_protocols(["http/1.1"])
        return self.context

    def back(self, connection: "Connection") -> None:
        """CONNECTION is free for the next request."""
        connection.idle_since = time.monotonic()
        if self.closed:
            connection.close()
        else:
            self.idle.append(connection)

    def close(self) -> None:
        self.closed = True
        while self.idle:
            self.idle.pop().close()


class Connection:
    """One socket and the state of HTTP on it."""

    def __init__(self, url: httpx2.URL, context: ssl.SSLContext | None) -> None:
        self.origin = url.scheme, url.raw_host, url.port
        self.reply = Reply()
        self.idle_since = 0.0
        host = url.raw_host.decode()
        with told(httpx2.ConnectTimeout, httpx2.ConnectError):
            self.socket = socket.create_connection((host, url.port or (443 if context else 80)), CONNECT)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context:
                self.secure(context, host)

    def secure(self, context: ssl.SSLContext, host: str) -> None:
        plain = self.socket
        try:
            self.socket = context.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise

    def send(self, request: httpx2.Request, due: float) -> None:
        http = h11.Connection(h11.CLIENT)
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        with told(httpx2.WriteTimeout, httpx2.WriteError):
            self.write(http.send(head), due)
            for piece in request.stream:
                self.write(http.send(h11.Data(data=piece)), due)
            self.write(http.send(h11.EndOfMessage()), due)

    def write(self, piece: bytes, due: float) -> None:
        self.socket.settimeout(max(0.001, due - time.monotonic()))
        self.socket.sendall(piece)

    def head(self, due: float) -> Reply:
        """The answer, whose head has come."""
        self.reply = Reply()
        with told(httpx2.ReadTimeout, httpx2.ReadError, "did not begin its answer in time"):
            while not self.reply.begun:
                self.fill(due)
                if self.reply.fault and not self.reply.begun:
                    raise self.reply.fault
        return self.reply

    def fill(self, due: float) -> None:
        """Read what has come. Raises TimeoutError when nothing has by DUE."""
        left = due - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)
        self.reply.feed(self.socket.recv(READ))

    def lives(self, url: httpx2.URL) -> bool:
        """May it be used again for URL? What idles has nothing to say but good-bye."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        fresh = time.monotonic() - self.idle_since < REUSE
        return fresh and self.origin == (url.scheme, url.raw_host, url.port) and not poll.poll(0)

    def close(self) -> None:
        self.socket.close()


class Body(httpx2.SyncByteStream):
    """The body of an answer. DUE, which its reader moves on with each event, and END are monotonic seconds."""

    def __init__(self, wire: Wire, connection: Connection, due: float, end: float) -> None:
        self.wire, self.connection, self.due, self.end = wire, connection, due, end
        self.left: int | None = None  # bytes that may still come; None: any number
        self.over = False

    def __iter__(self) -> Iterator[bytes]:
        """All that has come, again and again; waits only when nothing has."""
        while not self.over:
            if piece := self.read():
                yield piece

    def read(self) -> bytes:
        """What has come, b"" where that ended a wait. Raises httpx2's errors."""
        late = "fell silent in the middle of its answer" if self.due < self.end else "took too long for its answer"
        reply = self.connection.reply
        with told(httpx2.ReadTimeout, httpx2.ReadError, late):
            piece = reply.take()
            if not piece and not reply.over:
                self.connection.fill(min(self.due, self.end))
                piece = reply.take()
        self.over = reply.over
        if self.left is not None:
            self.left -= len(piece)
            self.over = self.over or self.left < 0
        return piece

    def expect(self, silence: float | None, grace: float | None) -> None:
        """An event has come: the next one within SILENCE seconds; the end within GRACE. None changes nothing."""
        now = time.monotonic()
        self.due = self.due if silence is None else now + silence
        self.end = self.end if grace is None else min(self.end, now + grace)

    def close(self) -> None:
        """Give the connection back when it is at the end of the answer, else close it at once."""
        if self.connection.reply.reusable:
            self.wire.back(self.connection)
        else:
            self.connection.close()


@contextmanager
def told(late: type[Exception], broken: type[Exception], words: str = "") -> Iterator[None]:
    """The errors of sockets and of HTTP as httpx2's, whose cause stays readable; WORDS tell what was late."""
    try:
        yield
    except TimeoutError as why:
        raise late(words or str(why)) from why
    except OSError as why:
        raise broken(str(why)) from why
