"""What a person may do to their own messages: word them anew, or take back one that waits."""

from database import write
from tables import search
from tables.files import File
from tables.items import Branch, Item
from tables.path import Path
from tables.wishes import Refused, asked, sent_before

WAITS = Item.state.in_(("queued", "waiting"))

NOT_YOURS = "Only the person who wrote this message can change it."
BEGUN = "The answer to this message has begun meanwhile. Send these words once more to ask for another answer to them."
TOO_LATE = "The answer to this message has begun meanwhile. You can stop it."


class Edited:
    """The part of Conversation that changes what was said."""

    @write
    def edit(
        self, person: str, item: Item, text: str, model: str = "", files: str = "", client_id: str = ""
    ) -> Item:
        """PERSON's message ITEM as TEXT: it is asked anew on a branch of its own, and the old wording stays there.

        Its files come along, and FILES. An answer that is being written to the old wording is stopped. The same
        CLIENT_ID again is the same message.
        """
        known = sent_before(person, client_id, text)
        if known:
            return known
        own(person, item)
        wish = asked(text, self.id, model or item.model, ",".join(filter(None, (item.files, files))))
        wish.input = item.origin
        going = self.open_wish()
        if going and going.origin == item.origin:
            self.stop(person)
        wish = self._wish(wish, person, client_id)
        File.sent(files, person, wish.id, self.id)
        return wish

    @write
    def reword(self, person: str, item: Item, text: str) -> None:
        """PERSON's message ITEM, which still waits, says TEXT. Refused when its answer has begun."""
        own(person, item)
        search.forget(item.id)
        if not Item.update(text=text).where(Item.id == item.id, WAITS).execute():
            raise Refused(BEGUN)
        search.add(Item.get_by_id(item.id))

    @write
    def unqueue(self, person: str, item: Item) -> None:
        """PERSON takes the message ITEM back, which still waits. Refused when its answer has begun."""
        own(person, item)
        search.forget(item.id)
        if not Item.delete().where(Item.id == item.id, WAITS).execute():
            raise Refused(TOO_LATE)
        File.back(item.id)
        if not self.open_wish():
            self._now("idle")
            self._next_wish()

    def _open_wording(self, wish: Item) -> None:
        """The branch of WISH, another wording of an earlier message, opens in front of that one."""
        first = Item.get_by_id(wish.input)
        here = Branch.get_by_id(wish.branch)
        if here.edits == first.id and not Item.find(Item.branch == here.id, Item.run < wish.run):
            return  # it is open since before the server restarted
        before = Path.to(first.branch).items(1, before=first)
        self._fork(before[0] if before else Item(branch=first.branch, id=""), moving=[wish.id], edits=first.id)


def own(person: str, item: Item) -> None:
    """Raises Refused when ITEM is no message of PERSON."""
    if item.kind != "user" or item.person != person:
        raise Refused(NOT_YOURS)
