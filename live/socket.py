"""The websocket of an open page: it only sends, never blocks who sends, and costs one greenlet.

How app.py installs it: flask-sock makes a `Socket` for each route, pywsgi answers through `Handler`, one greenlet
pings them all.

    flask_sock.Server = Socket
    server = WSGIServer((host, port), app, log=None, handler_class=Handler)
    keep_alive()
    ...
    server.stop_accepting()   # at the end
    close_all()

and how a route uses it, once `accept()` has refused strangers in `before_request`:

    @sock.route("/live")
    def live(socket: Socket) -> None:
        socket.send("…")      # from any greenlet, as is socket.close()
        socket.linger()

What must be looked at again when a version is raised, since it is used but promised by nobody:
flask-sock 0.7: the global `flask_sock.Server`, called as `Server(environ, **options)`, its `mode` and `close()`;
simple-websocket 1.1: nothing of `Server.__init__` runs, only its name and its exceptions are used;
gevent 26.9: `socket.send(…, flags, timeout)`, and of `WSGIHandler` the methods overridden below, `socket`, `rfile`,
`environ` and `close_connection`; wsproto 1.3: `connection.Connection` without its handshake, and that a broken frame
comes out of `events()` as a `CloseConnection` with the code to answer.
"""

import socket
import struct
import time
from collections import deque
from collections.abc import Iterable

import gevent
from gevent.pywsgi import WSGIHandler
from simple_websocket import ConnectionClosed, Server
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Event, Message, Ping
from wsproto.frame_protocol import CloseReason

from live.handshake import accept, handshake

MOST_WAITING = 1 << 20  # bytes that may wait for a slow page behind the frame it is reading
MOST_HEARD = 4096  # characters of a message from a page; pages send none
MOST_EVENTS = 20  # frames a second from a page; it only answers pings
GOODBYE = 2.0  # seconds a page has to answer a closing
PING_EVERY = 14.0  # seconds; a dead page is found at the third ping, after 42 s
PING = b"\x89\x00"
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: what the page has not read is forgotten
RESTART = 1012  # htmx comes back on 1001, 1005, 1006 and 1011–1014 only

__all__ = ["SOCKETS", "Handler", "Socket", "accept", "close_all", "keep_alive", "text_frame"]
SOCKETS: set["Socket"] = set()  # the open ones


def text_frame(text: str) -> bytes:
    """TEXT as one frame, made once for all the pages it goes to. (Half a surrogate pair becomes a question mark.)"""
    payload = text.encode("utf-8", "replace")
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 1 << 16:
        return b"\x81\x7e%b%b" % (size.to_bytes(2, "big"), payload)
    return b"\x81\x7f%b%b" % (size.to_bytes(8, "big"), payload)


class Socket(Server):
    """One websocket that only sends. Its owner, the greenlet of the request, is the only one that reads."""

    mode = "gevent"
    most_waiting = MOST_WAITING

    def __init__(self, environ: dict) -> None:
        """Answer the handshake of ENVIRON, which came through `Handler`."""
        answer = handshake(environ)
        self.sock, self.rfile = environ["parley.connection"]
        self.owner = gevent.getcurrent()
        self.parser: Connection | None = Connection(ConnectionType.SERVER)
        self.connected, self.close_reason, self.close_message = True, CloseReason.NO_STATUS_RCVD, None
        self.outbox: deque[memoryview] = deque()
        self.waiting = self.size = self.events = 0
        self.heard = self.second = time.monotonic()
        self.flusher = self.timer = None
        environ["parley.socket"] = self
        SOCKETS.add(self)
        if self.sock.family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._put(answer)

    # For every greenlet

    def send(self, text: str) -> None:
        """Send TEXT without waiting. Raises ConnectionClosed when the page is gone or too slow."""
        self.send_frame(text_frame(text))

    def send_frame(self, frame: bytes) -> None:
        """Send what text_frame() made, without waiting or copying. Raises ConnectionClosed."""
        if self.connected:
            self._put(frame)
        if not self.connected:
            raise ConnectionClosed(self.close_reason, self.close_message)

    def close(self, reason: int = 1000, message: str = "") -> None:
        """Say goodbye; the page has 2 s to answer. Only the owner waits for it."""
        if self.connected:
            self._goodbye(reason, message)
        if gevent.getcurrent() is self.owner:
            self._leave()

    def drop(self) -> None:
        """End the connection as a cut cable would: the page sees 1006 and comes back."""
        if self.connected:
            self.connected, self.close_reason = False, CloseReason.ABNORMAL_CLOSURE
        self.outbox.clear()
        try:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self.sock.shutdown(socket.SHUT_RDWR)  # wakes the owner
        except OSError:
            pass  # the page was faster

    def _goodbye(self, code: int, message: str | None) -> None:
        self._put(self.parser.send(CloseConnection(code, message)))
        self.connected, self.close_reason, self.close_message = False, code, message
        self.timer = gevent.spawn_later(GOODBYE, self.drop)

    def _put(self, frame: bytes) -> None:
        """Give FRAME to the system, or to the outbox in front of it; or give up the page."""
        if not self.outbox:
            self._begin(frame)
        elif self.waiting + len(frame) <= self.most_waiting:
            self.outbox.append(memoryview(frame))
            self.waiting += len(frame)
        else:
            self.drop()

    def _begin(self, frame: bytes) -> None:
        try:
            sent = self.sock.send(frame, 0, 0.0)
        except BlockingIOError:
            sent = 0
        except OSError:
            return self.drop()
        if sent < len(frame):
            self.outbox.append(memoryview(frame)[sent:])
            self.waiting = 0
            self.flusher = gevent.spawn(self._flush)

    def _flush(self) -> None:
        """Send what waits, as fast as the page reads. The first frame is not counted as waiting."""
        try:
            while self.outbox:
                sent = self.sock.send(self.outbox[0])
                self.heard = time.monotonic()  # there was no room, now there is: somebody reads
                if sent < len(self.outbox[0]):
                    self.outbox[0] = self.outbox[0][sent:]
                else:
                    self.outbox.popleft()
                    self.waiting -= len(self.outbox[0]) if self.outbox else 0
        except OSError:
            self.drop()
        finally:
            self.flusher = None

    # For the owner

    def linger(self) -> None:
        """Wait until the page leaves or the socket is closed. What the page says is dropped, and bounded."""
        while self.parser:
            for event in self._hear():
                self._take(event)
                if not self.parser:
                    break

    def receive(self, timeout: float | None = None) -> None:
        raise NotImplementedError("This socket only sends; what a person does comes by HTTP.")

    def _hear(self) -> Iterable[Event]:
        """What the page says next."""
        received = self._read()
        self.heard = time.monotonic()
        if received:
            self.parser.receive_data(received)
            return self.parser.events()
        self.drop()
        self.parser = None
        return []

    def _read(self) -> bytes:
        """The next bytes, also those that came with the handshake; nothing at the end."""
        try:
            return self.rfile.read1(4096)
        except OSError:
            return b""

    def _take(self, event: Event) -> None:
        """Answer one event. A CloseConnection is the page's own, or the parser's verdict on a broken frame."""
        if isinstance(event, CloseConnection):
            self._end(event.code, event.reason)
        elif self._too_often():
            self._end(CloseReason.POLICY_VIOLATION, "Too many messages")
        elif isinstance(event, Message) and self._too_big(event):
            self._end(CloseReason.MESSAGE_TOO_BIG, "Message is too big")
        elif isinstance(event, Ping) and self.connected:
            self._put(self.parser.send(event.response()))

    def _end(self, code: int, message: str | None) -> None:
        """Nothing the page says from now on counts."""
        if self.connected:
            self._goodbye(code, message)
        self.parser = None

    def _too_often(self) -> bool:
        if self.heard - self.second >= 1:
            self.second, self.events = self.heard, 0
        self.events += 1
        return self.events > MOST_EVENTS

    def _too_big(self, message: Message) -> bool:
        self.size += len(message.data)
        too_big = self.size > MOST_HEARD
        if message.message_finished:
            self.size = 0
        return too_big

    def _leave(self) -> None:
        """Hear the answer to the goodbye, send what waits, then let the page hang up first."""
        self.linger()
        if self.flusher:
            self.flusher.join()
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the page was faster
        while self._read():
            gevent.sleep(0.01)  # closing now could reset what is on its way (RFC 6455, 7.1.1)
        if self.timer:
            self.timer.kill(block=False)
            self.timer = None


class Handler(WSGIHandler):
    """Answers requests; once a request became a websocket, nothing more is written or read as HTTP."""

    def get_environ(self) -> dict:
        environ = super().get_environ()
        environ["parley.connection"] = self.socket, self.rfile
        return environ

    def handle_one_response(self) -> None:
        try:
            super().handle_one_response()
        finally:
            upgraded = self.environ.pop("parley.socket", None)
            if upgraded:
                self.close_connection, upgraded.connected = True, False
                SOCKETS.discard(upgraded)

    def start_response(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> object:
        """An answer in the middle of a websocket is that of a view that failed: close it with 1011."""
        upgraded = self.environ.get("parley.socket")
        if upgraded:
            upgraded.close(CloseReason.INTERNAL_ERROR)
            return self.write
        if self.environ.get("HTTP_UPGRADE", "").lower() == "websocket":
            headers = [*headers, ("Connection", "close")]
        return super().start_response(status, headers, exc_info)

    def write(self, data: bytes) -> None:
        if "parley.socket" not in self.environ:
            super().write(data)


# All sockets together


def keep_alive(interval: float = PING_EVERY) -> gevent.Greenlet:
    """Start the one pinger: every INTERVAL seconds it pings all, and drops who was silent for 2.5 of them."""
    return gevent.spawn(_ping_all, interval)


def _ping_all(interval: float) -> None:
    while True:
        gevent.sleep(interval)
        for number, page in enumerate(list(SOCKETS), 1):
            if time.monotonic() - page.heard > 2.5 * interval:
                page.drop()
            elif page.connected:
                page._put(PING)
            if number % 200 == 0:
                gevent.sleep(0)


def close_all(code: int = RESTART) -> None:
    """Tell every page to come back, and wait until they have left, at most as long as a goodbye may take."""
    owners = [page.owner for page in SOCKETS]
    for page in list(SOCKETS):
        page.close(code)
    gevent.wait(owners, timeout=GOODBYE + 0.5)
