"""Parley as an app of its own: the manifest, the worker, and the page for when the server is away."""

import hashlib
import json
from pathlib import Path

from flask import Blueprint, Response, current_app, render_template

from web.assets import ASSETS, STATIC
from web.auth import open_to_all

door = Blueprint("installable", __name__)

SHADES = {"light": "#fcfbf9", "dark": "#141817"}  # the colour of the page (colors.css) by day and by night
TEMPLATES = Path(__file__).parent.parent / "templates"


@door.app_context_processor
def known() -> dict[str, dict[str, str]]:
    return {"shades": SHADES}


@door.get("/manifest.webmanifest")
@open_to_all
def manifest() -> Response:
    """What the app is called, where it begins and how it looks (W3C, Web Application Manifest)."""
    base = current_app.config["BASE"]
    told = {
        "name": "Parley",
        "short_name": "Parley",
        "description": "A place of your own to talk with agents",
        **dict.fromkeys(("id", "start_url", "scope"), f"{base}/"),
        "display": "standalone",
        "theme_color": SHADES["light"],
        "background_color": SHADES["light"],
        "icons": [
            {"src": base + ASSETS.icon, "type": "image/svg+xml", "sizes": "any"},
            *(picture(base, f"icon-{size}", size, "any") for size in (192, 512)),
            picture(base, "icon-maskable-512", 512, "maskable"),
        ],
    }
    return Response(json.dumps(told), mimetype="application/manifest+json", headers={"Cache-Control": "no-cache"})


def picture(base: str, name: str, size: int, purpose: str) -> dict[str, str]:
    return {"src": base + ASSETS.icons[name], "type": "image/png", "sizes": f"{size}x{size}", "purpose": purpose}


@door.get("/service-worker.js")
@open_to_all
def worker() -> Response:
    """The worker, which knows the paths of the offline page and of its parts. A new version of these is a new one."""
    base = current_app.config["BASE"]
    parts = [base + path for path in (ASSETS.style, *ASSETS.scripts, ASSETS.icon)]
    page = "".join((TEMPLATES / name).read_text() for name in ("layout.html", "offline.html"))
    version = hashlib.sha256(json.dumps([page, parts]).encode()).hexdigest()[:12]
    names = {"VERSION": version, "OFFLINE": f"{base}/offline", "PARTS": parts}
    head = "".join(f"const {name} = {json.dumps(value)}; " for name, value in names.items())
    headers = {"Cache-Control": "no-cache", "Service-Worker-Allowed": f"{base}/"}
    body = f"{head}\n{(STATIC / 'service-worker.js').read_text()}"
    return Response(body, mimetype="text/javascript", headers=headers)


@door.get("/offline")
@open_to_all
def offline() -> str:
    return render_template("offline.html")
