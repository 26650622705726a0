"""The only look-ups by id: through the person, so that what is not theirs does not exist."""

from flask import abort, g

from models import Conversation, Item, Membership

NOT_THERE = "There is no such conversation, or it is not yours to see."


def conversation(id: str) -> Conversation:
    """The conversation ID of the person who asks; 404 for everybody else."""
    return seen(id)[0]


def writable(id: str) -> Conversation:
    """As `conversation`, for those who may write in it; 403 for its readers."""
    found, place = seen(id)
    if not place.writes:
        abort(403, "You may read this conversation, not write in it. Ask its owner.")
    return found


def item(chat: Conversation, id: str) -> Item:
    """The item ID of the conversation CHAT."""
    return Item.find(Item.id == id, Item.chat == chat.id) or abort(404, NOT_THERE)


def seen(id: str) -> tuple[Conversation, Membership]:
    return Conversation.seen_by(g.person.id, id) or abort(404, NOT_THERE)
