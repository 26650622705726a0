"""How a changing request is answered: nothing for a page that follows the log, a redirect for a plain form."""

from flask import Response, current_app, redirect, request


def no_content(path: str) -> Response:
    """204 for a page that follows the log; a plain form goes to PATH."""
    if request.headers.get("HX-Request"):
        return Response(status=204)
    return redirect(current_app.config["BASE"] + path, 303)


def moved(path: str) -> Response:
    """The page goes to PATH."""
    where = current_app.config["BASE"] + path
    if request.headers.get("HX-Request"):
        return Response(status=204, headers={"HX-Redirect": where})
    return redirect(where, 303)
