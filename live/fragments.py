"""A change becomes HTML: which partial, and whether it is appended, replaced or removed."""

from collections.abc import Callable

from jinja2 import Environment
from markupsafe import Markup

from live.blocks import Growing
from live.bodies import body
from models import LISTED, Conversation, Draft, Item, Path

MANY = 200  # changed items after which the whole list is drawn again
WINDOW = 50  # items a page shows at first


def swap(how: str, where: str, html: str = "") -> str:
    """One out-of-band swap of htmx 4. (A partial is parsed as a template, so it may begin with a table row.)"""
    where = where.replace("&", "&amp;").replace('"', "&quot;")
    return f'<hx-partial hx-target="{where}" hx-swap="{how}">{html}</hx-partial>'


class Drawing:
    """Draws rows with the partials of the first load."""

    def __init__(self, templates: Environment) -> None:
        self.templates = templates

    def draw(self, partial: str, **names: object) -> str:
        return self.templates.get_template(partial).render(**names)

    # One item

    def born(self, item: Item, behind: Item | None, path: Path, growing: dict[str, Growing]) -> str:
        """ITEM joins the list: a queued one at its end, another in front of the one BEHIND it, or of the queue."""
        html = self.item(item, path, growing)
        where = f"#item-{behind.id}" if behind else "#queue"
        return swap("beforeend", "#items", html) if item.queued else swap("beforebegin", where, html)

    def changed(self, item: Item, path: Path, growing: dict[str, Growing]) -> str:
        return swap("outerMorph", f"#item-{item.id}", self.item(item, path, growing))

    def gone(self, item: str) -> str:
        return swap("delete", f"#item-{item}")

    def closed(self, item: Item) -> str:
        """What stands around the text of ITEM, which does not grow any more."""
        foot = swap("outerHTML", f"#item-{item.id}-foot", self.draw("items/_foot.html", item=item))
        if item.kind != "reasoning":
            return foot
        return swap("outerHTML", f"#item-{item.id}-thought", self.draw("items/_thought.html", item=item)) + foot

    def item(self, item: Item, path: Path, growing: dict[str, Growing]) -> str:
        return self.draw("items/_item.html", item=item, path=path, body=grown(growing))

    # The list and what is around it

    def window(self, conversation: Conversation, path: Path, growing: dict[str, Growing]) -> str:
        """The whole list anew, kept nodes kept."""
        items = conversation.items(WINDOW)
        names = {"conversation": conversation, "items": items, "path": path, "more": len(items) == WINDOW}
        return swap("innerMorph", "#items", self.draw("items/_items.html", body=grown(growing), **names))

    def queue(self, first: Item | None) -> str:
        """The line between what is said and what waits stands before FIRST, the first queued item, or at the end."""
        line = self.draw("items/_queue.html")
        where = swap("beforebegin", f"#item-{first.id}", line) if first else swap("beforeend", "#items", line)
        return swap("delete", "#queue") + where

    def conversation(self, conversation: Conversation) -> str:
        """The title, the direction and the state of the conversation on show."""
        head = self.draw("conversations/_title.html", conversation=conversation)
        status = self.draw("conversations/_status.html", conversation=conversation)
        ways = self.draw("conversations/_direction.html", conversation=conversation)
        head = swap("outerHTML", "#title", head) + swap("outerMorph", "#direction", ways)
        return head + swap("outerHTML", "#status", status)

    def draft(self, draft: Draft) -> str:
        """What its person typed last, for a script to compare with what is in the box; the composer stays."""
        return swap("outerHTML", "#draft", self.draw("conversations/_draft.html", draft=draft))

    # The lists of conversations

    def row(self, conversation: Conversation, where: str) -> str:
        """The row of a conversation in the list WHERE."""
        return self.draw("conversations/_row.html", conversation=conversation, where=where)

    def rows(self, conversations: list[Conversation], where: str) -> str:
        """The rows of the list WHERE, and the way to more of them."""
        more = where != "pinned" and len(conversations) == LISTED
        return self.draw("conversations/_rows.html", conversations=conversations, where=where, more=more)

    def going(self, conversation: Conversation) -> str:
        """The first screen's line of CONVERSATION, which is there while an answer is written in it."""
        away = swap("delete", f"#going-{conversation.id}")
        if conversation.deleted or conversation.status not in ("working", "waiting"):
            return away
        return away + swap("beforeend", "#going", self.draw("conversations/_going.html", conversation=conversation))


def grown(growing: dict[str, Growing]) -> Callable[[Item], Markup]:
    """How the text of an item is drawn: as the open pages have it while it grows."""
    return lambda item: Markup(growing[item.id].html) if item.id in growing else body(item)
