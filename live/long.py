"""A long list or table that still grows: its first parts are settled, and are neither parsed nor compared again."""

import re
from dataclasses import dataclass, field

from live.markdown import Block, Known, cells, loosen, parsed

EMPTY_LINE = re.compile(r"\n[ \t]*\n")
DECIDED = re.compile(r"[^\W\d_]| {0,3}(?:[-+*]|\d{1,9}[.)]) {1,4}[^\W_]")
MOST_MISSING = 0x10000  # cells that a table's rows may leave out before it ends (markdown-it's limit)


@dataclass
class Long:
    """The settled parts, the living ones, and what is around them."""

    within: str  # "list" or "table"
    head: str
    foot: str
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
    def source(self) -> str:
        return "".join(self.sources)

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
        return Long("list", block.head, block.foot, loose=bool(block.loose))
    lead = "|a" * block.columns + "|\n" + lines[block.lines[0] + 1] + "\n"
    return Long("table", block.head, block.foot, lead=lead, columns=block.columns)


def loosened(block: Block, text: str, known: Known, within: str) -> bool | None:
    """Whether the items before the last line of TEXT make the list BLOCK loose; None when that cannot be known."""
    if block.loose or EMPTY_LINE.search(text):
        return parsed(text, known, within).blocks[0].loose if block.loose else None
    return False
