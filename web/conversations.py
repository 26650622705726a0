"""Conversations: the list, one of them, its news, a new one, its name."""

from flask import Blueprint, Response, abort, current_app, g, render_template, request

import feed
from database import database
from models import LISTED, Assistant, Choice, Conversation, Item, Window
from tables.plain import plain
from web import filed, find
from web.answers import moved, no_content
from web.composer import box
from web.found import Place, place
from web.items import said

door = Blueprint("conversations", __name__)

DIRECTIONS = ("auto", "ltr", "rtl")
WINDOW = 50  # items a page shows at first
OPENERS = (
    "Explain how tides work, so that a child understands it.",
    "Write a kind reply that says no to this invitation: ",
    "Compare these options in a table: ",
    "Find the mistake in this code:\n",
)


@door.get("/")
def index() -> str:
    """A new conversation, and the list of the others. The address may name its `agent` and its first words, `text`."""
    return page(None)


@door.get("/conversations/<id>")
def show(id: str) -> str | Response:
    """A conversation, from its newest items on, or around the item `at`, or around what there is to `find`."""
    conversation, at, words = find.conversation(id), request.args.get("at", ""), request.args.get("find")
    if not at and words is None:
        return page(conversation, edits=request.args.get("edit", ""))
    reader = place(conversation, words, at)
    if reader.hits and not at:
        return moved(f"/conversations/{id}{reader.link_to(reader.hits[-1])}")
    return page(conversation, reader)


@door.post("/conversations")
def create() -> Response:
    """A new conversation that begins with the person's message. The same client_id again is the same one."""
    conversation = Conversation.begin_with(g.person.id, agent(request.form.get("agent", "")), **said())
    return moved(f"/conversations/{conversation.id}")


@door.get("/conversations/<id>/older")
def older(id: str) -> str:
    """The items before one, for the top of the list."""
    conversation = find.conversation(id)
    before = find.item(conversation, request.args.get("before", ""))
    items = conversation.items(WINDOW, before)
    names = {"items": items, "more": len(items) == WINDOW, "path": conversation.path()}
    return render_template("items/_older.html", conversation=conversation, **names)


@door.get("/conversations/<id>/between")
def between(id: str) -> str:
    """The items behind one and before another, for the gap between what was found and the end of the list."""
    conversation = find.conversation(id)
    after, before = (find.item(conversation, request.args.get(name, "")) for name in ("after", "before"))
    items = Item.whole(conversation.path().onward(after, WINDOW + 1, before))
    names = {"items": items[:WINDOW], "until": before if len(items) > WINDOW else None, "path": conversation.path()}
    return render_template("items/_between.html", conversation=conversation, **names)


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
    title = plain(request.form.get("title", ""))
    find.writable(id).rename(title or abort(400, "A title has at least one character."))
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/direction")
def direction(id: str) -> Response:
    """The direction in which all texts of the conversation run, on every page; "auto": each as its words say."""
    conversation, wanted = find.writable(id), request.form.get("direction", "")
    if wanted not in DIRECTIONS:
        abort(400, "A text runs left to right (`ltr`), right to left (`rtl`), or as its words say (`auto`).")
    conversation.turn(wanted.removeprefix("auto"))
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/model")
def choose(id: str) -> Response:
    """The model for the next messages."""
    find.writable(id).choose(request.form.get("model", "")[:200])
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/branch")
def branch(id: str) -> Response:
    """Show another version of an answer, or another wording of a message."""
    conversation = find.writable(id)
    item = find.item(conversation, request.form.get("item", ""))
    wanted = request.form.get("branch", "")
    if wanted in item.versions():
        conversation.show_version(item, wanted)
    elif wanted in item.wordings():
        conversation.show_wording(item, wanted)
    else:
        abort(404, "There is no such version.")
    return no_content(f"/conversations/{id}")


def page(conversation: Conversation | None, place: Place | None = None, edits: str = "") -> str:
    """The page of CONVERSATION (None: a new one) at PLACE, with the person's message EDITS in the box ("": the draft).

    Its rows and its cursor are of one moment.
    """
    with database.snapshot():
        window = conversation.window(WINDOW, place.at if place else "") if conversation else Window()
        names = {
            "cursor": feed.latest(),
            **filed.sidebar(conversation and conversation.fresh()),
            "undone": filed.just_deleted(),
            "window": window,
            "path": conversation and conversation.path(),
            **box(conversation, edits),
            "people": len(conversation.members()) if conversation else 1,
            "demo": Choice.only_demo(),
            "agents": list(Assistant.seen_by(g.person.id)),
            "agent": met(conversation),
            "going": [] if conversation else going(),
            "openers": OPENERS,
        }
    return render_template("conversations/show.html", place=place, person=g.person, **names)


def agent(wanted: str) -> str:
    """The key of the assistant WANTED, or of the usual one; "" when there is none."""
    found = find.assistant(wanted) if wanted else Assistant.first()
    return found.id if found else ""


def met(conversation: Conversation | None) -> Assistant | None:
    """The assistant of CONVERSATION, also a deleted one; of a new one, the one that the address names."""
    if conversation:
        return Assistant.find(Assistant.id == conversation.agent) or Assistant.first()
    wanted = request.args.get("agent", "")
    return find.assistant(wanted) if wanted else Assistant.first()


def going() -> list[Conversation]:
    """The person's conversations in which an answer is being written."""
    return list(Conversation.of(g.person.id).where(Conversation.status.in_(("working", "waiting"))).limit(LISTED))
