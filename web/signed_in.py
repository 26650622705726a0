"""The browsers in which a person is signed in."""

import time

from flask import Blueprint, Response, g, render_template

from models import Session
from web import find
from web.answers import moved

door = Blueprint("signed_in", __name__)

BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "FxiOS": "Firefox", "Chrome": "Chrome"}
BROWSERS |= {"CriOS": "Chrome", "Safari": "Safari"}
SYSTEMS = {"iPhone": "an iPhone", "iPad": "an iPad", "Android": "Android", "Windows": "Windows", "Mac OS X": "a Mac"}
SYSTEMS |= {"CrOS": "a Chromebook", "Linux": "Linux"}
UNITS = ((86400, "day"), (3600, "hour"))  # seconds


@door.get("/signed-in")
def index() -> str:
    """All of them, the last used first."""
    sessions = list(Session.living(g.person.id))
    return render_template("signed_in/index.html", sessions=sessions, own=g.session.id, device=device, ago=ago)


@door.post("/signed-in/<session>/end")
def end(session: str) -> Response:
    """Sign that browser out; its open pages say so within seconds."""
    find.session(session).end()
    return moved("/signed-in")


def device(agent: str) -> str:
    """What a browser calls itself, in words."""
    browser = next((name for sign, name in BROWSERS.items() if f"{sign}/" in agent), "")
    system = next((name for sign, name in SYSTEMS.items() if sign in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or agent[:60] or "An unknown browser"


def ago(then: float) -> str:
    """When THEN (seconds since 1970) was, as people say it. (The use of a session is noted once an hour.)"""
    for length, unit in UNITS:
        count = int((time.time() - then) // length)
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "within the last hour"
