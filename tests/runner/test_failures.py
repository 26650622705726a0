"""A server that cannot, will not or should not answer: the person reads who, why and what to do."""

import json
import socket
import ssl
import subprocess
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from runner import client
from runner.client import Limits, ask
from runner.pieces import (
    Busy,
    Cut,
    Failure,
    Filtered,
    Garbage,
    Refused,
    Server,
    Silent,
    Text,
    Unreachable,
)
from runner.wire import Wire
from tests.scripted import DONE, HANG, RESET, Scripted, event, text

HELLO = [{"role": "user", "content": "Hello"}]
KEY = "sk-a-secret-key"
SOON = Limits(5, 5, 10)
PAGE = b"<html><head><title>502 Bad Gateway</title><style>p{color:red}</style></head><body><p>nginx</p></body></html>"


@pytest.fixture(autouse=True)
def no_connection_left():
    yield
    client.hang_up()


def failure(address: str, *, key: str = KEY, limits: Limits = SOON) -> Failure:
    """How asking the server at ADDRESS fails."""
    with pytest.raises(Failure) as caught:
        list(ask(Server("The test server", address, key, "scripted-1"), HELLO, limits=limits, pace=0.001))
    told = str(caught.value)
    assert told.startswith("The test server: It ") and told.endswith("."), "who, and why"
    assert caught.value.advice and KEY not in told + caught.value.words
    return caught.value


def error(message: str, **more) -> dict:
    return {"error": {"message": message, **more}}


# What the server answers, and the kind of failure, whether it is tried again, and words that the person reads.
NO = {
    "a wrong key": (401, error(f"Incorrect API key: {KEY}"), Refused, False, "did not accept the key (401: “Incorrect"),
    "no rights": (403, error("nope"), Refused, False, "does not let this key use the model (403"),
    "no money": (402, error("Pay"), Refused, False, "asks for payment first (402"),
    "no such model": (404, error("The model `x` does not exist"), Refused, False, "does not know the model"),
    "a wrong address": (405, error("Method Not Allowed"), Refused, False, "nothing to talk with at this address"),
    "too large": (413, error("too large"), Refused, False, "found the message too large"),
    "not understood": (
        422,
        {"detail": [{"loc": ["body"], "msg": "field required"}]},
        Refused,
        False,
        "“field required”",
    ),
    "too long": (
        400,
        error("This model's maximum context length is 8192 tokens"),
        Refused,
        False,
        "too long for this model",
    ),
    "too long by code": (
        400,
        error("Sorry", code="context_length_exceeded"),
        Refused,
        False,
        "too long for this model",
    ),
    "filtered": (400, error("Blocked", code="content_filter"), Filtered, False, "stopped this with its content filter"),
    "no quota": (429, error("Over", code="insufficient_quota"), Refused, False, "asks for payment first"),
    "too many requests": (429, error("Slow down"), Busy, True, "is asked too much right now (429: “Slow down”)"),
    "broken": (500, error("Oops"), Busy, True, "has trouble right now (500: “Oops”)"),
    "unavailable": (503, "warming up", Busy, True, "has trouble right now (503: “warming up”)"),
    "overloaded": (529, {"type": "error", **error("Overloaded")}, Busy, True, "(529: “Overloaded”)"),
    "a plain message": (400, {"message": "bad thing"}, Refused, False, "“bad thing”"),
    "a plain error": (400, {"error": "bad thing"}, Refused, False, "“bad thing”"),
    "nested by a relay": (502, error("Provider error", metadata={"raw": '{"x":"deep"}'}), Busy, True, "Provider error"),
    "a list": (400, [error("first")], Refused, False, "“first”"),
    "nothing at all": (400, {}, Refused, False, "did not accept the request (400)"),
    "no error": (200, error("Out of order"), Refused, False, "did not answer the request (“Out of order”)"),
    "no error, with a code": (200, error("Busy", code=503), Busy, True, "has trouble right now (503: “Busy”)"),
}


@pytest.mark.parametrize(("status", "body", "kind", "again", "words"), NO.values(), ids=NO.keys())
def test_a_refusal_names_who_why_and_what_to_do(script, status, body, kind, again, words):
    body = error(body) if isinstance(body, str) else body
    script.replies(json.dumps(body).encode(), "application/json", status)
    why = failure(script.address)
    assert (type(why), why.again, why.wait) == (kind, again, None)
    assert words in str(why)
    assert why.long is ("too long for" in words) if isinstance(why, Refused) else True
    assert len(script.requests) == 1, "nothing is asked twice behind the person's back"


def test_a_page_instead_of_an_error_is_read_as_its_words(script):
    script.replies(PAGE, "text/html", 502)
    why = failure(script.address)
    assert isinstance(why, Busy) and why.words == "502 Bad Gateway nginx"


def test_a_servers_words_are_cleaned_and_short(script):
    script.replies(json.dumps(error(f"a\x00\x1b[31m\u202eb {KEY} " + "x" * 2_000)).encode(), status=400)
    words = failure(script.address).words
    assert words.startswith("a [31m b ••• xxx") and len(words) == 500


def test_of_an_endless_error_only_the_beginning_is_read(script):
    script.plays(*[b"x" * 60_000] * 500, status=500)
    began = time.monotonic()
    assert isinstance(failure(script.address), Busy)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("asked", "wait"), [("2", 2.0), ("0", 0.0), ("3600", 3600.0), ("-1", None), ("abc", None), ("", None)]
)
def test_the_wait_a_busy_server_asks_for_is_told(script, asked, wait):
    script.refuses(429, "slow", **({"retry_after": asked} if asked else {}))
    assert failure(script.address).wait == wait


def test_a_date_is_a_wait_too(script):
    script.refuses(503, "slow", retry_after=formatdate(time.time() + 30, usegmt=True))
    assert 25 < failure(script.address).wait <= 30


IN_STREAM = {
    "an object": (event({"error": {"message": "Boom", "code": 502}, "choices": []}), Busy, "Boom"),
    "words": (event({"error": "Boom"}), Refused, "Boom"),
    "an error event with words": (b"event: error\ndata: Boom\n\n", Refused, "Boom"),
    "an error event with an object": (b'event: error\ndata: {"message":"Boom"}\n\n', Refused, "Boom"),
    "a typed error": (event({"type": "error", "error": {"type": "overloaded_error", "message": "Boom"}}), Busy, "Boom"),
    "an error object": (event({"object": "error", "message": "Boom", "code": 400}), Refused, "Boom"),
    "a limit": (event({"error": {"message": "Rate limit reached", "code": 429, "retry_after": 2}}), Busy, "Rate limit"),
    "a filter": (event({"error": {"message": "Boom", "code": "content_filter"}}), Filtered, "Boom"),
    "the last chunk": (
        event({"error": {"message": "Boom", "code": 500}, "choices": [{"finish_reason": "error"}]}),
        Busy,
        "Boom",
    ),
}


@pytest.mark.parametrize(("sent", "kind", "words"), IN_STREAM.values(), ids=IN_STREAM.keys())
@pytest.mark.parametrize("first", [True, False], ids=["at once", "after some text"])
def test_an_error_in_the_answer_is_told_and_the_text_before_it_kept(script, sent, kind, words, first):
    script.plays((b"" if first else event(text("Hel"))) + sent, DONE)
    found = []
    with pytest.raises(Failure) as caught:
        found.extend(ask(Server("The test server", script.address, KEY, "m"), HELLO))
    assert type(caught.value) is kind and words in caught.value.words
    assert caught.value.wait == (2.0 if "limit" in words else None)


def test_the_text_before_an_error_in_one_packet_is_kept(script):
    script.plays(event(text("Hel")) + event({"error": "Boom"}))
    answer = ask(Server("The test server", script.address, KEY, "m"), HELLO)
    assert next(answer) == Text("Hel")
    with pytest.raises(Refused):
        next(answer)


NONSENSE = {
    "a page": (PAGE, "text/html", "no answer of a model: “502 Bad Gateway nginx”"),
    "a page that claims to be events": (PAGE, "text/event-stream", "no answer of a model"),
    "nothing": (b"", "text/event-stream", "sent an empty answer"),
    "blank lines": (b"\n\n\n", "text/event-stream", "sent an empty answer"),
    "bytes": (bytes(range(256)) * 9, "application/octet-stream", "no answer of a model"),
    "words": (b"It works!", "text/plain", "no answer of a model: “It works!”"),
    "half a JSON": (b'{"choices": [', "application/json", "no answer of a model"),
    "a number": (b"[3]", "application/json", "no answer of a model"),
    "events that are no JSON": (b"data: hello\n\n", "text/event-stream", "not valid JSON: “hello”"),
    "JSON nested too deep": (b"data: " + b"[" * 100_000 + b"\n\n", "text/event-stream", "not valid JSON"),
    "one line of 50 MB": (b"data: " + b"x" * 50_000_000, "text/event-stream", "a line longer than any answer needs"),
    "what is not packed": (b"hello", "text/event-stream", "cannot be unpacked"),
}


@pytest.mark.parametrize(("body", "kind", "words"), NONSENSE.values(), ids=NONSENSE.keys())
def test_what_is_no_answer_is_called_that(script, body, kind, words):
    more = {"content_encoding": "gzip"} if words == "cannot be unpacked" else {}
    script.replies(body, kind, **more)
    began = time.monotonic()
    why = failure(script.address)
    assert isinstance(why, Garbage) and words in str(why) and time.monotonic() - began < 2


def test_a_redirect_is_not_followed(script):
    script.replies(b"", status=307, location="http://127.0.0.1:9/elsewhere")
    assert "sends requests on to another address (307)" in str(failure(script.address))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + event(text("Hel"))
NO_HEAD = {
    "hangs up": ([], Cut),
    "resets": ([RESET], Cut),
    "speaks something else": ([b"SSH-2.0-OpenSSH_9\r\n"], Cut),
    "says nothing": ([HANG], Silent),
    "promises more than it sends": ([HEAD], Cut),
}


@pytest.mark.parametrize(("sent", "kind"), NO_HEAD.values(), ids=NO_HEAD.keys())
def test_a_server_that_does_not_speak_http_is_told_apart(script, sent, kind):
    script.plays(*sent, "fin", form="bare")
    why = failure(script.address, limits=Limits(0.5, 0.5, 1))
    assert type(why) is kind
    assert why.again is (kind is Cut and not sent[-1:] == [HEAD]), "what may have been paid for is not asked twice"


def test_a_request_that_nobody_reads_is_given_up():
    with socket.create_server(("127.0.0.1", 0), backlog=1) as deaf:
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
        assert type(failure(address, limits=Limits(0.5, 0.5, 1))) is Silent


NOWHERE = {
    "nobody listens": ("http://127.0.0.1:9/v1", KEY, "nothing listens at its address", True),
    "no such name": ("http://no-such-name.invalid/v1", KEY, "name of its address is not known (DNS)", False),
    "no web address": ("gopher://127.0.0.1/v1", KEY, "is not written as one", False),
    "no address": ("127.0.0.1:80", KEY, "is not written as one", False),
    "a key of two lines": ("http://127.0.0.1:9/v1", "one\ntwo", "is not written as one", False),
    "a key with an accent": ("http://127.0.0.1:9/v1", "clé", "is not written as one", False),
}


@pytest.mark.parametrize(("address", "key", "words", "again"), NOWHERE.values(), ids=NOWHERE.keys())
def test_a_server_that_is_not_there_is_told_by_its_cause(address, key, words, again):
    why = failure(address, key=key)
    assert isinstance(why, Unreachable) and words in str(why) and why.again is again


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Path:
    """A small authority, and certificates it signed: good, for another name, expired; and a self-signed one."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    def request(name: str, subject: str, *more: str) -> None:
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-subj", f"/CN={subject}", *more)

    request("ca", "Test authority", "-x509", "-out", "ca.pem", "-days", "9")
    request("self", "127.0.0.1", "-x509", "-out", "self.pem", "-days", "9", "-addext", "subjectAltName=IP:127.0.0.1")
    for name, alt, days in (
        ("good", "IP:127.0.0.1", "9"),
        ("other", "DNS:other.example", "9"),
        ("old", "IP:127.0.0.1", "-1"),
    ):
        request(name, "x", "-out", f"{name}.csr")
        (folder / "alt").write_text(f"subjectAltName={alt}")
        signed = ("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
        openssl(*signed, "-out", f"{name}.pem", "-days", days, "-extfile", "alt")
    return folder


@pytest.fixture
def trusting(certificates, monkeypatch):
    """This computer trusts the small authority."""
    plain = Wire.tls

    def tls(wire):
        context = plain(wire)
        context.load_verify_locations(certificates / "ca.pem")
        return context

    monkeypatch.setattr(Wire, "tls", tls)


def secure(certificates: Path, name: str) -> Scripted:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / f"{name}.pem", certificates / f"{name}.key")
    return Scripted(tls=context)


def test_a_server_with_a_good_certificate_is_heard(certificates, trusting):
    with secure(certificates, "good") as script:
        script.says("Hi").says("Ho")
        for word in ("Hi", "Ho"):
            assert next(ask(Server("x", script.address, KEY, "m"), HELLO)) == Text(word)


@pytest.mark.parametrize(
    ("name", "words"),
    [("self", "is self-signed"), ("other", "belongs to another name"), ("old", "has expired")],
)
def test_a_certificate_that_does_not_hold_is_never_overlooked(certificates, trusting, name, words):
    with secure(certificates, name) as script:
        why = failure(script.address)
        assert isinstance(why, Unreachable) and words in str(why) and not why.again
        assert not script.requests


def test_plain_http_where_tls_is_expected_is_said(script):
    why = failure(script.address.replace("http:", "https:"))
    assert isinstance(why, Unreachable) and "does not speak TLS" in str(why)
