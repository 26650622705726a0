"""What a person wishes, as items: a message, "again", "stop", a decision; and what becomes of a wish sent twice."""

from tables.items import Item
from tables.plain import plain
from tables.refused import Refused

TITLE_MAX = 60  # characters of a title made from the person's first words


def sent_before(person: str, client_id: str, text: str) -> Item | None:
    """The message of PERSON with CLIENT_ID. Raises Refused when it says something else than TEXT."""
    known = Item.find(Item.person == person, Item.client_id == client_id) if client_id else None
    if known and known.text != text:
        raise Refused("An earlier version of this message was sent already. Send this one as a new message.")
    return known


def asked(text: str, chat: str, model: str = "", files: str = "") -> Item:
    """The person's message TEXT in CHAT to MODEL ("" the agent's), with FILES; not saved."""
    return Item(kind="user", text=text, chat=chat, model=model, files=files)


def retried(chat: str, model: str = "") -> Item:
    """The person's wish for the last answer of CHAT again, from MODEL ("" the one it had); not saved."""
    return Item(kind="retry", chat=chat, model=model)


def stopped(chat: str) -> Item:
    """The person's wish that the run of CHAT stops; what it wrote stays; not saved."""
    return Item(kind="stop", chat=chat)


def decided(call: Item, yes: bool) -> Item:
    """The call as the person decided it: approved or declined; not saved."""
    call.state = "approved" if yes else "declined"
    return call


def first_words(text: str) -> str:
    """The person's first words as a title: the first line that says something, cut at a word."""
    line = next(filter(None, map(plain, text.splitlines())), "")
    if len(line) <= TITLE_MAX:
        return line
    return line[:TITLE_MAX].rsplit(" ", 1)[0].rstrip(",;:.") + "…"
