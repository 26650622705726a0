"""The websocket of an open page: authorise, join, and stay until the page leaves."""

from flask import Flask, abort, current_app, g, request
from flask_sock import Sock

from live.follow import TOO_MANY, Follower, OpenPage
from live.handshake import accept
from live.socket import Socket
from models import Conversation


def install(app: Flask, follower: Follower) -> None:
    """Add the routes of the socket to APP."""
    sock = Sock(app)

    def live(socket: Socket, id: str) -> None:
        theirs = sum(page.person == g.person.id for page in follower.pages)
        if theirs >= current_app.config["SETTINGS"].pages_person:
            socket.close(TOO_MANY)  # (a browser shows no words of a handshake that is refused)
            return
        page = OpenPage(g.person.id, g.session.id, id, socket)
        since = request.args.get("since", "")
        try:
            follower.join(page, int(since[:18]) if since.isdecimal() else 0)
            socket.linger()
        finally:
            follower.leave(page)

    sock.route("/live", defaults={"id": ""}, endpoint="live_list")(live)
    sock.route("/conversations/<id>/live", endpoint="live")(live)

    @app.before_request
    def allowed() -> None:
        """Before the handshake: only our own pages, and only the person's own conversations."""
        if request.endpoint not in ("live", "live_list"):
            return
        accept(request.environ, current_app.config["SETTINGS"].public_url or request.host_url)
        id = (request.view_args or {}).get("id", "")
        if id and not Conversation.seen_by(g.person.id, id):
            abort(404, "There is no such conversation, or it is not yours to see.")
