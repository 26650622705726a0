"""How a person likes their pages, drawn as attributes of each whole page and never of a part of one."""

from flask import Blueprint, Response, abort, g, make_response, render_template, request

from models import Preference, Unfit
from tables.preferences import KEYS, PLACES, preferred, rebound
from web.answers import moved

door = Blueprint("preferences", __name__)


@door.app_context_processor
def known() -> dict[str, object]:
    return {"preference": mine, "deeds": KEYS, "places": PLACES}


def mine() -> Preference:
    """What the person who asks prefers; the usual things for somebody who is not signed in."""
    person = g.get("person")
    return Preference.of(person.id) if person else Preference(id="")


@door.get("/preferences")
def show() -> str:
    return page(mine().bound)


@door.post("/preferences")
def change() -> Response | str:
    try:
        Preference.keep(g.person.id, **preferred(request.form.to_dict()))
    except Unfit as why:
        abort(400, str(why))
    return render_template("preferences/_saved.html") if request.headers.get("HX-Request") else saved()


@door.post("/preferences/keys")
def bind() -> Response:
    """Keys of one's own, or the usual ones again."""
    form = {} if "usual" in request.form else request.form.to_dict()
    try:
        Preference.keep(g.person.id, keys=rebound(form))
    except Unfit as why:
        if request.headers.get("HX-Request") or not request.accept_mimetypes.accept_html:
            abort(400, str(why))
        return make_response(page(form, str(why)), 400)
    return saved()


def saved() -> Response:
    return moved("/preferences?saved=1")


def page(keys: dict[str, str], words: str = "") -> str:
    """The page with KEYS as they are or as they were typed, and WORDS on what is wrong with them."""
    return render_template(
        "preferences/show.html", mine=mine(), keys=KEYS, typed=keys, words=words, saved="saved" in request.args
    )
