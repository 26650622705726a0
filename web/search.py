"""Finding what was said, in all conversations of the person."""

import datetime
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, g, render_template, request

import feed
from models import Assistant, Conversation, Item, Path
from tables.search import Wanted, waiting
from tables.words import Part, Query, surroundings
from web import filed, find
from web.answers import moved
from web.found import read

door = Blueprint("search", __name__)

SHOWN = 20  # messages on a page of hits
TITLES = 6  # conversations above them


@dataclass(frozen=True)
class Hit:
    """A message that was found: in which conversation, by whom, and what stands around the words."""

    item: Item
    conversation: Conversation
    parts: list[Part]
    elsewhere: bool  # whether it is on a branch that is not on show

    @property
    def when(self) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(self.item.created)


@dataclass(frozen=True)
class Found:
    """A page of hits, the titles above them, and the entry that the next page goes on from (0: this is the last)."""

    hits: list[Hit]
    titles: list[tuple[Conversation, list[Part]]]
    more: int


@door.get("/search")
def everywhere() -> str:
    """The page of the search; for a page that is there already, only what was found."""
    wanted, before = wished(), request.args.get("before", "")
    before = int(before[:18]) if before.isdecimal() else 0
    found = read(found_by, wanted, before, request.args.get("in", "")) if wanted.query else None
    names = {"found": found, "asked": request.args.to_dict(), "waiting": waiting(), "filtered": filtered()}
    names["further"] = urlencode({**names["asked"], "before": found.more if found else 0})
    if request.headers.get("HX-Request"):
        return render_template("search/_more.html" if before else "search/_found.html", **names)
    listed = {"cursor": feed.latest(), "person": g.person, "at_search": True, **filed.sidebar(None)}
    return render_template("search/show.html", agents=list(Assistant.seen_by(g.person.id)), **names, **listed)


@door.post("/conversations/<id>/at")
def turn(id: str) -> Response:
    """Show the version of the conversation that has the item, and go there."""
    conversation = find.writable(id)
    item = find.item(conversation, request.form.get("item", ""))
    conversation.show_version(item, item.branch)
    return moved(f"/conversations/{id}?at={item.id}#item-{item.id}")


def wished() -> Wanted:
    """What the form asks for. 400 in words for a date that is none."""
    asked = request.args
    since, until = day(asked.get("first", "")), day(asked.get("last", ""))
    who = asked.get("from", "") if asked.get("from") in ("me", "agent") else ""
    query, agent = Query.of(asked.get("q", "")), asked.get("agent", "")[:20]
    archived = asked.get("archived") != "no"
    return Wanted(g.person.id, query, who, agent, since, until and until + 86400, archived)


def filtered() -> bool:
    return any(request.args.get(name) for name in ("in", "from", "agent", "first", "last", "archived"))


def day(text: str) -> float:
    """The beginning of a day, 0 for none."""
    try:
        return datetime.datetime.combine(datetime.date.fromisoformat(text), datetime.time()).timestamp() if text else 0
    except (ValueError, OverflowError):
        abort(400, "A date is written as 2026-12-31.")


def found_by(wanted: Wanted, before: int, where: str) -> Found:
    rows = wanted.messages(SHOWN + 1, before) if where != "titles" else []
    shown = rows[:SHOWN]
    titled = [chat for _, chat in wanted.titles(TITLES if where != "titles" else SHOWN)] if not before else []
    items = Item.of([key for _, key in shown])
    chats = {item.chat for item in items.values()} | set(titled)
    named = {chat.id: chat for chat in Conversation.select().where(Conversation.id.in_(list(chats)))}
    paths = {chat: conversation.path() for chat, conversation in named.items()}
    said = [items[key] for _, key in shown if key in items and items[key].chat in named]
    hits = [hit(item, named, paths, wanted.query) for item in said]
    titles = [(named[chat], surroundings(named[chat].title, wanted.query)) for chat in titled if chat in named]
    return Found(hits, titles if where != "messages" else [], shown[-1][0] if len(rows) > SHOWN else 0)


def hit(item: Item, named: dict[str, Conversation], paths: dict[str, Path], query: Query) -> Hit:
    return Hit(item, named[item.chat], surroundings(item.text, query), not paths[item.chat].shows(item))
