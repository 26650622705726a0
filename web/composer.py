"""What the message box holds and offers when a page is loaded."""

from flask import g, request

from models import Choice, Conversation, Draft, File, Item, groups
from web.items import LONGEST


def box(conversation: Conversation | None, edits: str = "") -> dict[str, object]:
    """What the box of CONVERSATION (None: a new one) is drawn with; EDITS is the person's message to be edited."""
    chat, choices = conversation.id if conversation else "", list(Choice.select())
    return {
        "draft": draft(conversation),
        "edited": own(conversation, edits) if conversation else None,
        "waiting": File.waiting(chat, g.person.id),
        "choices": choices,
        "groups": groups(choices),
    }


def draft(conversation: Conversation | None) -> Draft:
    """What the box holds: the draft, and below it the words that the address of a new conversation brings along."""
    kept = Draft.of(conversation.id if conversation else "", g.person.id)
    words = "" if conversation else request.args.get("text", "")[:LONGEST]
    if words not in kept.text:
        kept.text = f"{kept.text}\n\n{words}".lstrip("\n")
    return kept


def own(conversation: Conversation, key: str) -> Item | None:
    """The person's own message KEY, which they want to edit."""
    mine = (Item.person == g.person.id, Item.kind == "user")
    return Item.find(Item.id == key, Item.chat == conversation.id, *mine) if key else None
