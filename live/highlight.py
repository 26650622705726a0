"""Code in colours: Pygments' token classes, for languages that it knows and code that is not too long or too odd."""

import re
import time
import zlib
from functools import lru_cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

LONGEST = 24_000  # characters; more stays plain
LONGEST_LINE = 2_000  # characters
LONGEST_TIME = 0.4  # seconds of computing, a last resort against code made to be slow (CVE-2021-20270)
SHORT = 1_000  # characters; so little is never slow
# Lexers take the square of the length of words without punctuation, of blanks, and of one thing said again and again.
WORDS = re.compile(r"[\w\s$.]{1000}")
MOST_ALIKE = 40  # times smaller when compressed


@lru_cache(maxsize=32)
def coloured(code: str, language: str) -> str:
    """CODE as HTML: text and spans with Pygments' short classes; plain text when LANGUAGE is not known."""
    lexer = lexer_of(language)
    spans = drawn(lexer, code) if lexer and harmless(code) else None
    return escape(code, quote=False) if spans is None else spans


@lru_cache(maxsize=256)
def lexer_of(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None


def harmless(code: str) -> bool:
    """Whether CODE will be coloured in a short time."""
    if len(code) <= SHORT:
        return True
    if len(code) > LONGEST or max(map(len, code.split("\n"))) > LONGEST_LINE or WORDS.search(code):
        return False
    return len(code) <= MOST_ALIKE * len(zlib.compress(code.encode("utf-8"), 1))


def drawn(lexer: Lexer, code: str) -> str | None:
    """The tokens of CODE as spans, neighbours of one class joined; None when it takes too long."""
    parts: list[str] = []
    last, run, end = "", [], time.thread_time() + LONGEST_TIME
    for kind, text in lexer.get_tokens(code):
        name = short(kind)
        if name != last:
            if not len(parts) % 64 and time.thread_time() > end:
                return None
            parts.append(spanned(last, run))
            last, run = name, []
        run.append(text)
    return "".join([*parts, spanned(last, run)])


def short(kind: type[Token]) -> str:
    """The short class of a token kind; "" for plain text."""
    while kind not in STANDARD_TYPES:
        kind = kind.parent
    return STANDARD_TYPES[kind]


def spanned(name: str, run: list[str]) -> str:
    text = escape("".join(run), quote=False)
    return f'<span class="{name}">{text}</span>' if name and text.strip() else text
