"""The last leaf of a growing text: what it takes as it stands, so that nothing need be parsed again.

Each `taken(more)` gives the HTML that joins the end of the leaf, or None when MORE has to be parsed. A leaf is careful:
it takes only what no rule of Markdown can see differently, and it changes only when it takes.
"""

import re
from html import escape

from live.markdown import Block, Parsed, Token
from live.safe import visible
from live.syntax import LONGEST_LEAF, LONGEST_LINE, TASK

# No character here begins, ends or changes anything within a line that is already a paragraph's.
NARROW = re.compile(r"(?:[^\W_]|[ .,:'\"?!(%@{}=+\-‘’“”„–—…€£°·•→])+")
# Nor do these, while no link, escape, character reference or autolink is open.
WIDE = re.compile(r"(?:[^\W_]|[ .,:'\"?!(%@{}=+\-‘’“”„–—…€£°·•→);>])+")
ROW = re.compile(r" {0,3}\|[^\\`]*\Z")
LETTER = re.compile(r"[^\W\d_]")
UNBROKEN = re.compile(r"[^\n\t\x00-\x1f\xa0\u2000-\u200a\u2028\u2029]+")


class Prose:
    """A paragraph, heading or table cell (EMPTY at first) that grows by plain words; its BLANKS do not show yet."""

    def __init__(self, takes: re.Pattern[str], blanks: int, room: int, empty: bool = False) -> None:
        self.takes, self.blanks, self.room, self.empty = takes, blanks, room, empty

    def taken(self, more: str) -> str | None:
        if len(more) > self.room or not self.takes.fullmatch(more):
            return None
        self.room -= len(more)
        words = more.rstrip(" ")
        if not words:
            self.blanks += len(more)
            return ""
        before = " " * self.blanks
        self.blanks = len(more) - len(words)
        fresh = words.lstrip(" ") if self.empty else before + words
        self.empty = False
        return escape(fresh, quote=False)


class Code:
    """An open fence, indented by INDENT in a list whose items are indented by BASE, that grows by lines of code."""

    def __init__(self, indent: int, base: int, line: str) -> None:
        self.indent, self.base = indent, base
        self.blank = " \t" if not indent else " "
        self.shown = bool(line.strip(self.blank))
        self.held = "" if self.shown else line

    def taken(self, more: str) -> str | None:
        lines = (self.held + more).split("\n")
        begun = [] if not self.shown else [lines[0]]
        fresh = [self.line(line) for line in lines[len(begun) :]]
        if None in fresh:
            return None
        last = lines[-1]
        if len(lines) > 1 or not self.shown:
            self.shown = bool(last.strip(self.blank))
            self.held = "" if self.shown else last
            if not self.shown:
                fresh[-1] = ""
        return escape(visible("\n".join(begun + fresh)), quote=False)

    def line(self, line: str) -> str | None:
        """LINE of the source as it shows; None when it may end the fence or its container."""
        code = line.lstrip(self.blank)
        if not code:
            return line[self.indent :]
        indent = len(line) - len(code)
        if code[0] in "`~\t" or indent < self.base:
            return None
        return line[min(self.indent, indent) :]


def leaf_of(found: Parsed, text: str, html: str, indent: int) -> tuple[Prose | Code | None, str]:
    """The last leaf of FOUND at the end of TEXT, and the closing tags after it.

    HTML is what shows of its block. The lines of TEXT have INDENT more columns than those that were parsed.
    """
    # While a formula may have begun, any line may end it.
    waits = found.pending <= text.count("\n")
    block = found.blocks[-1]
    if block.is_table:
        return cell(block, text, html)
    index = len(block.tokens) - 1
    while index and block.tokens[index].nesting == -1:
        index -= 1
    last, after = block.tokens[index], block.tokens[index + 1 :]
    closing = "".join(f"</{token.tag}>" for token in after if token.tag and not token.hidden)
    if last.type == "inline" and last.map and after[0].type in ("paragraph_close", "heading_close"):
        plain = "plain" in last.meta
        return None if plain and (waits or after[0].tag != "p") else prose(last, text, plain), closing
    if last.type == "fence" and not (waits or last.meta["closed"]):
        leaf = code(last, text, indent) if all(token.tag in ("li", "ul", "ol") for token in after) else None
        return leaf, "</code></pre></figure>" + closing
    return None, ""


def cell(block: Block, text: str, html: str) -> tuple[Prose | None, str]:
    """The cell in which the last row of a table grows; the row begins with a bar and holds no code or escapes."""
    line = text[text.rfind("\n") + 1 :]
    index = line.count("|") - 1
    if not ROW.match(line) or not block.parts or index >= block.columns:
        return None, ""
    content = line[line.rfind("|") + 1 :]
    shown = content.rstrip(" ")
    takes = NARROW if any(mark in content for mark in "[\\&<") else WIDE
    if shown and not (shown != content or settled(shown, takes)):
        return None, ""
    at = html.rfind("<tr>")
    for _ in range(index + 1):
        at = html.index("</td>", at) + 5
    end = html[at - 5 :]
    leaf = Prose(takes, len(content) - len(shown), LONGEST_LINE - len(line) - 1, empty=not shown.strip(" "))
    return leaf, end.removesuffix("</div>")


def prose(inline: Token, text: str, plain: bool) -> Prose | None:
    content, shown = inline.content, text.rstrip(" ")
    line = content[content.rfind("\n") + 1 :]
    if not line or not shown.endswith(line) or inline.map[1] != text.count("\n") + 1:
        return None
    blanks = len(text) - len(shown)
    if plain:
        return Prose(UNBROKEN, blanks, 1 << 40)
    takes = NARROW if any(mark in content for mark in "[\\&<") else WIDE
    if not certain(content, line, text) or not (blanks or settled(shown, takes)):
        return None
    room = min(LONGEST_LEAF - len(content), LONGEST_LINE - len(text) + text.rfind("\n"))
    return Prose(takes, blanks, room - blanks - 1)


def certain(content: str, line: str, text: str) -> bool:
    """Whether the last LINE of a leaf can only be text, and its CONTENT no reference definition (CommonMark 4.7)."""
    if content[0] in "\"'(" and "]:" in text:
        return False
    return bool(LETTER.search(line)) and (content[0] != "[" or bool(TASK.match(content) and len(content) > 4))


def settled(shown: str, takes: re.Pattern[str]) -> bool:
    """Whether the last word is text in any case: it ends plainly and is no address."""
    return bool(takes.fullmatch(shown[-1])) and "//" not in shown[-2_000:].split(" ")[-1]


def code(fence: Token, text: str, outside: int) -> Code | None:
    line = text[text.rfind("\n") + 1 :]
    indent, base = fence.meta["indent"] + outside, fence.meta["base"] + outside
    marked = line.lstrip(" \t")[:1] in ("`", "~")
    if fence.map[0] >= text.count("\n") or marked or ("\t" in line and indent):
        return None
    if line.strip() and not fence.content.endswith(line.lstrip(" ")):
        return None
    return Code(indent, base, line)
