"""What of a conversation is on show: a branch and those it left, each up to where it was left."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import peewee as pw

from tables.items import Branch, Item

STEP = 200  # items that are read at a time


@dataclass(frozen=True)
class Path:
    """The branches from one to its root, each with the place up to which it is on show (None: all)."""

    legs: tuple[tuple[str, tuple[str, str] | None], ...]

    @classmethod
    def to(cls, branch: str) -> Self:
        legs, limit = [], None
        while branch and (row := Branch.find(Branch.id == branch)):
            legs.append((row.id, limit))
            fork = (row.run, row.item)
            limit, branch = min(limit, fork) if limit else fork, row.parent
        return cls(tuple(legs))

    def shows(self, item: Item) -> bool:
        return any(item.branch == branch and (not upto or item.place <= upto) for branch, upto in self.legs)

    def version(self, item: Item) -> tuple[int, list[str]]:
        """Which of an item's versions is on show (from 0), and all of them; the last is a tip's branch."""
        versions, on_show = item.versions(), [branch for branch, _ in self.legs]
        chosen = next((n for n, branch in enumerate(versions) if branch in on_show and branch != item.branch), 0)
        return chosen, versions

    def onward(self, after: Item, limit: int, before: Item | None = None) -> list[Item]:
        """The first LIMIT items on show behind the place of AFTER, and before that of BEFORE, in order."""
        found: list[Item] = []
        here = pw.Tuple(Item.run, Item.id)
        for branch, upto in reversed(self.legs):
            rows = Item.select().where(Item.branch == branch, here > after.place).order_by(Item.run, Item.id)
            rows = rows.where(here <= upto) if upto else rows
            rows = rows.where(here < before.place) if before else rows
            found.extend(rows.limit(limit - len(found)))
            if len(found) == limit:
                break
        return found

    def back(self) -> Iterator[Item]:
        """The items on show, the newest first, read a few at a time: 10,000 at once would hold the server up."""
        page = self.items(STEP)
        while page:
            yield from reversed(page)
            page = self.items(STEP, page[0])

    def items(self, limit: int = 0, before: Item | None = None) -> list[Item]:
        """The items on show in order, the LIMIT newest ones of them (0: all) before the place of BEFORE."""
        found: list[Item] = []
        here = pw.Tuple(Item.run, Item.id)
        for branch, upto in self.legs:
            if limit and len(found) >= limit:
                break
            rows = Item.select().where(Item.branch == branch).order_by(Item.run.desc(), Item.id.desc())
            rows = rows.where(here <= upto) if upto else rows
            rows = rows.where(here < before.place) if before else rows
            found.extend(rows.limit(limit - len(found)) if limit else rows)
        return found[::-1]
