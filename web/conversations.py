"""Conversations: the list, one of them, its news, a new one, its name."""

from flask import Blueprint, Response, abort, current_app, g, render_template, request

import feed
from database import database
from models import Assistant, Choice, Conversation, Draft
from web import find
from web.answers import moved, no_content
from web.items import said

door = Blueprint("conversations", __name__)

LISTED = 50  # conversations in the list
WINDOW = 50  # items a page shows at first


@door.get("/")
def index() -> str:
    """A new conversation, and the list of the others."""
    return page(None)


@door.get("/conversations/<id>")
def show(id: str) -> str:
    return page(find.conversation(id))


@door.post("/conversations")
def create() -> Response:
    """A new conversation that begins with the person's message. The same client_id again is the same one."""
    conversation = Conversation.begin_with(g.person.id, agent(), **said())
    return moved(f"/conversations/{conversation.id}")


@door.get("/conversations/<id>/older")
def older(id: str) -> str:
    """The items before one, for the top of the list."""
    conversation = find.conversation(id)
    before = find.item(conversation, request.args.get("before", ""))
    items = conversation.items(WINDOW, before)
    names = {"items": items, "more": len(items) == WINDOW, "path": conversation.path()}
    return render_template("items/_older.html", conversation=conversation, **names)


@door.get("/conversations/<id>/news")
@door.get("/news", defaults={"id": ""})
def news(id: str) -> Response:
    """What changed since a cursor, for a page without a socket: the fragments that the socket would have sent."""
    chat = find.conversation(id).id if id else ""
    since = request.args.get("since", "")
    if not since.isdecimal():
        abort(400, "`since` is the number of a change.")
    html = current_app.config["NEWS"](g.person.id, chat, int(since[:18]))
    return Response(html, headers={"Cache-Control": "no-store"})


@door.post("/conversations/<id>/title")
def rename(id: str) -> Response:
    title = " ".join(request.form.get("title", "").replace("\0", "").split())
    find.writable(id).rename(title or abort(400, "A title has at least one character."))
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/branch")
def branch(id: str) -> Response:
    """Show another version of an answer."""
    conversation = find.writable(id)
    item = find.item(conversation, request.form.get("item", ""))
    wanted = request.form.get("branch", "")
    if wanted not in item.versions():
        abort(404, "There is no such version of the answer.")
    conversation.show_version(item, wanted)
    return no_content(f"/conversations/{id}")


def page(conversation: Conversation | None) -> str:
    """The page of CONVERSATION (None: a new one). Its rows and its cursor are of one moment."""
    with database.snapshot():
        names = {
            "cursor": feed.latest(),
            "conversation": conversation and conversation.fresh(),
            "conversations": list(Conversation.of(g.person.id).limit(LISTED)),
            "items": conversation.items(WINDOW) if conversation else [],
            "path": conversation and conversation.path(),
            "draft": Draft.of(conversation.id if conversation else "", g.person.id),
            "people": len(conversation.members()) if conversation else 1,
            "demo": current_app.config["DEMO"](),
            "choices": list(Choice.select()),
        }
    return render_template("conversations/show.html", more=len(names["items"]) == WINDOW, person=g.person, **names)


def agent() -> str:
    first = Assistant.first()
    return first.id if first else ""
