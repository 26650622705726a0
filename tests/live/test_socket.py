"""What a page meets at its socket: good pages are served, slow, broken and hostile ones hurt nobody."""

import base64
import contextlib
import http.client
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from live.socket import PING_EVERY

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 20.0  # seconds anything may take before a test fails
MORE, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
COMES_BACK = {1001, 1005, 1006, 1011, 1012, 1013, 1014}  # the codes after which htmx 4 connects again


class Crowd:
    """The server with nothing but sockets, as a process."""

    def __init__(self, log: Path, ping_every: float = 60.0) -> None:
        self.log = log
        self.pages: list[Raw] = []
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

    def alive(self) -> dict:
        return json.loads(self.asks("/alive")[1])

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
        crowd.pages.append(self)
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
    while shared.pages:
        shared.pages.pop().close()
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
    begin = time.monotonic()
    page = Raw(crowd).says(frame(CLOSE, (1001).to_bytes(2, "big")))
    assert page.code() == 1001
    assert time.monotonic() - begin < 1.5, "nobody waited for a time limit"


def test_frames_that_come_with_the_handshake_are_heard(crowd: Crowd):
    page = Raw(crowd, early=frame(PING, b"early"))
    assert page.hears() == (PONG, b"early")


def test_when_the_view_ends_the_page_hears_all_of_it_and_the_connection_closes(crowd: Crowd):
    with crowd.connect("/leaves") as page:
        assert page.recv(timeout=PATIENCE) == "all there is"
        with pytest.raises(ConnectionClosed) as end:
            page.recv(timeout=PATIENCE)
        assert end.value.rcvd.code == 1000


def test_a_graceful_stop_tells_every_page_to_come_back(crowd: Crowd):
    pages = [Raw(crowd) for _ in range(20)]
    crowd.until(lambda state: state["open"] == 20, "the pages are there")
    pages.pop()  # one does not answer
    with crowd.connect() as real:
        told = crowd.does("/goodbye")
        with pytest.raises(ConnectionClosed) as end:
            real.recv(timeout=PATIENCE)
        assert end.value.rcvd.code == 1012
    for page in pages:
        kind, payload = page.hears()
        assert (kind, int.from_bytes(payload[:2], "big")) == (CLOSE, 1012)
    assert told["left"] == 0, "it waited for the deaf one, but not for ever"


# Who may come in

OURS = "https://parley.test"
STRANGERS = {
    "missing": None,
    "null": "null",
    "empty": "",
    "another host": "https://evil.test",
    "another port": "https://parley.test:8443",
    "the other scheme": "http://parley.test",
    "our name as a prefix": "https://parley.test.evil.test",
    "our name as a suffix": "https://evilparley.test",
    "our name as a user": "https://parley.test@evil.test",
    "our name with a path": "https://parley.test/",
    "two origins": "https://parley.test, https://evil.test",
}


@pytest.mark.parametrize("origin", STRANGERS.values(), ids=STRANGERS)
def test_a_page_of_another_site_is_refused_before_the_handshake(crowd: Crowd, origin: str | None):
    with pytest.raises(InvalidStatus) as refusal:
        crowd.connect(f"/guarded?own={OURS}", origin=origin).__enter__()
    assert refusal.value.response.status_code == 403
    assert b"another site" in refusal.value.response.body


@pytest.mark.parametrize("own", [OURS, "https://Parley.test:443/sub/path", "https://parley.test/"])
def test_our_own_page_is_let_in_however_the_address_is_written(crowd: Crowd, own: str):
    with crowd.connect(f"/guarded?own={own}", origin=OURS) as page:
        assert page.ping().wait(PATIENCE)


@pytest.mark.parametrize("own", ["", "http://x:abc", "http://[x"])
def test_an_address_that_is_none_lets_nobody_in(crowd: Crowd, own: str):
    with pytest.raises(InvalidStatus) as refusal:
        crowd.connect(f"/guarded?own={own}", origin=own or None).__enter__()
    assert refusal.value.response.status_code == 403


HANDSHAKES = {
    "an old version": ({"Sec-WebSocket-Version": "8"}, 426),
    "no version": ({"Sec-WebSocket-Version": ""}, 426),
    "no key": ({"Sec-WebSocket-Key": ""}, 400),
    "a short key": ({"Sec-WebSocket-Key": "c2hvcnQ="}, 400),
    "a key that is none": ({"Sec-WebSocket-Key": "?" * 24}, 400),
    "no upgrade": ({"Upgrade": "", "Connection": "close"}, 400),
}


@pytest.mark.parametrize(("headers", "status"), HANDSHAKES.values(), ids=HANDSHAKES)
def test_a_request_that_is_no_handshake_is_refused_as_http(crowd: Crowd, headers: dict[str, str], status: int):
    good = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    good["Sec-WebSocket-Key"] = "AAAAAAAAAAAAAAAAAAAAAA=="
    assert crowd.asks("/", **{**good, **headers})[0] == status


# Broken and hostile pages

BROKEN = {
    "a reserved opcode": ([frame(3, b"x")], 1002),
    "an unmasked frame": ([frame(TEXT, b"x", masked=False)], 1002),
    "reserved bits": ([bytes([0xC1, 0x80]) + bytes(4)], 1002),
    "a continuation of nothing": ([frame(MORE, b"x")], 1002),
    "a ping in two parts": ([frame(PING, b"x", last=False)], 1002),
    "a closing with a code that is none": ([frame(CLOSE, (999).to_bytes(2, "big"))], 1002),
    "bytes that are no UTF-8": ([frame(TEXT, b"\xff\xfe")], 1007),
    "a letter cut at the end": ([frame(TEXT, "é".encode()[:1])], 1007),
    "a message of 64 MB": ([frame(TEXT, b"x" * (64 << 20))], 1009),
    "a message of 100 KB": ([frame(TEXT, b"x" * 100_000)], 1009),
    "64 MB in parts": ([frame(TEXT, b"", last=False), *[frame(MORE, b"x" * 8000, last=False)] * 8000], 1009),
    "a thousand messages": ([frame(TEXT, b"x")] * 1000, 1008),
    "a thousand pings": ([frame(PING, b"x")] * 1000, 1008),
    "parts without an end": ([frame(TEXT, b"", last=False), *[frame(MORE, b"", last=False)] * 1000], 1008),
}


@pytest.mark.parametrize(("frames", "code"), BROKEN.values(), ids=BROKEN)
def test_a_page_that_breaks_the_rules_hears_why_and_is_closed(crowd: Crowd, frames: list[bytes], code: int):
    page = Raw(crowd)
    with contextlib.suppress(ConnectionError):  # the server hangs up while we still shout
        page.says(*frames)
    kind, payload = PONG, b""
    while kind == PONG:
        kind, payload = page.hears()
    assert (kind, int.from_bytes(payload[:2], "big")) == (CLOSE, code)
    if sum(map(len, frames)) < 1 << 20:
        assert page.hears() == (0, b""), "the end is orderly, so that the code is not lost on the way"


def test_a_page_that_speaks_a_little_is_left_alone(crowd: Crowd):
    with crowd.connect() as page:
        for size in (0, 1, 4096):
            page.send("x" * size)
        page.send([b"in", b"parts"])
        assert page.ping().wait(PATIENCE)


def test_noise_hurts_nobody(crowd: Crowd):
    noise = random.Random(7)
    with crowd.connect() as bystander:
        for _ in range(300):
            page = Raw(crowd)
            with contextlib.suppress(ConnectionError):
                page.says(noise.randbytes(noise.randrange(1, 400)))
                page.says(frame(noise.randrange(16), noise.randbytes(noise.randrange(300)), last=noise.random() < 0.5))
            page.reset()
        assert bystander.ping().wait(PATIENCE)


def test_a_view_that_fails_closes_with_1011_and_is_logged_once(shared: Crowd):
    before = shared.said()
    page = Raw(shared, "/fails")
    assert page.hears() == (TEXT, b"before")
    page.says(frame(CLOSE, (1011).to_bytes(2, "big")))
    assert page.code() == 1011 in COMES_BACK
    page.close()
    shared.empty()
    assert shared.said()[len(before) :].count("LookupError: this view is broken") == 1
    assert "HTTP" not in shared.said()[len(before) :]


# Slow pages


@pytest.mark.parametrize("frames", [1, 100, 5000])
def test_a_page_that_sleeps_gets_every_byte_in_its_place(crowd: Crowd, frames: int):
    page = Raw(crowd, f"/much/{frames}", room=65536)
    crowd.until(lambda state: state["sent"] > 0, "all is sent while the page sleeps")
    for number in range(frames):
        assert page.hears() == (TEXT, f"{number:08}".encode() + "é".encode() * (6_000_000 // frames))
    assert page.hears() == (TEXT, b"after")


def test_a_page_that_lacks_more_than_an_outbox_gets_it_and_the_news_behind_it(crowd: Crowd):
    page = Raw(crowd, f"/big/{8 << 20}", room=65536)
    assert page.hears() == (TEXT, b"x" * (8 << 20))
    assert [page.hears()[1] for _ in range(100)] == [str(number).encode() for number in range(100)]


def test_a_page_that_never_reads_is_dropped_and_the_others_and_the_memory_do_not_notice(crowd: Crowd):
    for _ in range(10):
        Raw(crowd, room=4096)
    with crowd.connect() as reader:
        crowd.does("/broadcast/10000/1")
        assert len(reader.recv(timeout=PATIENCE)) == 10_000
        before = crowd.state()
        for _ in range(50):  # 50 MB
            crowd.does("/broadcast/10000/100")
            for _ in range(100):
                assert len(reader.recv(timeout=PATIENCE)) == 10_000
        after = crowd.until(lambda state: state["open"] == 1, "the deaf pages are dropped")
    assert after["dropped"] - before["dropped"] == 10
    assert 0 < after["most"] <= 1 << 20
    assert after["resident"] - before["resident"] < 10 << 20


# Ends


@pytest.mark.parametrize("how", ["server", "client", "limit", "owner", "both"])
def test_closing_at_the_instant_of_a_send_is_heard_by_both_and_logged_by_nobody(crowd: Crowd, how: str):
    times, before = 1000, crowd.state()["raced"]
    for number in range(times):
        page = Raw(crowd, f"/race/{how}/{number % 7}")
        with contextlib.suppress(ConnectionError):
            if how == "client":
                page.hears()
                page.says(frame(CLOSE, (1001).to_bytes(2, "big")))
            code = last(page)
            assert code in COMES_BACK
            assert code == 1006 or how != "limit"
            page.says(frame(CLOSE, code.to_bytes(2, "big")))
        page.close()
    crowd.until(lambda state: state["raced"] - before == times, "every view ended by itself")


def last(page: Raw) -> int:
    """The code a browser would tell: that of the closing frame, or 1006."""
    while True:
        kind, payload = page.hears()
        if kind == CLOSE:
            return int.from_bytes(payload[:2], "big")
        if not kind:
            return 1006
        assert payload == b"x" * 100


def test_pages_that_vanish_leave_nothing_behind(crowd: Crowd):
    def vanish() -> None:
        pages = [Raw(crowd) for _ in range(200)]
        crowd.until(lambda state: state["open"] == 200, "the pages are there")
        for page in pages:
            page.reset()
        crowd.empty()

    vanish()
    before, state = crowd.alive(), crowd.state()
    vanish()
    after = crowd.alive()
    assert {name: after[name] for name in ("sockets", "parsers")} == {"sockets": 0, "parsers": 0}
    assert after["handlers"] <= before["handlers"] and after["greenlets"] <= before["greenlets"]
    assert after["all"] - before["all"] < 200
    assert crowd.state()["fds"] <= state["fds"]


def test_a_page_that_is_silent_is_found_and_one_that_answers_stays(tmp_path: Path):
    crowd = Crowd(tmp_path / "log", ping_every=0.3)
    with crowd.connect() as lively:
        silent = Raw(crowd)
        begin = time.monotonic()
        kinds = [silent.hears()[0] for _ in range(3)]
        assert kinds == [PING, PING, 0]
        assert time.monotonic() - begin > 2.5 * 0.3
        assert lively.ping().wait(PATIENCE)
        assert crowd.state()["open"] == 1
        silent.close()
    crowd.close()
    assert crowd.said() == ""


def test_a_dead_page_is_found_within_45_seconds():
    assert 3 * PING_EVERY <= 45  # silent for two and a half rounds, which the third one sees
