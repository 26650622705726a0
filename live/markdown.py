"""Markdown as models write it (CommonMark and GFM) as safe HTML, one piece for each top-level block."""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, list_block
from markdown_it.rules_block.table import escapedSplit
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from live.outline import Outline, below, shift
from live.renderer import Drawing, safe
from live.safe import destination
from live.syntax import install

ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
SHOWN = {code: chr(0x2400 + code) for code in range(1, 32) if code not in (9, 10, 13)}
SHOWN |= {0: "\ufffd", 127: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")


def normal(text: str) -> str:
    """TEXT with one kind of line end, no control characters and no half surrogates."""
    if not ODD.search(text):
        return text
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\r\n", "\n").replace("\r", "\n").translate(SHOWN)


@dataclass
class Known:
    """What the text before has defined: link references (label → its place and title) and footnote labels."""

    references: dict[str, dict] = field(default_factory=dict)
    footnotes: set[str] = field(default_factory=set)
    outline: Outline = ()

    def add(self, found: "Parsed", line: int) -> None:
        """What FOUND defines before LINE. The first definition of a label wins."""
        for label, reference in found.env["references"].items():
            if label not in self.references and reference["map"][1] <= line:
                self.references[label] = reference
        for block in found.blocks if found.env["footnotes"]["refs"] else ():
            opens = [token for token in block.tokens if token.type == "footnote_reference_open"]
            self.footnotes |= {":" + token.meta["label"] for token in opens if token.map[1] <= line}
        for block in found.blocks:
            if block.kind == "heading" and block.lines[1] <= line:
                self.outline = below(self.outline, block.tokens[0].meta["level"])


@dataclass
class Block:
    """One top-level block: its HTML around its parts (items of a list, rows of a table; else one), and where it is."""

    tokens: list[Token]
    lines: tuple[int, int]
    head: str = ""
    parts: list[str] = field(default_factory=list)
    foot: str = ""

    @property
    def kind(self) -> str:
        return self.tokens[0].type.removesuffix("_open")

    @property
    def html(self) -> str:
        return self.head + "".join(self.parts) + self.foot

    @property
    def starts(self) -> list[int]:
        """The lines on which its parts start."""
        opens, level = ("tr_open", 2) if self.is_table else ("list_item_open", self.level + 1)
        return [token.map[0] for token in self.tokens if token.type == opens and token.level == level][self.is_table :]

    @property
    def level(self) -> int:
        return self.tokens[0].level

    @property
    def inner(self) -> "Block | None":
        """The list that ends the last item of a list."""
        ends = [token.type for token in self.tokens[-3:]]
        if not self.is_list or ends[0] not in ("bullet_list_close", "ordered_list_close") or len(self.tokens) < 5:
            return None
        start = len(self.tokens) - 4
        while self.tokens[start].level > self.level + 2 or self.tokens[start].nesting < 1:
            start -= 1
        return Block(self.tokens[start:-2], (self.tokens[start].map[0], self.tokens[start].map[1]))

    @property
    def is_table(self) -> bool:
        return self.kind == "table"

    @property
    def columns(self) -> int:
        return sum(token.type == "th_open" for token in self.tokens)

    @property
    def is_list(self) -> bool:
        return self.kind in ("bullet_list", "ordered_list")

    @property
    def loose(self) -> bool | None:
        """Whether the list is loose (CommonMark 5.3); None when it has no paragraph that shows it."""
        level = self.level + 2
        return next((not t.hidden for t in self.tokens if t.type == "paragraph_open" and t.level == level), None)


@dataclass
class Parsed:
    blocks: list[Block]
    env: dict

    @property
    def pending(self) -> int:
        """The first line that may begin a formula once its end has come."""
        return self.env["pending"]


def parsed(text: str, known: Known, within: str = "", depth: int = 0) -> Parsed:
    """The blocks of normal TEXT, not drawn yet. WITHIN a "list", DEPTH levels down, it begins with a further item."""
    complete = text.count("\n")
    env = {"references": dict(known.references), "complete": complete, "pending": complete + 1, "depth": depth}
    env["footnotes"] = {"refs": dict.fromkeys(known.footnotes, -1), "list": {}}
    state = StateCore(text, MARKDOWN, env)
    block = StateBlock(text, MARKDOWN, env, state.tokens)
    env["lines"] = block.lineMax
    if within == "list":
        list_block(block, 0, block.lineMax, False)
    MARKDOWN.block.tokenize(block, block.line, block.lineMax)
    MARKDOWN.core.process(state)
    shift(state.tokens, known.outline)
    return Parsed(tops(state.tokens), env)


def loosen(block: Block, loose: bool) -> None:
    """Show the paragraphs of the list as those of a loose or a tight one."""
    for token in block.tokens:
        if token.level == block.level + 2 and token.type in ("paragraph_open", "paragraph_close"):
            token.hidden = not loose


def cells(row: str) -> int:
    """How many cells the line ROW of a table has."""
    found = escapedSplit(row.strip())
    return len(found) - (found[0] == "") - (len(found) > 1 and found[-1] == "")


def wrapped(key: str, html: str) -> str:
    return f'<div class="block" id="{key}" dir="auto">{html}</div>'


def tops(tokens: list[Token]) -> list[Block]:
    blocks, start = [], 0
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            first = tokens[start]
            blocks.append(Block(tokens[start : index + 1], (first.map[0], first.map[1])))
            start = index + 1
    return blocks


def draw(found: Parsed, final: bool = False) -> None:
    """Fill in the HTML of the blocks. FINAL also colours a fence that is open at the end."""
    found.env["final"] = final
    for block in found.blocks:
        if block.is_list:
            draw_list(block, found.env)
        elif block.is_table:
            draw_table(block, found.env)
        else:
            block.parts = [safe(block.tokens, found.env, MARKDOWN)]


def draw_list(block: Block, env: dict) -> None:
    opening, closing = block.tokens[0], block.tokens[-1]
    start = opening.attrs.get("start")
    block.head = f"<{opening.tag}>" if start is None else f'<{opening.tag} start="{start}">'
    block.foot = f"</{closing.tag}>"
    begin = 1
    for index, token in enumerate(block.tokens):
        if token.type == "list_item_close" and token.level == block.level + 1:
            block.parts.append(safe(block.tokens[begin : index + 1], env, MARKDOWN))
            begin = index + 1


def draw_table(block: Block, env: dict) -> None:
    html = safe(block.tokens, env, MARKDOWN)
    head, body, rows = html.partition("<tbody>")
    foot = "</table></div>"
    block.head = head + body if body else head.removesuffix(foot)
    block.parts = [row + "</tr>" for row in rows.split("</tr>")[:-1]]
    block.foot = f"</tbody>{foot}" if body else foot


def parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": 60, "xhtmlOut": False}, renderer_cls=Drawing)
    md.enable("strikethrough")
    install(md)
    md.add_render_rule("footnote_ref", Drawing.footnote_ref)
    md.core.ruler.disable(["normalize", "block"])
    md.validateLink = lambda url: bool(destination(url))
    return md


MARKDOWN = parser()
