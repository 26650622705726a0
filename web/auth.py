"""Who is asking. Every route wants a signed-in person, but those that say `open_to_all`."""

from collections.abc import Callable
from urllib.parse import urlsplit

from flask import Response, abort, current_app, g, redirect, request

from models import Person, Session
from tables.people import now

SEEN_EVERY = 3600  # seconds between two notes that a session was used
OPEN: set[str] = set()


def open_to_all(view: Callable) -> Callable:
    """This view answers people who are not signed in too."""
    OPEN.add(view.__name__)
    view.open_to_all = True
    return view


def check() -> Response | None:
    """Before each request: who asks, and whether the request comes from our own pages."""
    if request.method not in ("GET", "HEAD", "OPTIONS") and not own_page():
        abort(403, "This request came from another site. Open Parley itself and try again.")
    g.session = Session.known(request.cookies.get(current_app.config["COOKIE"], ""))
    g.person = Person.find(Person.id == g.session.person) if g.session else None
    view = current_app.view_functions.get(request.endpoint)
    if g.person is None and view and not getattr(view, "open_to_all", False):
        return turn_away()
    if g.session and g.session.seen < now() - SEEN_EVERY:
        g.session.visited()
    return None


def own_page() -> bool:
    """Whether a changing request was made by our own page: Sec-Fetch-Site where the browser sends it, and Origin."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site not in (None, "same-origin", "none"):
        return False
    return origin == own_origin() or (site == "same-origin" and origin in (None, "null"))


def own_origin() -> str:
    """The origin browsers see: of the public address where one is set, else of the request."""
    public = current_app.config["SETTINGS"].public_url
    if public:
        parts = urlsplit(public)
        return f"{parts.scheme}://{parts.netloc}"
    return f"{request.scheme}://{request.host}"


def turn_away() -> Response:
    """A page goes to the sign-in page; a script hears 401."""
    if request.method == "GET" and not request.headers.get("HX-Request"):
        return redirect(f"{current_app.config['BASE']}/enter", 303)
    abort(401, "You are signed out. Sign in again; what you typed is kept.")


def secure() -> bool:
    return own_origin().startswith("https:")
