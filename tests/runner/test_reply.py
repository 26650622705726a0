"""What servers send as HTTP, cut anywhere, and what is read of it."""

import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from runner.pieces import Server
from runner.reply import Reply
from runner.stream import Chunks

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
WAYS = {  # how it is sent: (all bytes, the body, whether the connection goes on)
    "in chunks": (CHUNKED + b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n", b"hello world", True),
    "with trailers": (CHUNKED + b"5\r\nhello\r\n0\r\nX-Cost: 1\r\n\r\n", b"hello", True),
    "measured": (HEAD + b"Content-Length: 5\r\n\r\nhello", b"hello", True),
    "and then closed": (HEAD + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello", b"hello", False),
    "after hints": (
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HEAD + b"Content-Length: 2\r\n\r\nhi",
        b"hi",
        True,
    ),
    "with bare line ends": (HEAD.replace(b"\r", b"") + b"Content-Length: 2\n\nhi", b"hi", True),
    "without a body": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
}


def fed(pieces: list[bytes]) -> tuple[Reply, bytes]:
    reply, body = Reply(), b""
    for piece in pieces:
        reply.feed(piece)
        body += reply.take()
    return reply, body


@given(way=st.sampled_from(sorted(WAYS)), cuts=st.lists(st.integers(1, 120), max_size=8))
def test_an_answer_is_read_the_same_however_it_is_cut(way: str, cuts: list[int]):
    sent, body, goes_on = WAYS[way]
    edges = [0, *sorted({cut for cut in cuts if cut < len(sent)}), len(sent)]
    reply, read = fed([sent[a:b] for a, b in zip(edges, edges[1:], strict=False)])
    assert (read, reply.over, reply.reusable) == (body, True, goes_on)
    assert reply.status in (200, 204) and b"Link" not in dict(reply.headers)


def test_a_body_without_a_length_ends_with_its_connection():
    reply, read = fed([HEAD + b"\r\n", b"hel", b"lo"])
    assert (read, reply.over) == (b"hello", False)
    reply.feed(b"")
    assert reply.over and not reply.reusable


@pytest.mark.parametrize("sent", [CHUNKED + b"5\r\nhel", HEAD + b"Content-Length: 9\r\n\r\nhel"])
def test_a_cut_answer_gives_what_came_and_then_says_so(sent: bytes):
    reply = Reply()
    reply.feed(sent)
    reply.feed(b"")
    assert reply.take() == b"hel" and not reply.over
    with pytest.raises(httpx2.RemoteProtocolError, match="in the middle"):
        reply.take()


@pytest.mark.parametrize(
    "sent", [b"SSH-2.0-OpenSSH_9.2\r\n", b"", b"\x16\x03\x01 is TLS", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000]
)
def test_what_is_no_http_is_told(sent: bytes):
    reply = Reply()
    reply.feed(sent)
    with pytest.raises(httpx2.RemoteProtocolError):
        reply.take()
    assert not reply.over


EVENTS = [
    b'data: {"n": 1}\n\n',
    b'data: {"n": 2}\r\n\r\n',
    b'data:{"n": 3}\n\n',
    b': ping\n\ndata: {"n": 4}\n\n',
    b'event: x\nid: 7\ndata: {"n":\ndata: 5}\n\n',
    b'data: {"n": 6, "t": "\xf0\x9f\x8c\x8d \\n\\n data: {"}\n\n',
    b'data: {"n": 7}\n\n\n\n',
]


@given(order=st.permutations(range(len(EVENTS))), cuts=st.lists(st.integers(1, 240), max_size=10))
def test_each_event_is_heard_once_however_it_is_written_and_cut(order: list[int], cuts: list[int]):
    sent = b"\xef\xbb\xbf" + b"".join(EVENTS[n] for n in order) + b"data: [DONE]\n\n"
    edges = [0, *sorted({cut for cut in cuts if cut < len(sent)}), len(sent)]
    chunks = Chunks(Server("x", "", "", ""), SSEDecoder().decode)
    heard = [chunk for a, b in zip(edges, edges[1:], strict=False) for chunk in chunks.feed(sent[a:b])]
    assert [chunk["n"] for chunk in heard] == [n + 1 for n in order] and chunks.over
    assert json.dumps(heard).count("data: {") == 1
