"""Words: how a text is spelled for the index, what a person asks it, and where the words stand in a text.

Where words have spaces between them, the tokenizer of the index finds them. Chinese, Japanese, Korean, Thai, Lao,
Burmese and Khmer become overlapping pairs of characters, 東京都 is 東京 京都 都, so that a word of any length is found,
also one of two characters or of one (SQLite's own `trigram` finds nothing below three).
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Self

THAI, BURMESE, KHMER = "\u0e00-\u0eff", "\u1000-\u109f", "\u1780-\u17ff"  # (with Lao)
CHINESE, JAPANESE, KOREAN = (
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "\u3005-\u3007\u3040-\u30ff",
    "\uac00-\ud7af",
)
SPACELESS = THAI + BURMESE + KHMER + CHINESE + JAPANESE + KOREAN
RUN = re.compile(f"[{SPACELESS}]+(?:[*]+[{SPACELESS}]+)*")  # (the stars of Markdown do not cut a word)
MARKS = "\u0300-\u036f\u0483-\u05c7\u0610-\u06ed\u0900-\u0dff"  # accents, points and vowel signs
WORD = re.compile(rf"(?:[^\W_]|[{MARKS}{SPACELESS}])+")
PIECE = re.compile(r'(-?)"([^"]*)("?)|(\S+)')
QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "–": "-", "−": "-"})
LONGEST = 300  # characters of a query that are read
MOST = 16  # terms of a query that are read
BEGINNING = 3  # letters from which on the last word may be the beginning of one
# fmt: off
STOP = frozenset((
    "a an and are as at be but by for from how i in is it of on or that the this to was what when where which who why "
    "with you your der das den dem ein eine und oder ist nicht mit von zu wie le la les un une et est du des de que "
    "el los las una y en es il lo di che per o os da do em het een van"
).split())
# fmt: on


def spelled(text: str) -> str:
    """TEXT as the index reads it."""
    text = unicodedata.normalize("NFC", text).replace("\0", " ")
    return text if text.isascii() else RUN.sub(pairs, text)


def pairs(run: re.Match) -> str:
    signs = run[0].replace("*", "")
    return " " + " ".join(signs[at : at + 2] for at in range(len(signs))) + " "


class Folding(dict):
    """Each character without case and, as in the index, without a Latin accent; a text keeps its length."""

    def __missing__(self, code: int) -> int:
        latin = code < 0x250 or 0x1E00 <= code < 0x1F00
        plain = unicodedata.normalize("NFD", chr(code))[0] if latin else chr(code)
        self[code] = ord(plain.lower()[0])
        return self[code]


FOLDING = Folding()


def folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(FOLDING)


@dataclass(frozen=True)
class Term:
    """Words that stand beside one another; the last one may be only the BEGUN part of one."""

    words: tuple[str, ...]
    begun: bool = False
    quoted: bool = False

    @classmethod
    def of(cls, text: str, quoted: bool = False, typed: bool = False) -> Self:
        """The term TEXT; TYPED: somebody is still writing it."""
        words = WORD.findall(folded(text))
        begun = typed and bool(words) and len(words[-1]) >= BEGINNING and not RUN.search(words[-1])
        return cls(tuple(words), begun, quoted)

    @property
    def expression(self) -> str:
        """The term in the language of FTS5. (A pair follows each character of a run, but not the last of the term.)"""
        found, begun = spelled(" ".join(self.words)).split(), self.begun
        if RUN.fullmatch(found[-1]) and len(found[-1]) == 1:
            if len(found) > 1 and RUN.fullmatch(found[-2]) and found[-2].endswith(found[-1]):
                found.pop()
            else:
                begun = True
        return '"' + " ".join(found) + '"' + (" *" if begun else "")

    def pattern(self, letter: str, other: str) -> str:
        """The term as a regular expression for folded text; LETTER and OTHER match what is one and what is not."""
        inner = f"{other}{{0,6}}?".join(RUN.sub(starred, word) for word in self.words)
        before = "" if RUN.match(self.words[0]) else f"(?<!{letter})"
        after = "" if self.begun or RUN.search(self.words[-1][-1]) else f"(?!{letter})"
        return before + inner + after


def starred(run: re.Match) -> str:
    return "[*]*".join(run[0])


@dataclass(frozen=True)
class Query:
    """What a person asks for: terms that must be there and terms that must not."""

    wanted: tuple[Term, ...]
    unwanted: tuple[Term, ...] = ()

    @classmethod
    def of(cls, text: str) -> Self:
        """The query a person typed: words, "words in a row", -without. Nothing in it is an error."""
        text = unicodedata.normalize("NFC", text[:LONGEST].encode(errors="replace").decode()).translate(QUOTES)
        wanted, unwanted = [], []
        for found in list(PIECE.finditer(text))[:MOST]:
            bare, typed = found[4] or "", found.end() == len(text)
            minus = (found[1] or bare[:1]) == "-"
            term = Term.of(bare.lstrip("-") or found[2] or "", not bare, typed and found[3] != '"' and not minus)
            if term.words:
                (unwanted if minus else wanted).append(term)
        telling = [term for term in wanted if term.quoted or not STOP.issuperset(term.words)]
        return cls(tuple(telling or wanted), tuple(unwanted))

    def __bool__(self) -> bool:
        return bool(self.wanted)

    @property
    def expression(self) -> str:
        """The query in the language of FTS5, in brackets."""
        wanted = " AND ".join(term.expression for term in self.wanted)
        return "(" + " NOT ".join([f"({wanted})", *(term.expression for term in self.unwanted)]) + ")"

    def script_pattern(self) -> str:
        """What finds the words in a page: JavaScript, with the flag v."""
        letter = r"[\p{L}\p{N}]--[" + SPACELESS + "]"
        return self.any_of(f"[{letter}]", f"[^{letter}]")

    @cached_property
    def pattern(self) -> re.Pattern:
        return re.compile(self.any_of(rf"[^\W_{SPACELESS}]", rf"[\W_{SPACELESS}]"))

    def any_of(self, letter: str, other: str) -> str:
        longest_first = sorted(self.wanted, key=lambda term: -len("".join(term.words)))
        return "|".join(term.pattern(letter, other) for term in longest_first)


BEFORE, AFTER = 60, 220  # characters shown before and after the first word that was found
MARKDOWN = re.compile(r"[*`#|]+|^\s*(?:[-+>]\s+)+|\]\([^)\s]*\)|!?\[", re.MULTILINE)

Part = tuple[str, bool]


def surroundings(text: str, query: Query) -> list[Part]:
    """What stands around the first words in TEXT that QUERY asks for: (text, whether it was asked for), in order."""
    text = unicodedata.normalize("NFC", text)
    low = folded(text)
    first = query.pattern.search(low)
    at = first.start() if first else 0
    start = text.rfind(" ", max(0, at - BEFORE - 20), max(0, at - BEFORE)) + 1 if at > BEFORE else 0
    start = start or max(0, at - BEFORE)
    end = min(len(text), start + BEFORE + AFTER)
    end = end if end == len(text) else max(text.rfind(" ", start, end), start + BEFORE + AFTER - 20)
    parts, here = [("… ", False)] if start else [], start
    for found in query.pattern.finditer(low, start, end):
        parts += [(plain(text[here : found.start()]), False), (plain(text[found.start() : found.end()]), True)]
        here = found.end()
    return [part for part in (*parts, (plain(text[here:end]) + (" …" if end < len(text) else ""), False)) if part[0]]


def plain(markdown: str) -> str:
    """MARKDOWN without its signs, in one line."""
    return re.sub(r"\s+", " ", MARKDOWN.sub("", markdown))
