"""The part of a conversation that a page shows at first: its newest items, or what surrounds one of them."""

from dataclasses import dataclass, field
from typing import Self

from tables.items import Item
from tables.path import Path

ABOVE = 20  # items before the one that is looked for
BELOW = 50  # items after it, where the rest is too long
WHOLE = 200  # items after it that are all shown
TAIL = 60  # newest items below the gap: with all that may wait in the queue, so that news go on behind them


@dataclass(frozen=True)
class Window:
    """`items` in order; then, behind a gap, `tail`. AT is the item that is looked for, ELSEWHERE when not on show."""

    items: list[Item] = field(default_factory=list)
    tail: list[Item] = field(default_factory=list)
    more: bool = False
    at: str = ""
    elsewhere: str = ""

    @classmethod
    def of(cls, path: Path, limit: int, at: Item | None = None) -> Self:
        """The LIMIT newest items of PATH, or those around AT and the newest ones: a page always ends with these."""
        if at is None or not path.shows(at):
            items = path.items(limit)
            return cls(Item.whole(items), more=len(items) == limit, elsewhere=at.id if at else "")
        above, below = path.items(ABOVE, at), path.onward(at, WHOLE + 1)
        tail = path.items(TAIL) if len(below) > WHOLE else []
        items = [*above, at, *(below[:BELOW] if tail else below)]
        return cls(Item.whole(items), Item.whole(tail), more=len(above) == ABOVE, at=at.id)

    @property
    def gap(self) -> tuple[Item, Item] | None:
        """The items on both sides of the gap."""
        return (self.items[-1], self.tail[0]) if self.tail else None
