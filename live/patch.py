"""The smallest change of a page that turns one piece of HTML into another."""

import re
from collections.abc import Callable
from dataclasses import dataclass

TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)(?:[^>"]|"[^"]*")*>')
VOID = {"br", "hr", "input"}


@dataclass(frozen=True)
class Patch:
    """One swap: HOW is "beforeend", "outerHTML" or "delete", WHERE the CSS selector of the one element it concerns."""

    how: str
    where: str
    html: str = ""


@dataclass
class Open:
    """An element that is open at some place of an HTML text."""

    start: int
    place: int
    children: int = 0


def synced(container: str, name: Callable[[int, int], str], old: list[str], new: list[str]) -> list[Patch]:
    """The patches that turn the children OLD of CONTAINER into NEW. NAME(i, n) selects the child i of n."""
    patches = [Patch("delete", name(i, i + 1)) for i in reversed(range(len(new), len(old)))]
    stay = min(len(old), len(new))
    patches += [smallest(name(i, stay), old[i], new[i]) for i in range(stay) if old[i] != new[i]]
    if len(new) > len(old):
        patches.append(Patch("beforeend", container, "".join(new[len(old) :])))
    return patches


def smallest(where: str, old: str, new: str) -> Patch:
    """The patch that makes the element WHERE, which is OLD, NEW: an end appended, or the smallest element replaced."""
    at, opened = opened_at(old, common(old, new))
    inside, new_inside = at, at
    tags = TAG.match(old, at), TAG.match(new, at)
    if all(tag and not tag[1] and tag[2] not in VOID for tag in tags):  # an element that begins otherwise
        opened.append(Open(at, opened[-1].children + 1))
        inside, new_inside = tags[0].end(), tags[1].end()
    ends = zip(
        reversed(opened), closings(old, inside, len(opened)), closings(new, new_inside, len(opened)), strict=True
    )
    for depth, (element, (inner, outer), (new_inner, new_outer)) in enumerate(ends):
        if old[outer:] == new[new_outer:]:
            path = where + "".join(f">:nth-child({e.place})" for e in opened[1 : len(opened) - depth])
            if inner == at:
                return Patch("beforeend", path, new[at:new_inner])
            return Patch("outerHTML", path, new[element.start : new_outer])
    raise ValueError("both must be one element")


def common(old: str, new: str) -> int:
    """The length of the common beginning of OLD and NEW, not within a character reference."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    reference = old.rfind("&", max(0, low - 8), low)
    return reference if reference >= 0 and ";" not in old[reference:low] else low


def opened_at(html: str, at: int) -> tuple[int, list[Open]]:
    """The elements open at AT (outermost first), and AT itself, moved before the tag it is in."""
    opened = [Open(0, 1)]
    for tag in TAG.finditer(html, 1):
        if tag.end() > at:
            return min(at, tag.start()), opened
        if tag[1]:
            opened.pop()
        else:
            opened[-1].children += 1
            if tag[2] not in VOID:
                opened.append(Open(tag.start(), opened[-1].children))
    return at, opened


def closings(html: str, at: int, count: int) -> list[tuple[int, int]]:
    """Where the COUNT elements open at AT end, innermost first: before and after their closing tags."""
    found, depth = [], 0
    for tag in TAG.finditer(html, at):
        if tag[1] and not depth:
            found.append((tag.start(), tag.end()))
            if len(found) == count:
                break
        elif tag[2] not in VOID:
            depth += -1 if tag[1] else 1
    return found
