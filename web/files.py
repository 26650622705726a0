"""Files: attached, shown, taken away again."""

from flask import Blueprint, Response, abort, current_app, g, make_response, render_template, request, send_file

from database import Full, Locked
from models import File, Refused
from settings import Settings
from web import find
from web.answers import no_content
from web.upload import received

door = Blueprint("files", __name__)

MEGABYTE = 1 << 20  # bytes
ASIDE = {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}
ASIDE |= {"Cache-Control": "no-store"}


@door.post("/files", defaults={"id": ""})
@door.post("/conversations/<id>/files")
def create(id: str) -> Response:
    """Attach the form's files to the next message; a script gets them drawn."""
    chat, settings = find.writable(id).id if id else "", current_app.config["SETTINGS"]
    with received(request, settings.file_size * MEGABYTE, settings.files_message) as parts:
        if not parts:
            abort(400, "Attach a file: this form has none.")
        found = [keep(part.row(chat, g.person.id), settings) for part in parts]
    if not request.headers.get("HX-Request"):
        return no_content(f"/conversations/{id}" if id else "/")
    return make_response("".join(render_template("files/_waiting.html", file=file) for file in found), 201)


@door.get("/files/<file>")
def show(file: str) -> Response:
    """The bytes, to be kept and never to be opened as a page of ours."""
    found = find.file(file)
    if not found.path.exists():
        abort(404, "The file itself is not on the server any more. Was the folder of files left out of a backup?")
    answer = send_file(found.path.absolute(), found.kind, as_attachment=True, download_name=found.name, etag=False)
    answer.headers.update(ASIDE)
    return answer


@door.post("/files/<file>/remove")
def remove(file: str) -> Response:
    """Take back what is not sent."""
    found = find.own_file(file)
    found.remove()
    if request.headers.get("HX-Request"):
        return make_response("", 200)  # what is swapped in its place
    return no_content(f"/conversations/{found.chat}" if found.chat else "/")


def keep(file: File, settings: Settings) -> File:
    try:
        return File.keep(file, settings.files_message, settings.files_person * MEGABYTE)
    except (Refused, Locked, Full):
        file.path.unlink(missing_ok=True)
        raise
