"""The text of an item as HTML: whole and remembered when it is done, as the open pages have it while it grows."""

from functools import lru_cache

import gevent
from markupsafe import Markup

from live.blocks import Growing, keyed
from models import Item

BIG = 16_000  # characters: a longer text is drawn in the thread pool before it is needed


def body(item: Item) -> Markup:
    """The blocks of ITEM's text."""
    if item.done:
        return remembered(item)
    growing = Growing(f"item-{item.id}", f"item-{item.id}-body")
    growing.grow(item.text)
    return Markup(growing.html)


def remembered(item: Item) -> Markup:
    draw = rare if len(item.text) > BIG else usual
    return draw(item.text, f"item-{item.id}")


usual = lru_cache(1000)(keyed)
rare = lru_cache(40)(keyed)


def warm() -> None:
    """Pay for the first colouring of code before anybody waits for it."""
    gevent.get_hub().threadpool.apply(keyed, ("```python\nx = 1\n```\n", "warm"))


def warmed(items: list[Item]) -> None:
    """Draw the big texts of ITEMS in the thread pool, so that nobody else waits for them."""
    for item in items:
        if item.done and item.kind in ("text", "reasoning") and len(item.text) > BIG:
            gevent.get_hub().threadpool.apply(remembered, (item,))
