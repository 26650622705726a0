"""Text as safe HTML blocks with keys, and what changes on a page while a text grows."""

from markupsafe import Markup

from live.growing import Growing
from live.markdown import Known, draw, normal, parsed, wrapped
from live.patch import Patch

__all__ = ["Growing", "Patch", "keyed"]


def keyed(text: str, key: str) -> Markup:
    """Markdown TEXT as safe HTML: a div with the id KEY-0, KEY-1, … for each top-level block that shows something."""
    found = parsed(normal(text), Known())
    draw(found, final=True)
    return Markup("".join(wrapped(f"{key}-{index}", block.html) for index, block in enumerate(found.blocks)))
