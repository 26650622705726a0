"""Refusals in words: for a page, a form and a script."""

from flask import Blueprint, Response, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from database import Full, Locked
from models import Refused

door = Blueprint("errors", __name__)

BUSY = "The database is busy with something else. Nothing is lost: try again in a few seconds."
FULL = "The server's disk is full, or fails, so this was not stored. What you typed is still here: try again later."

PLAINLY = {  # where nobody has said anything better
    400: "Parley cannot make sense of what was sent. Go back, load the page again, and try once more.",
    404: "There is nothing at this address. It may have been mistyped, or what was here is gone.",
    405: "This address is no page to look at. Go back and use the page's own buttons.",
    413: "That is more than a form may carry. Send it in parts, or attach it as a file.",
}

IN_THE_PAGE = {"HX-Retarget": "#notice", "HX-Reswap": "innerHTML"}  # whatever was pressed


@door.app_errorhandler(HTTPException)
def refused(why: HTTPException) -> Response:
    if why.response is not None:
        return why.response
    said = why.description if why.description != type(why).description else PLAINLY.get(why.code, why.name)
    return told(why.code or 500, said)


@door.app_errorhandler(Refused)
def not_now(why: Refused) -> Response:
    return told(409, str(why))


@door.app_errorhandler(Locked)
def busy(why: Locked) -> Response:
    answer = told(503, BUSY)
    answer.headers["Retry-After"] = "5"
    return answer


@door.app_errorhandler(Full)
def full(why: Full) -> Response:
    return told(507, FULL)


def told(code: int, words: str) -> Response:
    """WORDS as the asker can read them: a notice in the page, a page, or JSON."""
    if request.headers.get("HX-Request"):
        return make_response(render_template("_notice.html", words=words), code, IN_THE_PAGE)
    if request.accept_mimetypes.best_match(["text/html", "application/json"]) == "application/json":
        return make_response({"error": {"code": code, "message": words}}, code)
    return make_response(render_template("refused.html", words=words, code=code, typed=typed()), code)


def typed() -> str:
    """What the person wrote in the form that is refused; "" when the form itself cannot be read."""
    if request.blueprint == "files":
        return ""
    try:
        return request.form.get("text", "")
    except HTTPException:
        return ""
