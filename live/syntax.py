"""Our Markdown beyond and against CommonMark: limits, nested fences, formulas, bare addresses, tasks, footnotes."""

import re
from bisect import bisect_left
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, lheading, paragraph, reference, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from live.formula import LONGEST as LONGEST_FORMULA
from live.formula import mathematical

DEEPEST = 36  # levels of nesting; what is deeper shows as plain text
LONGEST_LINE = 16_000  # characters; a longer line shows as plain text
LONGEST_LEAF = 16_000  # characters of one paragraph, heading or cell; a longer one shows as plain text
LONGEST_PARAGRAPH = 8_000  # characters after which the next line begins another one
LONGEST_QUOTE = 16_000
MOST_MARKS = {"[": 200, "*": 600, "_": 600, "~": 600, "`": 600, "<": 300, "$": 600, "\\": 2_000, "&": 2_000}
MATH_LINES = 60  # lines of one display formula
FENCE = re.compile(r"(`{3,})([^`]*)|(~{3,})(.*)")
TASK = re.compile(r"\[([ xX])\](?=\s)")
ADDRESS = re.compile(r"://[^\s<>\[\]\"`|\\^{}]+")
SCHEME = re.compile(r"(?<![a-z0-9])https?$", re.IGNORECASE)


def install(md: MarkdownIt) -> None:
    """Add our rules to MD."""
    everywhere = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.use(footnote_plugin, inline=False, move_to_end=False)
    md.block.ruler.at("fence", fence, everywhere)
    md.block.ruler.before("table", "limit", limit)
    # A table's head is a paragraph first: a line that looks like another block is that block (GFM 4.10).
    md.block.ruler.before("lheading", "rows", table, {"alt": ["paragraph", "reference"]})
    md.block.ruler.disable("table")
    md.block.ruler.at("blockquote", bounded(blockquote, LONGEST_QUOTE), {"alt": everywhere["alt"]})
    for name, rule in (("lheading", lheading), ("reference", reference), ("paragraph", paragraph)):
        md.block.ruler.at(name, bounded(rule, LONGEST_PARAGRAPH))
    md.block.ruler.after("fence", "display", display, everywhere)
    md.inline.ruler.before("escape", "formula", formula)
    md.inline.ruler.after("text", "address", address)
    md.core.ruler.at("inline", inlines)
    md.core.ruler.push("tasks", tasks)
    md.core.ruler.push("notes", notes)


# Limits


def limit(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line that is too long or nested too deep is a plain paragraph."""
    deep = state.level + state.env["depth"] >= DEEPEST
    if silent or not (deep or state.eMarks[start] - state.bMarks[start] > LONGEST_LINE):
        return False
    line = start + 1
    while deep and line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    state.line = line
    state.push("paragraph_open", "p", 1).map = [start, line]
    token = state.push("inline", "", 0)
    token.content, token.map = state.getLines(start, line, state.blkIndent, False).strip(), [start, line]
    token.children, token.meta = [], {"plain": True}
    state.push("paragraph_close", "p", -1)
    return True


def bounded(rule: Callable[..., bool], longest: int) -> Callable[..., bool]:
    """RULE for a block that ends, at a line's end, when it is LONGEST characters long: its cost has a limit."""

    def within(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        whole = state.lineMax
        if not silent and state.bMarks[whole] - state.bMarks[start] > longest:
            line = bisect_left(state.bMarks, state.bMarks[start] + longest, start + 1, whole)
            state.lineMax = min(whole, line)
        try:
            return rule(state, start, min(end, state.lineMax), silent)
        finally:
            state.lineMax = whole

    return within


def inlines(state: StateCore) -> None:
    """Parse what is inside the leaves, or show it as plain text when that would take too long."""
    for token in state.tokens:
        if token.type == "inline" and ("plain" in token.meta or too_much(token.content)):
            token.children, token.meta = [text_of(token.content)], {"plain": True}
        elif token.type == "inline":
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def too_much(content: str) -> bool:
    if len(content) > LONGEST_LEAF:
        return True
    return len(content) > 200 and any(content.count(mark) > most for mark, most in MOST_MARKS.items())


def text_of(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token


# Fences


def fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A fence (CommonMark 4.5). Inside a Markdown fence, one that opens with a language nests."""
    opening = None if state.is_code_block(start) else FENCE.fullmatch(line_of(state, start))
    if not opening or silent:
        return bool(opening)
    marks, rest = opening[1] or opening[3], opening[2] if opening[1] else opening[4]
    line = closing_line(state, start, end, [marks], language(rest) in ("markdown", "md"))
    closed = line < end and not outside(state, line)
    token = state.push("fence", "code", 0)
    token.info, token.markup = rest, marks
    token.content = state.getLines(start + 1, line, state.sCount[start], True)
    token.meta = {"closed": closed, "indent": state.sCount[start], "base": state.blkIndent}
    state.line = line + closed
    token.map = [start, state.line]
    return True


def closing_line(state: StateBlock, start: int, end: int, open_marks: list[str], nests: bool) -> int:
    """The line that closes the fence, or that is outside of it, or END."""
    mark = open_marks[0][0]
    for line in range(start + 1, end):
        if outside(state, line):
            return line
        position = state.bMarks[line] + state.tShift[line]
        if state.src[position : position + 1] != mark or state.is_code_block(line):
            continue
        text = line_of(state, line)
        marks = text.rstrip(" \t")
        if marks == mark * len(marks) and len(marks) >= len(open_marks[-1]):
            open_marks.pop()
            if not open_marks:
                return line
        elif nests and (inner := FENCE.fullmatch(text)) and language(inner[2] or inner[4] or ""):
            open_marks.append(inner[1] or inner[3])
    return end


def outside(state: StateBlock, line: int) -> bool:
    """Whether LINE is indented less than the container of the block that is parsed."""
    return not state.isEmpty(line) and state.sCount[line] < state.blkIndent


def language(info: str) -> str:
    return (info.split(None, 1) or [""])[0].lower()


def line_of(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


# Formulas


def display(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""Lines from `\[` to a line that ends with `\]` (or `$$` to `$$`), no empty line between, are one formula."""
    opening = line_of(state, start)[:2]
    close = {"\\[": "\\]", "$$": "$$"}.get(opening)
    if not close or state.is_code_block(start):
        return False
    for line in range(start, min(end, start + MATH_LINES)):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        text = line_of(state, line)[2 if line == start else 0 :].rstrip()
        if line > start and text.startswith(opening) and opening != close:
            return False
        if close in text:
            wait(state, start, line >= state.env["complete"])
            return text.index(close) == len(text) - 2 and push_display(state, start, line + 1, silent)
    wait(state, start, line + 1 == state.env["lines"])
    return False


def wait(state: StateBlock, start: int, unsure: bool) -> None:
    """Note that more text may still decide whether a formula begins at the line START."""
    if unsure:
        state.env["pending"] = min(state.env["pending"], start)


def push_display(state: StateBlock, start: int, line: int, silent: bool) -> bool:
    source = state.getLines(start, line, state.blkIndent, False).strip()[2:-2].strip()
    if not source or len(source) > LONGEST_FORMULA or (line_of(state, start)[0] == "$" and not mathematical(source)):
        return False
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.map, token.meta = source, [start, line], {"display": True}
        state.line = line
    return True


def formula(state: StateInline, silent: bool) -> bool:
    r"""`\(…\)`, `\[…\]`, `$$…$$` and `$…$`, the last two only where they cannot be money."""
    found = bracketed(state) if state.src[state.pos] == "\\" else dollared(state)
    if not found:
        return False
    opening, source = found
    if not silent:
        token = state.push("formula", "", 0)
        token.content, token.meta = source.strip(), {"display": opening in ("\\[", "$$")}
    state.pos += len(source) + 2 * len(opening)
    return True


def bracketed(state: StateInline) -> tuple[str, str] | None:
    opening = state.src[state.pos : state.pos + 2]
    close = {"\\(": "\\)", "\\[": "\\]"}.get(opening)
    start = state.pos + 2
    end = state.src.find(close, start, min(state.posMax, start + LONGEST_FORMULA)) if close else -1
    return (opening, state.src[start:end]) if end > start and state.src[start:end].strip() else None


def dollared(state: StateInline) -> tuple[str, str] | None:
    source, position = state.src, state.pos
    if source[position] != "$" or source[position - 1 : position].isalnum():
        return None
    opening = "$$" if source.startswith("$$", position) else "$"
    start = position + len(opening)
    end = source.find(opening, start, min(state.posMax, start + LONGEST_FORMULA))
    text, after = source[start:end], source[end + len(opening) : end + len(opening) + 1]
    if end <= start or after.isalnum() or after == "$" or not mathematical(text) or "$" in text:
        return None
    return None if opening == "$" and text != text.strip() else (opening, text)


# Addresses


def address(state: StateInline, silent: bool) -> bool:
    """A bare http(s) address is a link (GFM 6.9, with its rules for the punctuation at the end)."""
    found = ADDRESS.match(state.src, state.pos, state.posMax) if state.src[state.pos] == ":" else None
    scheme = SCHEME.search(state.src, max(0, state.pos - 6), state.pos) if found and not state.linkLevel else None
    if not scheme:
        return False
    rest = without_end(found[0])
    href = state.md.normalizeLink(scheme[0] + rest)
    if not state.md.validateLink(href):
        return False
    if not silent:
        if not state.pending.endswith(scheme[0]):
            return False
        state.pending = state.pending[: -len(scheme[0])]
        push_link(state, href, state.md.normalizeLinkText(scheme[0] + rest))
    state.pos += len(rest)
    return True


def push_link(state: StateInline, href: str, text: str) -> None:
    state.push("link_open", "a", 1).attrs = {"href": href}
    state.push("text", "", 0).content = text
    state.push("link_close", "a", -1)


def without_end(url: str) -> str:
    """URL without the punctuation that ends the sentence around it."""
    surplus = url.count(")") - url.count("(")
    end = len(url)
    while end and (url[end - 1] in "?!.,:;*_~'" or (url[end - 1] == ")" and surplus > 0)):
        surplus -= url[end - 1] == ")"
        end -= 1
    return url[:end]


# Tasks and footnotes


def tasks(state: StateCore) -> None:
    """`[ ]` and `[x]` at the start of a list item become a glyph, and the item a task."""
    for item, _, leaf in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if item.type == "list_item_open" and leaf.type == "inline" and leaf.children:
            first = leaf.children[0]
            if first.type == "text" and (found := TASK.match(first.content)):
                item.meta = {"task": True}
                first.content = ("☐" if found[1] == " " else "☑") + first.content[3:]


def notes(state: StateCore) -> None:
    """A footnote stays where it is written and begins with its label."""
    for opening, first, leaf in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if opening.type == "footnote_reference_open":
            label = Token("footnote_label", "", 0)
            label.content = opening.meta["label"]
            if first.type == "paragraph_open":
                leaf.children = [label, text_of(" "), *(leaf.children or [])]
            else:
                opening.children = [label]
