"""What a person writes into the log: a message, "again", "stop", and "send now" for what waits."""

from flask import Blueprint, Response, abort, g, make_response, render_template, request

from models import File, Item
from web import find
from web.answers import no_content

door = Blueprint("items", __name__)

LONGEST = 1_000_000  # characters of a message


@door.post("/conversations/<id>/items")
def create(id: str) -> Response:
    """A message; or, with `edits`, other words for an earlier one, which may still be `queued`."""
    conversation, edits = find.writable(id), request.form.get("edits", "")
    if not edits:
        conversation.ask(g.person.id, **said())
    elif request.form.get("queued"):
        conversation.reword(g.person.id, find.item(conversation, edits), said()["text"])
    else:
        conversation.edit(g.person.id, find.item(conversation, edits), **said())
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/unqueue")
def unqueue(id: str) -> Response:
    """Take back a message that waits."""
    conversation = find.writable(id)
    conversation.unqueue(g.person.id, find.item(conversation, request.form.get("item", "")))
    waiting = File.waiting(id, g.person.id)
    if not waiting or not request.headers.get("HX-Request"):
        return no_content(f"/conversations/{id}")
    drawn = "".join(render_template("files/_waiting.html", file=file) for file in waiting)
    return make_response(drawn, 200, {"HX-Retarget": "#waiting", "HX-Reswap": "innerHTML"})


@door.post("/conversations/<id>/again")
def again(id: str) -> Response:
    """An answer again: the one that holds the form's `item`, else the last; or the last one `onward`."""
    conversation, item = find.writable(id), request.form.get("item", "")
    answer = find.item(conversation, item) if item else None
    onward = request.form.get("onward") == "1"
    conversation.again(g.person.id, request.form.get("model", "")[:200], client_id(), onward, answer)
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/stop")
def stop(id: str) -> Response:
    find.writable(id).stop(g.person.id)
    return no_content(f"/conversations/{id}")


@door.post("/conversations/<id>/queue")
def send_now(id: str) -> Response:
    """Let the messages that wait after a stop go out."""
    find.writable(id).send_now()
    return no_content(f"/conversations/{id}")


@door.get("/conversations/<id>/items/<item>/source")
def source(id: str, item: str) -> Response:
    """The text of an item as it was written, for Copy."""
    (found,) = Item.whole([find.item(find.conversation(id), item)])
    return Response(found.text, mimetype="text/plain")


def said() -> dict[str, str]:
    """The message of the form: its text and files, the model it is for, its client id. 400 and 413 in words."""
    text = typed()
    files = ",".join(dict.fromkeys(key[:20].replace(",", "") for key in request.form.getlist("file")))
    if not text.strip() and not files:
        abort(400, "The message is empty. Write something first.")
    if len(text) > LONGEST:
        abort(413, f"The message is longer than {LONGEST:,} characters. Send it in parts, or as a file.")
    return {"text": text, "model": request.form.get("model", "")[:200], "files": files, "client_id": client_id()}


def typed() -> str:
    """The form's text as the log keeps it: lines end in \\n, and there is no NUL."""
    return request.form.get("text", "").replace("\r\n", "\n").replace("\0", "\ufffd")


def client_id() -> str:
    return request.form.get("client_id", "")[:64]
