"""A long list or table that still grows: its first parts are settled, and are neither parsed nor compared again."""

import re
from dataclasses import dataclass, field

from live.markdown import Block, Known, Parsed, cells, draw_list, loosen, parsed
from live.patch import opened_at

EMPTY_LINE = re.compile(r"\n[ \t]*\n")
DECIDED = re.compile(r"[^\W\d_]| {0,3}(?:[-+*]|\d{1,9}[.)]) .*[^\W_]")
MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)]) {1,4}(?=[^ ])")
MOST_MISSING = 0x10000  # cells that a table's rows may leave out before it ends (markdown-it's limit)
DEEPEST = 8  # lists within lists whose parts are settled by themselves


@dataclass
class Long:
    """The settled parts, the living ones, and what is around them."""

    within: str  # "list" or "table"
    head: str
    foot: str
    place: str  # the selector of the element with the parts, after that of the block
    outer: "Long | None" = None  # the list whose last living item ends with this one
    indent: int = 0  # columns before its lines in the text
    depth: int = 0
    lead: str = ""  # two lines that make a table of the rows that follow
    columns: int = 0
    missing: int = 0  # cells that the settled rows leave out
    loose: bool = False  # how the list's paragraphs show
    loosened: bool = False  # whether the settled items alone make the list loose
    sources: list[str] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)

    @property
    def html(self) -> str:
        return "".join([self.head, *self.settled, *self.live, self.foot])

    @property
    def whole(self) -> str:
        """The HTML of the block that it is in."""
        html, long = self.html, self
        while long.outer:
            long = long.outer
            html = "".join([long.head, *long.settled, *long.live, html, long.foot])
        return html

    def source(self, tail: str) -> str:
        """Its text, which ends with TAIL."""
        return "".join([*self.sources, tail])

    def read(self, tail: str, known: Known) -> Parsed | None:
        """What TAIL means, if it goes on with it and leaves its settled parts as they show."""
        lines = self.lines(tail)
        if lines is None:
            return None
        text = "\n".join(lines)
        found = parsed(text, known, self.within, self.depth)
        alone = not self.indent or (len(found.blocks) == 1 and found.blocks[0].is_list)
        return found if alone and self.agrees(found.blocks[0], text) else None

    def lines(self, tail: str) -> list[str] | None:
        """The lines of TAIL as if it stood alone; None when one of them is outside of the item that it is in."""
        if not self.indent:
            return (self.lead + tail).split("\n")
        lines = tail.split("\n")
        inside = "\t" not in tail and not any(line[: self.indent].strip(" ") for line in lines)
        return [line[self.indent :] for line in lines] if inside else None

    def agrees(self, more: Block, text: str) -> bool:
        """Whether MORE of it, from TEXT, leaves the settled parts as they show; then it shows as they do."""
        if self.within == "table":
            return self.missing + self.lacking(text.split("\n")[2:]) <= MOST_MISSING
        if more.loose is None and EMPTY_LINE.search(text):
            return False
        alike = (self.loosened or bool(more.loose)) == self.loose
        loosen(more, self.loose)
        return alike

    def lacking(self, rows: list[str]) -> int:
        return sum(max(0, self.columns - cells(row)) for row in rows)

    def take(self, parts: list[str], count: int, lines: list[str]) -> None:
        """COUNT of the living PARTS, whose source is LINES, are settled."""
        self.sources.append("\n".join(lines) + "\n")
        self.missing += self.lacking(lines)
        self.settled += parts[:count]
        self.live = parts[count:]


def settling(block: Block, lines: list[str], pending: int) -> tuple[int, int]:
    """How many parts of BLOCK no more text can change, and the line after them. The last of LINES has not ended."""
    complete = len(lines) - 1
    sure = [s for s in block.starts if (s < complete or block.is_list and decided(lines[s])) and s <= pending]
    if block.is_list:
        return (len(sure) - 1, sure[-1]) if len(sure) > 1 else (0, 0)
    sure = [start for start in sure if start < pending]
    return (len(sure), sure[-1] + 1) if sure else (0, 0)


def decided(line: str) -> bool:
    """Whether LINE, if it begins a block or item now, does so however it goes on."""
    return bool(DECIDED.match(line))


def begun(block: Block, lines: list[str]) -> Long:
    """BLOCK, in LINES, as one whose first parts are about to be settled."""
    if block.is_list:
        return Long("list", block.head, block.foot, ">:first-child", loose=bool(block.loose), live=block.parts)
    lead = "|a" * block.columns + "|\n" + lines[block.lines[0] + 1] + "\n"
    place = ">:first-child>:first-child>:last-child"
    return Long("table", block.head, block.foot, place, lead=lead, columns=block.columns, live=block.parts)


def deeper(long: Long, block: Block, found: Parsed, lines: list[str]) -> tuple[Long, int, int] | None:
    """The tight list that ends the last item of LONG, as one that is about to be settled: how many parts, up to where.

    BLOCK is what FOUND has of LONG, and LINES its source.
    """
    inner, marker = block.inner, MARKER.match(lines[block.starts[-1]])
    if not inner or not marker or long.depth >= 2 * DEEPEST or "\t" in "".join(lines[block.starts[-1] :]):
        return None
    inside = [line[marker.end() :] for line in lines]
    count, line = settling(inner, inside, found.pending)
    if not count or inner.loose or (inner.loose is None and EMPTY_LINE.search("\n".join(lines[inner.lines[0] :]))):
        return None
    draw_list(inner, found.env)
    item, end = long.live[-1], "".join(inner.parts) + inner.foot + "</li>"
    if not item.endswith(end):
        return None
    head = item[: -len(end)]
    path = "".join(f">:nth-child({element.place})" for element in opened_at(item, len(head))[1][1:])
    place = long.place + ">:nth-last-child(1)" + path
    indent, depth = long.indent + marker.end(), long.depth + 2
    found_list = Long("list", head, inner.foot + "</li>", place, long, indent, depth, live=inner.parts)
    return found_list, count, line


def loosened(block: Block, text: str, known: Known, within: str, depth: int) -> bool | None:
    """Whether the items before the last line of TEXT make the list BLOCK loose; None when that cannot be known."""
    if block.loose or EMPTY_LINE.search(text):
        return parsed(text, known, within, depth).blocks[0].loose if block.loose else None
    return False
