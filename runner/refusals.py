"""Failures in words: who failed, why, and what to do."""

import html
import re
import socket
import ssl
import time
import unicodedata
from collections.abc import Mapping

import orjson

from runner.pieces import Busy, Cut, Failure, Filtered, Garbage, Refused, Server, Silent, Unreachable
from runner.retries import retry_after

WORDS = 500  # characters of a server's own words that are kept

REFUSED = {
    400: ("did not accept the request", "Try another model, or look at the assistant's settings."),
    401: ("did not accept the key", "Check the key in the settings."),
    402: ("asks for payment first", "Top up the account there, or choose another model."),
    403: ("does not let this key use the model", "Check the key's rights there, or choose another model."),
    404: (
        "does not know the model, or is not at this address",
        "Check the model's name and the address in the settings.",
    ),
    405: ("has nothing to talk with at this address", "Check the address in the settings; it usually ends in /v1."),
    413: ("found the message too large", "Send less text or fewer files."),
    422: ("did not accept the request", "Try another model, or look at the assistant's settings."),
}
LONG = re.compile(r"context.{0,20}(length|window|size|limit)|maximum context|prompt is too long|too many tokens", re.I)
FILTER = re.compile(r"content[_ ]?(filter|policy|management)|responsible.?ai|safety (system|polic)", re.I)
QUOTA = re.compile(r"insufficient[_ ]quota|exceeded your current quota|billing|credit balance|out of credits", re.I)
BUSY = re.compile(
    r"rate[_ -]?limit|too many requests|overloaded|server_error|internal|unavailable|timeout|bad gateway", re.I
)
LATER = {408, 409, 423, 425, 429}


def refused(server: Server, status: int, headers: Mapping[str, str], body: bytes) -> Failure:
    """What an HTTP error means."""
    told = parsed(body)
    words = cleaned(words_in(told) or ("" if told in ({}, []) else readable(body)), server.key)
    return judged(server, status, f"{words} {code_in(told)}", words, retry_after(headers, told, time.time()))


def failed(server: Server, chunk: object) -> Failure:
    """What an error in the middle of a stream, or in a 200, means."""
    words = cleaned(words_in(chunk), server.key)
    code = code_in(chunk)
    number = next((int(part) for part in code.split() if part.isdigit() and 400 <= int(part) < 600), 0)
    if not number and BUSY.search(f"{words} {code}"):
        number = 503
    return judged(server, number, f"{words} {code}", words, retry_after({}, chunk, time.time()))


def judged(server: Server, status: int, text: str, words: str, wait: float | None) -> Failure:
    shown = f"{status}: “{words}”" if status and words else f"“{words}”" if words else str(status or "no reason given")
    if FILTER.search(text):
        why, advice = "stopped this with its content filter", "Say it in another way, or choose another model."
        return Filtered(server.name, f"It {why} ({shown}).", advice, words=words)
    if status == 429 and QUOTA.search(text):
        why, advice = REFUSED[402]
        return Refused(server.name, f"It {why} ({shown}).", advice, words=words, status=status)
    if status in LATER or status >= 500:
        why = "is asked too much right now" if status == 429 else "has trouble right now"
        return Busy(server.name, f"It {why} ({shown}).", "Try again in a moment.", words=words, again=True, wait=wait)
    if LONG.search(text):
        why, advice = (
            "found the conversation too long for this model",
            "Choose a model with a larger window, or begin anew.",
        )
        return Refused(server.name, f"It {why} ({shown}).", advice, words=words, status=status, long=True)
    if 300 <= status < 400:
        why, advice = "sends requests on to another address", "Put the address it names in the settings."
    else:
        why, advice = REFUSED.get(status, ("did not answer the request", "Try again, or choose another model."))
    return Refused(server.name, f"It {why} ({shown}).", advice, words=words, status=status)


def unreachable(server: Server, why: BaseException) -> Failure:
    """Why no connection came about, from the error of the socket, of TLS or of the name look-up below WHY."""
    cause = next((found for error in chain(why) if (found := cause_of(error))), "could not be reached")
    words = cleaned(str(why), server.key)
    again = any(isinstance(error, (ConnectionRefusedError, ConnectionResetError)) for error in chain(why))
    return Unreachable(server.name, f"It {cause}.", "Check the address, and that it runs.", words=words, again=again)


def misnamed(server: Server) -> Failure:
    advice = "Check both in the settings: an address begins with http:// or https://, a key is one word."
    return Unreachable(server.name, "It could not be asked: its address or its key is not written as one.", advice)


def chain(error: BaseException | None) -> list[BaseException]:
    found = []
    while error and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def cause_of(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return certificate(error)
    if isinstance(error, ssl.SSLError):
        return "does not speak TLS as https needs it"
    if isinstance(error, socket.gaierror):
        return "could not be found: the name of its address is not known (DNS)"
    if isinstance(error, ConnectionRefusedError):
        return "is not there: nothing listens at its address (connection refused)"
    if isinstance(error, TimeoutError):
        return "could not be reached in time: its address does not answer"
    if isinstance(error, OSError) and error.errno in (101, 113):
        return "could not be reached: there is no way to its network"
    return ""


def certificate(error: ssl.SSLCertVerificationError) -> str:
    words = error.verify_message or str(error)
    for sign, meaning in (
        ("expired", "has expired"),
        ("not yet valid", "is not valid yet"),
        ("self", "is self-signed, so nobody vouches for it"),
        ("ostname", "belongs to another name"),
        ("IP address", "belongs to another name"),
        ("issuer", "is signed by nobody this computer trusts"),
    ):
        if sign in words:
            return f"was not trusted: its certificate {meaning} (TLS)"
    return f"was not trusted: its certificate does not hold ({words})"


def silent(server: Server, words: str) -> Failure:
    """Never tried again by itself: the server may still be at work, and a second request is paid for too."""
    return Silent(server.name, f"It {words}.", "Try again, or choose another model.")


def cut(server: Server, words: str = "", *, again: bool = False) -> Failure:
    """AGAIN where not even the head of an answer came, as when a kept connection was just being closed."""
    why = "It broke off: the connection ended before the answer did."
    return Cut(server.name, why, "Try again.", words=cleaned(words, server.key), again=again)


def garbage(server: Server, body: bytes, why: str = "sent something that is no answer of a model") -> Failure:
    """BODY is the beginning of what came."""
    words = cleaned(readable(body[:4000]), server.key)
    shown = f": “{words[:200]}”" if words else ""
    return Garbage(
        server.name, f"It {why}{shown}.", "Check the address in the settings; it usually ends in /v1.", words=words
    )


def parsed(body: bytes) -> object:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def words_in(told: object) -> str:
    """The message of an error, wherever servers put it."""
    if isinstance(told, str):
        return told
    if isinstance(told, list):
        return "; ".join(filter(None, map(words_in, told)))
    if isinstance(told, dict):
        names = ("error", "message", "msg", "detail", "details", "error_msg", "errors", "reason")
        own = next((words for name in names if (words := words_in(told.get(name)))), "")
        raw = told.get("metadata")
        inner = words_in(raw.get("raw")) if isinstance(raw, dict) else ""
        return f"{own}: {inner}" if inner and inner not in own else own
    return ""


def code_in(told: object) -> str:
    """The codes and types of an error, as one text."""
    if isinstance(told, list):
        return " ".join(map(code_in, told))
    if not isinstance(told, dict):
        return ""
    own = [str(told[n]) for n in ("code", "type", "status", "param") if isinstance(told.get(n), (str, int))]
    return " ".join([*own, *(code_in(told.get(n)) for n in ("error", "innererror", "detail"))])


def readable(body: bytes) -> str:
    """The text of a body that is no JSON: of a page, its title and words."""
    text = body.decode("utf-8", "replace")
    if "<" in text:
        text = re.sub(r"(?is)<(script|style)\b.*?(</\1>|$)|<[^>]*>", " ", text)
        text = html.unescape(text)
    return text


def cleaned(text: str, key: str) -> str:
    """TEXT on one line, without control characters and without the KEY, at most WORDS characters."""
    text = text.replace(key, "•••") if len(key) > 3 else text
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Cf", "Zl", "Zp") else c for c in text[: WORDS * 20])
    text = " ".join(text.split())
    return text if len(text) <= WORDS else text[: WORDS - 1] + "…"
