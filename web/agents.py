"""Assistants: the list, one of them, a new one; change, copy, delete, and back again."""

from flask import Blueprint, Response, abort, g, make_response, render_template, request

from models import Assistant, Choice, Conversation, Unfit
from tables.assistants import EFFORTS, described, parameters
from web import find
from web.answers import moved

door = Blueprint("agents", __name__)

FIELDS = ("name", "instructions", "model", "temperature", "max_tokens", "effort")


@door.get("/agents")
def index() -> str:
    """All that the person may talk to. `deleted` names the one they have just deleted."""
    found = Assistant.find(Assistant.id == request.args.get("deleted", ""), Assistant.gone > 0)
    deleted = found if found and found.changed_by(g.person) else None
    return render_template("agents/index.html", agents=list(Assistant.seen_by(g.person.id)), deleted=deleted)


@door.get("/agents/new")
def new() -> str:
    return form(None, dict.fromkeys(FIELDS, ""))


@door.post("/agents")
def create() -> Response:
    """A new one of the person's, or for `everybody`."""
    everybody = request.form.get("for") == "everybody"
    if everybody and not g.person.leads:
        abort(403, "Only an owner or an admin adds assistants for everybody. Add one of your own instead.")
    try:
        made = Assistant.make("" if everybody else g.person.id, **entered())
    except Unfit as why:
        return unfit(None, why)
    return moved(f"/agents/{made.id}?saved=1")


@door.get("/agents/<agent>")
def show(agent: str) -> str:
    found = find.assistant(agent)
    if not found.changed_by(g.person):
        return render_template("agents/show.html", agent=found, model=model_name(found.model))
    return form(found, as_typed(found))


@door.post("/agents/<agent>")
def change(agent: str) -> Response:
    found = find.own_assistant(agent)
    try:
        found.change(**entered(found.model))
    except Unfit as why:
        return unfit(found, why)
    return moved(f"/agents/{found.id}?saved=1")


@door.post("/agents/<agent>/copy")
def copy(agent: str) -> Response:
    return moved(f"/agents/{find.assistant(agent).copy(g.person.id).id}")


@door.post("/agents/<agent>/delete")
def delete(agent: str) -> Response:
    found = find.own_assistant(agent)
    try:
        found.remove()
    except Unfit as why:
        return unfit(found, why, as_typed(found))
    return moved(f"/agents?deleted={found.id}")


@door.post("/agents/<agent>/restore")
def restore(agent: str) -> Response:
    found = find.own_assistant(agent, deleted=True)
    found.restore()
    return moved(f"/agents/{found.id}")


# The form


def entered(model: str = "") -> dict[str, str]:
    """The form as the columns of a row that has MODEL now. Raises Unfit."""
    asked = {name: request.form.get(name, "") for name in FIELDS}
    if asked["model"] not in ("", model) and not Choice.find(Choice.id == asked["model"]):
        raise Unfit(f"There is no model called “{asked['model'][:80]}”. Choose another one.")
    kept = described(asked["name"], asked["instructions"])
    sent = parameters(asked["temperature"], asked["max_tokens"], asked["effort"])
    return kept | {"model": asked["model"], "parameters": sent}


def as_typed(agent: Assistant) -> dict[str, str]:
    """AGENT as its form shows it."""
    settings = {name: str(value) for name, value in agent.settings.items()}
    return dict.fromkeys(FIELDS, "") | settings | {n: getattr(agent, n) for n in ("name", "instructions", "model")}


def unfit(agent: Assistant | None, why: Unfit, typed: dict[str, str] | None = None) -> Response:
    """The form again with what was typed and what is wrong with it; a script hears the words alone."""
    if request.headers.get("HX-Request") or not request.accept_mimetypes.accept_html:
        abort(400, str(why))
    typed = typed or {name: request.form.get(name, "") for name in (*FIELDS, "for")}
    return make_response(form(agent, typed, str(why)), 400)


def form(agent: Assistant | None, typed: dict[str, str], words: str = "") -> str:
    """The page of AGENT (None: a new one) with the fields as TYPED, and WORDS on what is wrong."""
    names = {
        "agent": agent,
        "typed": typed,
        "words": words,
        "choices": list(Choice.select()),
        "efforts": EFFORTS,
        "saved": "saved" in request.args,
        "met": Conversation.select().where(Conversation.agent == agent.id).count() if agent else 0,
        "usual": Assistant.first(),
    }
    return render_template("agents/edit.html", **names)


def model_name(id: str) -> str:
    choice = Choice.find(Choice.id == id)
    return choice.name if choice else id
