"""Code in colours: Pygments' token classes, for the languages we know and texts that are not too long."""

from functools import lru_cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

LONGEST = 40_000  # characters; more stays plain, about 0.15 s of colouring
LONGEST_LINE = 2_000  # characters; lexers may need the square of a line


@lru_cache(maxsize=32)
def coloured(code: str, language: str) -> str:
    """CODE as HTML: text and spans with Pygments' short classes; plain text when LANGUAGE is unknown."""
    lexer = lexer_of(language)
    if not lexer or len(code) > LONGEST or max(map(len, code.split("\n"))) > LONGEST_LINE:
        return escape(code, quote=False)
    parts = []
    last, run = "", []
    for kind, text in lexer.get_tokens(code):
        name = short(kind)
        if name != last:
            parts.append(spanned(last, run))
            last, run = name, []
        run.append(text)
    return "".join([*parts, spanned(last, run)])


@lru_cache(maxsize=256)
def lexer_of(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None


def short(kind: type[Token]) -> str:
    """The short class of a token kind; "" for plain text."""
    while kind not in STANDARD_TYPES:
        kind = kind.parent
    return STANDARD_TYPES[kind]


def spanned(name: str, run: list[str]) -> str:
    text = escape("".join(run), quote=False)
    return f'<span class="{name}">{text}</span>' if name and text.strip() else text
