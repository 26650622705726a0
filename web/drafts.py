"""What a person has typed and not sent, kept for each conversation."""

from flask import Blueprint, Response, g

from models import Draft
from web import find
from web.answers import no_content
from web.items import LONGEST, client_id, typed

door = Blueprint("drafts", __name__)


@door.post("/draft", defaults={"id": ""})
@door.post("/conversations/<id>/draft")
def keep(id: str) -> Response:
    chat = find.writable(id).id if id else ""
    Draft.keep(chat, g.person.id, typed()[:LONGEST], client_id())
    return no_content(f"/conversations/{id}" if id else "/")
