"""Everything one can do, by its name: the conversations that the palette finds."""

from flask import Blueprint, g, render_template, request

from models import Conversation
from tables.plain import plain

door = Blueprint("palette", __name__)

LISTED = 8  # conversations


@door.get("/palette")
def find() -> str:
    """The person's newest conversations whose title has what they typed."""
    typed = plain(request.args.get("q", ""))[:200]
    theirs = Conversation.of(g.person.id)
    found = theirs.where(Conversation.title.contains(typed)) if typed else theirs
    return render_template("keys/_found.html", conversations=list(found.limit(LISTED)))
