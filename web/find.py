"""The only look-ups by id: through the person, so that what is not theirs does not exist."""

from flask import abort, g

from models import Assistant, Conversation, File, Item, Membership, Session

NOT_THERE = "There is no such conversation, or it is not yours to see."
NO_FILE = "There is no such file, or it is not yours to see."
NO_ASSISTANT = "There is no such assistant, or it is not yours to see."


def conversation(id: str) -> Conversation:
    """The conversation ID of the person who asks; 404 for everybody else."""
    return seen(id)[0]


def writable(id: str) -> Conversation:
    """As `conversation`, for those who may write in it; 403 for its readers."""
    found, place = seen(id)
    if not place.writes:
        abort(403, "You may read this conversation, not write in it. Ask its owner.")
    return found


def owned(id: str) -> Conversation:
    """The conversation ID that the person owns, also a deleted one; 403 for others who are in it."""
    found = Conversation.owned_by(g.person.id, id)
    if not found:
        conversation(id)
        abort(403, "Only the owner of this conversation can delete it. You can leave it.")
    return found


def item(chat: Conversation, id: str) -> Item:
    """The item ID of the conversation CHAT."""
    return Item.find(Item.id == id, Item.chat == chat.id) or abort(404, NOT_THERE)


def file(key: str) -> File:
    """The file KEY: one's own while it is not sent, then that of everybody who sees the conversation."""
    found = File.find(File.id == key)
    if found and (Conversation.seen_by(g.person.id, found.chat) if found.item else found.person == g.person.id):
        return found
    abort(404, NO_FILE)


def own_file(key: str) -> File:
    """The person's own file KEY that is not sent."""
    return File.find(File.id == key, File.person == g.person.id, File.item == "") or abort(404, NO_FILE)


def seen(id: str) -> tuple[Conversation, Membership]:
    return Conversation.seen_by(g.person.id, id) or abort(404, NOT_THERE)


def assistant(id: str) -> Assistant:
    """The assistant ID that the person who asks may talk to."""
    return Assistant.seen_by(g.person.id).where(Assistant.id == id).first() or abort(404, NO_ASSISTANT)


def own_assistant(id: str, *, deleted: bool = False) -> Assistant:
    """As `assistant`, for those who may change it, or bring the DELETED one back; 403 for the others."""
    found = Assistant.find(Assistant.id == id, Assistant.person.in_(("", g.person.id)))
    if not found or bool(found.gone) != deleted:
        abort(404, NO_ASSISTANT)
    if not found.changed_by(g.person):
        abort(403, "This assistant is everybody's. An owner or an admin changes it; you can duplicate it.")
    return found


def session(id: str) -> Session:
    """The session ID of the person who asks."""
    return Session.find(Session.id == id, Session.person == g.person.id) or abort(404, "There is no such browser.")
