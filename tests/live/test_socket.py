"""What a page meets at its socket: good pages are served, slow, broken and hostile ones hurt nobody."""

import base64
import contextlib
import http.client
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 20.0  # seconds anything may take before a test fails
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
COMES_BACK = {1001, 1005, 1006, 1011, 1012, 1013, 1014}  # the codes after which htmx 4 connects again


class Crowd:
    """The server with nothing but sockets, as a process."""

    def __init__(self, log: Path, ping_every: float = 60.0) -> None:
        self.log = log
        with log.open("wb") as errors:
            command = [sys.executable, "-m", "tests.live.crowd", str(ping_every)]
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.port = int(self.process.stdout.readline())

    def asks(self, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(line):
            line.request(method, path, headers=headers)
            answer = line.getresponse()
            return answer.status, answer.read()

    def does(self, path: str) -> dict:
        return json.loads(self.asks(path, "POST")[1])

    def state(self) -> dict:
        return json.loads(self.asks("/state")[1])

    def until(self, holds: Callable[[dict], object], what: str) -> dict:
        """The server's state once it HOLDS."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if holds(state := self.state()):
                return state
            time.sleep(0.02)
        raise AssertionError(f"not within {PATIENCE} s: {what}; {state}")

    def empty(self) -> dict:
        return self.until(lambda state: not state["open"], "every page left")

    def connect(self, path: str = "/", **names: object) -> connect:
        return connect(f"ws://127.0.0.1:{self.port}{path}", proxy=None, max_size=None, **names)

    def said(self) -> str:
        return self.log.read_text()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class Raw:
    """A page that does as the test says, byte by byte."""

    def __init__(self, crowd: Crowd, path: str = "/", room: int = 0, early: bytes = b"") -> None:
        self.socket = socket.socket()
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", crowd.port))
        key = base64.b64encode(os.urandom(16)).decode()
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.socket.sendall(f"{head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode() + early)
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline() != b"\r\n":
            pass

    def says(self, *frames: bytes) -> "Raw":
        self.socket.sendall(b"".join(frames))
        return self

    def hears(self) -> tuple[int, bytes]:
        """The next frame, (opcode, payload); (0, b"") at the end of the connection."""
        head = self.file.read(2)
        if len(head) < 2:
            return 0, b""
        size = head[1]
        if size > 125:
            size = int.from_bytes(self.file.read(2 if size == 126 else 8), "big")
        return head[0] & 15, self.file.read(size)

    def code(self) -> int:
        """The code of the closing frame, which is the next; the connection ends behind it."""
        kind, payload = self.hears()
        assert kind == CLOSE
        assert self.hears() == (0, b"")
        return int.from_bytes(payload[:2], "big")

    def reset(self) -> None:
        """Gone as a pulled cable would be noticed."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def frame(kind: int, payload: bytes = b"", last: bool = True, masked: bool = True) -> bytes:
    """A frame as a browser writes it (the mask is zero, which the standard allows)."""
    size, bit = len(payload), 128 if masked else 0
    if size < 126:
        head = bytes([last << 7 | kind, bit | size])
    elif size < 1 << 16:
        head = bytes([last << 7 | kind, bit | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([last << 7 | kind, bit | 127]) + size.to_bytes(8, "big")
    return head + bytes(4 if masked else 0) + payload


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    crowd = Crowd(tmp_path_factory.mktemp("crowd") / "log")
    yield crowd
    crowd.close()


@pytest.fixture
def crowd(shared: Crowd) -> Iterator[Crowd]:
    """The server, which must have nothing to complain about at the end of each test."""
    before = shared.said()
    yield shared
    shared.empty()
    assert shared.said() == before
    assert shared.process.poll() is None


# A good page


def test_a_page_hears_what_is_sent_and_offers_of_compression_are_declined(crowd: Crowd):
    with crowd.connect() as page:
        crowd.until(lambda state: state["open"] == 1, "the page is there")
        for size in (0, 125, 126, 65535, 65536):
            crowd.does(f"/broadcast/{size}/1")
            assert page.recv(timeout=PATIENCE) == "x" * size
        assert "Sec-WebSocket-Extensions" not in page.response.headers


def test_a_page_that_pings_gets_its_pong(crowd: Crowd):
    with crowd.connect() as page:
        assert page.ping().wait(PATIENCE)


def test_a_page_that_says_goodbye_gets_its_code_back(crowd: Crowd):
    page = Raw(crowd).says(frame(CLOSE, (1001).to_bytes(2, "big")))
    assert page.code() == 1001
    page.close()


def test_frames_that_come_with_the_handshake_are_heard(crowd: Crowd):
    page = Raw(crowd, early=frame(PING, b"early"))
    assert page.hears() == (PONG, b"early")
    page.close()


def test_when_the_view_ends_the_page_hears_all_of_it_and_the_connection_closes(crowd: Crowd):
    with crowd.connect("/leaves") as page:
        assert page.recv(timeout=PATIENCE) == "all there is"
        with pytest.raises(ConnectionClosed) as end:
            page.recv(timeout=PATIENCE)
        assert end.value.rcvd.code == 1000


def test_a_graceful_stop_tells_every_page_to_come_back(crowd: Crowd):
    pages = [Raw(crowd) for _ in range(20)]
    crowd.until(lambda state: state["open"] == 20, "the pages are there")
    deaf = pages.pop()
    answers = [crowd.process and page for page in pages]
    with crowd.connect() as real:
        told = crowd.does("/goodbye")
        with pytest.raises(ConnectionClosed) as end:
            real.recv(timeout=PATIENCE)
        assert end.value.rcvd.code == 1012
    for page in answers:
        kind, payload = page.hears()
        assert (kind, int.from_bytes(payload[:2], "big")) == (CLOSE, 1012)
        page.close()
    assert told["left"] == 0 and 1.5 < told["seconds"] < 3
    deaf.close()
