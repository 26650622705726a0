"""TeX formulas as MathML, and which dollar signs are money."""

import re
from functools import lru_cache
from html import escape

import nh3
from latex2mathml import exceptions
from latex2mathml.converter import convert

LONGEST = 2_000  # characters of one formula
DEEPEST = 30  # braces within braces
BROKEN = (
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)),
    *(AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError, StopIteration),
)
MATHEMATICAL = re.compile(r"[\\^_=+<>{}|/]|^\s*-?\w['′]?\s*$|^\s*\w\([\w, ]*\)\s*$")
WORDS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{4,}")
NAMED = re.compile(r"\\[A-Za-z]+\s*\{[\w\s.,-]*\}")
TAGS = (
    "math mrow mi mn mo ms mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover "
    "mtable mtr mtd mstyle mpadded mphantom menclose"
)
SHAPE = (
    "display displaystyle mathvariant stretchy fence separator form columnalign columnspacing rowspacing "
    "columnlines rowlines linethickness accent minsize maxsize lspace rspace width height depth notation movablelimits"
)


@lru_cache(maxsize=512)
def mathml(source: str, display: bool = False) -> str:
    """The TeX SOURCE as MathML; as code, as it was written, when it is no formula we can draw."""
    drawn = CLEANER.clean(converted(source, "block" if display else "inline")) if drawable(source) else ""
    # One that stands by itself may be wider than the page: it scrolls, also by keys.
    drawn = drawn.replace('<math display="block">', '<math display="block" tabindex="0">', 1)
    return drawn if drawn.startswith("<math") else f"<code>{escape(source, quote=False)}</code>"


def converted(source: str, display: str) -> str:
    """The converter's MathML, not yet to be trusted; "" when it fails. It would let a tag of the source through."""
    try:
        return convert(source.replace("<", "< "), display=display)
    except BROKEN:
        return ""


def drawable(source: str) -> bool:
    """Whether SOURCE is short and flat enough to be converted."""
    depth = deepest = 0
    for character in source:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return len(source) <= LONGEST and deepest <= DEEPEST and source.count("\\left") <= DEEPEST


def mathematical(text: str) -> bool:
    """Whether TEXT between dollar signs is a formula; in doubt it is money or prose."""
    plain = NAMED.sub("", text)
    return bool(MATHEMATICAL.search(text)) and not WORDS.search(plain) and "**" not in text


CLEANER = nh3.Cleaner(tags=set(TAGS.split()), attributes={tag: set(SHAPE.split()) for tag in TAGS.split()})
