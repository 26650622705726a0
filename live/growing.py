"""A text that grows, and the patches that keep a page equal to it. More costs the same however much is there."""

import re

from live.leaf import Code, Prose, leaf_of
from live.long import Long, begun, decided, deeper, loosened, settling
from live.markdown import Block, Known, Parsed, draw, normal, parsed, wrapped
from live.patch import Patch, opened_at, synced

BLANK = re.compile(r"(?:[ \t]*\n)+")
SPLITTABLE = re.compile("[\r\ud800-\udbff]\\Z")  # may be the first half of a line end or of a character
SHUT = ("heading", "hr", "fence", "formula")  # blocks that end with their own last line


class Growing:
    """The blocks of a text, in the element with the DOM id CONTAINER, as far as the text has come."""

    def __init__(self, key: str, container: str) -> None:
        self.key, self.container = key, container
        self.text = ""  # all that came
        self.half = ""  # half a line end or half a character at its end
        self.done: list[str] = []  # the HTML of the blocks that stay as they are
        self.known = Known()  # what the text of those has defined
        self.tail = ""  # the text after them
        self.live: list[str] = []  # the HTML of its blocks
        self.long: Long | None = None  # the first of them, once its first parts are settled (its HTML is there then)
        self.leaf: Prose | Code | None = None  # the end of the last of them, if it can grow without a parse
        self.leaf_at, self.leaf_end = "", ""  # its selector, the closing tags after it
        self.joined: list[str] = []  # what it took since the last parse

    def grow(self, more: str) -> list[Patch]:
        """The patches for the text with MORE."""
        self.text = extended(self, "text", more)
        more = self.half + more
        half = SPLITTABLE.search(more)
        self.half = half[0] if half else ""
        return self.arrived(normal(more[: half.start()] if half else more))

    def finish(self) -> list[Patch]:
        """The patches for the end of the text: what crosses blocks, and the colours of a fence left open."""
        patches = self.arrived(normal(self.half))
        self.half, self.leaf = "", None
        self.join()
        found = self.parse()
        if found.env["references"] or found.env["footnotes"]["refs"]:
            return patches + self.whole()
        draw(found, final=True)
        return patches + self.show(found)

    @property
    def html(self) -> str:
        """What a page shows inside of the container."""
        self.join()
        return "".join(self.done + self.alive)

    @property
    def alive(self) -> list[str]:
        """The HTML of the blocks that may still change."""
        return [self.block(0, self.long.whole), *self.live[1:]] if self.long else self.live

    # More has come

    def arrived(self, more: str) -> list[Patch]:
        if not more:
            return []
        blank = not self.live and not (self.tail + more).strip(" \t")
        self.tail = extended(self, "tail", more)
        if blank:
            return []
        html = self.leaf.taken(more) if self.leaf else None
        if html is None:
            return self.reread()
        if html:
            self.joined.append(html)
        return [Patch("beforeend", self.leaf_at, html)] if html else []

    def reread(self) -> list[Patch]:
        """Parse what is not settled."""
        self.join()
        found = self.parse()
        draw(found)
        patches = self.show(found)
        self.settle(found)
        self.find_leaf(found)
        return patches

    def join(self) -> None:
        """Put what the leaf has taken into the HTML it is in."""
        if self.joined:
            where = self.last
            where[-1] = where[-1].removesuffix(self.leaf_end) + "".join(self.joined) + self.leaf_end
            self.joined = []

    @property
    def last(self) -> list[str]:
        """The pieces of HTML of which the last one grows."""
        return self.long.live if self.long and len(self.live) == 1 else self.live

    def parse(self) -> Parsed:
        while self.long:
            found = self.long.read(self.tail, self.known)
            if found:
                return found
            self.rejoin(self.long)
        return parsed(self.tail, self.known)

    def rejoin(self, long: Long) -> None:
        """The settled parts live again."""
        self.tail, self.long = long.source(self.tail), long.outer
        if long.outer:
            long.outer.live.append(long.html)
        else:
            self.live[0] = self.block(0, long.html)

    # Show

    def show(self, found: Parsed) -> list[Patch]:
        """The patches from what shows to FOUND."""
        new = [self.block(index, block.html) for index, block in enumerate(found.blocks)]
        old, self.live = self.live, new
        if not self.long:
            return synced(self.place, self.name, old, new)
        parts, self.long.live = self.long.live, found.blocks[0].parts
        inner = synced(self.parts_place, self.part_name, parts, self.long.live)
        return inner + synced(self.place, lambda i, n: self.name(i + 1, n), old[1:], new[1:])

    def whole(self) -> list[Patch]:
        """Everything, drawn with what the whole text defines."""
        found = parsed(normal(self.text), Known())
        draw(found, final=True)
        old, self.done, self.long = self.done + self.alive, [], None
        self.live = [self.block(index, block.html) for index, block in enumerate(found.blocks)]
        return synced(self.place, self.name, old, self.live)

    def block(self, index: int, html: str) -> str:
        return wrapped(f"{self.key}-{len(self.done) + index}", html)

    @property
    def place(self) -> str:
        return f"#{self.container}"

    def name(self, index: int, count: int) -> str:
        return f"#{self.key}-{len(self.done) + index}"

    @property
    def parts_place(self) -> str:
        return self.name(0, 1) + self.long.place

    def part_name(self, index: int, count: int) -> str:
        return f"{self.parts_place}>:nth-last-child({count - index})"

    # Settle

    def settle(self, found: Parsed) -> None:
        """Leave behind what no more text can change: blocks, and the first parts of the list or table after them."""
        lines = self.long.lines(self.tail) if self.long else self.tail.split("\n")
        source = lines if not self.long or self.long.lead else self.tail.split("\n")
        count = 0
        while count < len(found.blocks) and final(found.blocks, count, lines, found.pending):
            count += 1
        cut = 2 if self.long and self.long.lead else 0
        if count:
            cut = found.blocks[count - 1].lines[1]
            alive = self.alive
            self.done, self.live, self.long = self.done + alive[:count], alive[count:], None
        else:
            cut = max(cut, defined(found, self.known, lines))
        if count < len(found.blocks):
            cut = self.shorten(found.blocks[count], found, lines, source, cut)
        self.known.add(found, cut)
        self.tail = "\n".join(source[cut:])
        if not self.long and (blank := BLANK.match(self.tail)):
            self.tail = self.tail[blank.end() :]

    def shorten(self, block: Block, found: Parsed, lines: list[str], source: list[str], cut: int) -> int:
        """Leave behind the first parts of BLOCK, which is the first that lives; the line at which the rest begins.

        LINES are the text as it was parsed, SOURCE as it came.
        """
        if not (block.is_list or block.is_table):
            return cut
        count, line = settling(block, lines, found.pending)
        within, depth = (self.long.within, self.long.depth) if self.long else ("", 0)
        text = "\n".join(lines[cut : line + 1]) + "\n"
        loose = block.is_list and count and loosened(block, text, self.known, within, depth)
        if count and loose is not None:
            self.long = self.long or begun(block, lines)
            self.long.loosened = self.long.loosened or bool(loose)
            self.long.take(block.parts, count, source[cut:line])
            cut = line
        return self.deepen(block, found, lines, source, cut) if block.is_list and block is found.blocks[-1] else cut

    def deepen(self, block: Block, found: Parsed, lines: list[str], source: list[str], cut: int) -> int:
        """The same with the list that ends the last item of BLOCK."""
        if block.starts[-1] < cut or (not self.long and block.lines[0] != cut):
            return cut
        inner = deeper(self.long or begun(block, lines), block, found, lines)
        if not inner:
            return cut
        self.long, count, line = inner
        self.long.outer.live = self.long.outer.live[:-1]
        self.long.take(self.long.live, count, source[cut:line])
        return line

    # The leaf

    def find_leaf(self, found: Parsed) -> None:
        """The end of the text as a leaf, when it can grow without a parse."""
        self.leaf = None
        where = self.last
        if not where or not found.blocks:
            return
        html, inside = where[-1], self.long is not None and where is self.long.live
        leaf, end = leaf_of(found, self.tail, html, self.long.indent if self.long else 0)
        end = end.removesuffix(found.blocks[-1].foot) if inside else end + "</div>"
        if leaf and html.endswith(end):
            name = self.part_name(len(where) - 1, len(where)) if inside else self.name(len(where) - 1, 0)
            opened = opened_at(html, len(html) - len(end))[1]
            self.leaf, self.leaf_end = leaf, end
            self.leaf_at = name + "".join(f">:nth-child({element.place})" for element in opened[1:])


def final(blocks: list[Block], index: int, lines: list[str], pending: int) -> bool:
    """Whether no more text can change the block INDEX. The last of LINES has not ended; PENDING may begin a formula."""
    block, complete = blocks[index], len(lines) - 1
    end = block.lines[1]
    if end > pending:
        return False
    if index + 1 < len(blocks):
        after = blocks[index + 1].lines[0]
        if after < pending and (after < complete or decided(lines[after])):
            return True
    if block.kind in SHUT:
        return end <= complete and (block.kind != "fence" or block.tokens[0].meta["closed"])
    return block.kind in ("paragraph", "table", "blockquote") and end < complete and not lines[end].strip(" \t")


def defined(found: Parsed, known: Known, lines: list[str]) -> int:
    """The line after the reference definitions at the beginning that no more text can change."""
    first = found.blocks[0].lines[0] if found.blocks else len(lines) - 1
    fresh = [reference for label, reference in found.env["references"].items() if label not in known.references]
    ends = {reference["map"][1] for reference in fresh + found.env.get("duplicate_refs", [])}
    last = min(first, len(lines) - 2)
    return max((end for end in ends if end <= last and lines[end][:1] in ("", "[")), default=0)


def extended(owner: Growing, name: str, more: str) -> str:
    """The text NAME of OWNER with MORE; OWNER lets go of it, so that it grows in place and is not copied."""
    text = getattr(owner, name)
    setattr(owner, name, "")
    text += more
    return text
