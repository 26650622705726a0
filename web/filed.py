"""Lists of conversations, and what a person does with one of them there: pin, archive, leave, delete, for ever."""

import time

from flask import Blueprint, Response, abort, g, render_template, request

import feed
from database import database
from models import LISTED, LISTS, Conversation
from web import find
from web.answers import moved, no_content

door = Blueprint("filed", __name__)

UNDO_SHOWN = 30  # seconds in which a page that is loaded after a deletion offers to undo it
PAGES = {
    "archived": (
        "Archived",
        "Conversations you have put aside. One comes back to the list when you write in it.",
        "Nothing is archived. Put a conversation aside with the menu beside its title.",
    ),
    "deleted": (
        "Recently deleted",
        "A deleted conversation can be brought back for 7 days. After that it is removed for ever.",
        "Nothing was deleted in the last 7 days.",
    ),
}


@door.get("/archived", defaults={"where": "archived"})
@door.get("/deleted", defaults={"where": "deleted"})
def index(where: str) -> str:
    """The page of a list that stands apart."""
    with database.snapshot():
        title, words, nothing = PAGES[where]
        names = {"title": title, "words": words, "nothing": nothing, "where": where, "cursor": feed.latest()}
        filed = Conversation.listed(g.person.id, where, LISTED, below())
        names |= {"filed": filed, "more_filed": len(filed) == LISTED, **sidebar(None)}
    return render_template("conversations/filed.html", person=g.person, **names)


@door.get("/conversations")
def more() -> str:
    """The rows of a list below a place."""
    where = request.args.get("in", "conversations")
    if where not in LISTS:
        abort(404, "There is no such list.")
    rows = Conversation.listed(g.person.id, where, LISTED, below())
    return render_template("conversations/_rows.html", conversations=rows, where=where, more=len(rows) == LISTED)


@door.get("/conversations/<id>/menu")
def menu(id: str) -> str:
    """What the person may do with a conversation: for the menu of a page, or a page of its own."""
    conversation, place = find.seen(id)
    partial = "_menu" if request.headers.get("HX-Request") else "menu"
    return render_template(f"conversations/{partial}.html", conversation=conversation, place=place)


@door.post("/conversations/<id>/pin")
def pin(id: str) -> Response:
    find.conversation(id).pin(g.person.id, on=not undoes())
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/archive")
def archive(id: str) -> Response:
    conversation = find.conversation(id)
    conversation.archive(g.person.id, on=not undoes())
    return done(conversation, "archive", "" if undoes() else "Archived")


@door.post("/conversations/<id>/leave")
def leave(id: str) -> Response:
    find.conversation(id).leave(g.person.id)
    return moved("/") if looks_at(id) else no_content("/")


@door.post("/conversations/<id>/delete")
def delete(id: str) -> Response:
    """Delete for all, or bring back."""
    conversation = find.owned(id)
    if undoes():
        conversation.restore()
        return moved(f"/conversations/{id}") if request.form.get("back") else done(conversation, "delete", "")
    conversation.discard(g.person.id)
    return moved(f"/?deleted={id}") if looks_at(id) else done(conversation, "delete", "Deleted")


@door.post("/conversations/<id>/erase")
def erase(id: str) -> Response:
    """Delete for ever: nothing can bring it back."""
    find.owned(id).forget()
    return no_content("/deleted")


def sidebar(conversation: Conversation | None) -> dict[str, object]:
    """What the list beside a page that shows CONVERSATION (None: none) needs."""
    older = below() if request.endpoint != "filed.index" else None
    rows = Conversation.listed(g.person.id, "conversations", LISTED, older)
    names = {"conversations": rows, "more_conversations": len(rows) == LISTED, "older": older}
    return names | {"conversation": conversation, "pinned": Conversation.listed(g.person.id, "pinned")}


def just_deleted() -> Conversation | None:
    """The conversation that the page's address says was deleted, for as long as the page offers to undo that."""
    found = Conversation.owned_by(g.person.id, request.args.get("deleted", ""))
    return found if found and found.deleted > time.time() - UNDO_SHOWN else None


# Parts


def below() -> tuple[float, str] | None:
    """The place in a list below which rows are wanted: its time and its key."""
    at, _, key = request.args.get("below", "").partition(",")
    try:
        return (float(at), key[:20]) if at else None
    except ValueError:
        abort(400, "`below` is the place of a conversation in the list.")


def undoes() -> bool:
    return request.form.get("undo") == "1"


def looks_at(id: str) -> bool:
    """Whether the page that asks shows the conversation ID, or is a plain form."""
    page = request.headers.get("HX-Current-URL", "").partition("?")[0].partition("#")[0]
    return not request.headers.get("HX-Request") or page.endswith(f"/conversations/{id}")


def done(conversation: Conversation, path: str, words: str) -> Response | str:
    """WORDS, with the way to undo at PATH what was done; "" takes such words away. A plain form goes on."""
    if not request.headers.get("HX-Request"):
        return moved(f"/conversations/{conversation.id}")
    return render_template("conversations/_undo.html", conversation=conversation, path=path, words=words)
