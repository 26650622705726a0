"""Coming in by a link that works once, and going out."""

from flask import Blueprint, Response, abort, current_app, g, redirect, render_template, request

from models import Token
from web.answers import moved
from web.auth import open_to_all, secure

door = Blueprint("entry", __name__)

LASTS = 90 * 86400  # seconds a browser keeps the cookie
USED = "This link was used already, or it is too old. Ask for a new one: bin/run link prints one on the server."


@door.get("/enter")
@open_to_all
def ask() -> str:
    """The page of the link. It changes nothing, so that a link preview cannot use the link up."""
    return render_template("enter.html", secret=request.args.get("key", ""))


@door.post("/enter")
@open_to_all
def enter() -> Response:
    token = Token.open_entry(request.form.get("key", "")) or abort(410, USED)
    secret = token.enter(request.headers.get("User-Agent", "")) or abort(410, USED)
    answer = redirect(current_app.config["BASE"] + "/", 303)
    answer.set_cookie(current_app.config["COOKIE"], secret, max_age=LASTS, **cookie())
    return answer


@door.post("/leave")
def leave() -> Response:
    g.session.end()
    answer = moved("/enter")
    answer.delete_cookie(current_app.config["COOKIE"], **cookie())
    answer.headers["Clear-Site-Data"] = '"cache", "storage"'
    return answer


def cookie() -> dict[str, object]:
    """The attributes of the session cookie."""
    return {"path": current_app.config["BASE"] or "/", "httponly": True, "samesite": "Lax", "secure": secure()}
