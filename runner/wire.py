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
        body.left = ERROR_BODY if head.status_code >= 300 else None
        extensions = {"http_version": b"HTTP/1.1", "reason_phrase": head.reason, "body": body}
        return httpx2.Response(head.status_code, headers=head.headers.raw_items(), stream=body, extensions=extensions)

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
        self.http = h11.Connection(h11.CLIENT)
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
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        with told(httpx2.WriteTimeout, httpx2.WriteError):
            self.write(self.http.send(head), due)
            for piece in request.stream:
                self.write(self.http.send(h11.Data(data=piece)), due)
            self.write(self.http.send(h11.EndOfMessage()), due)

    def write(self, piece: bytes, due: float) -> None:
        self.socket.settimeout(max(0.001, due - time.monotonic()))
        self.socket.sendall(piece)

    def head(self, due: float) -> h11.Response:
        with told(httpx2.ReadTimeout, httpx2.ReadError, "did not begin its answer in time"):
            while type(event := self.http.next_event()) is not h11.Response:
                if event is h11.NEED_DATA:
                    self.fill(due)
                elif type(event) is not h11.InformationalResponse:
                    raise httpx2.RemoteProtocolError("the connection closed before the answer")
        return event

    def fill(self, due: float) -> None:
        """Read what has come. Raises TimeoutError when nothing has by DUE."""
        left = due - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)
        self.http.receive_data(self.socket.recv(READ))

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
        with told(httpx2.ReadTimeout, httpx2.ReadError, late):
            piece = b"".join(self.parts())
            if not piece and not self.over:
                self.connection.fill(min(self.due, self.end))
        if self.left is not None:
            self.left -= len(piece)
            self.over = self.over or self.left < 0
        return piece

    def parts(self) -> list[bytes]:
        """The data that was received; a fault behind it is told the next time."""
        parts, http = [], self.connection.http
        try:
            while type(event := http.next_event()) is h11.Data:
                parts.append(event.data)
            self.over = event is not h11.NEED_DATA
        except h11.RemoteProtocolError:
            if not parts:
                raise
        return parts

    def expect(self, silence: float | None, grace: float | None) -> None:
        """An event has come: the next one within SILENCE seconds; the end within GRACE. None changes nothing."""
        now = time.monotonic()
        self.due = self.due if silence is None else now + silence
        self.end = self.end if grace is None else min(self.end, now + grace)

    def close(self) -> None:
        """Give the connection back when it is at the end of the answer, else close it at once."""
        http = self.connection.http
        if not self.over and http.their_state is h11.SEND_BODY:
            self.rest()
        if http.our_state is h11.DONE and http.their_state is h11.DONE:
            http.start_next_cycle()
            self.wire.back(self.connection)
        else:
            self.connection.close()

    def rest(self) -> None:
        """Take the end of the body if it has come already."""
        try:
            while type(self.connection.http.next_event()) is h11.Data:
                pass
        except h11.RemoteProtocolError:
            pass


@contextmanager
def told(late: type[Exception], broken: type[Exception], words: str = "") -> Iterator[None]:
    """The errors of sockets and of HTTP as httpx2's, whose cause stays readable; WORDS tell what was late."""
    try:
        yield
    except TimeoutError as why:
        raise late(words or str(why)) from why
    except OSError as why:
        raise broken(str(why)) from why
    except h11.RemoteProtocolError as why:
        raise httpx2.RemoteProtocolError(str(why)) from why
