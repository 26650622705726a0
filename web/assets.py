"""Styles and scripts: joined, named by their contents and compressed once, when the server starts."""

import gzip
import hashlib
from pathlib import Path

from flask import Blueprint, Response, abort, request

from web.auth import open_to_all

door = Blueprint("assets", __name__)

STATIC = Path(__file__).parent.parent / "static"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
TYPES |= {".svg": "image/svg+xml", ".png": "image/png"}
FOREVER = "public, max-age=31536000, immutable"
FIRST_STYLES = ("colors.css", "base.css", "layout.css")


class Assets:
    """The files as they are served: by their name with a hash, (type, bytes, compressed bytes)."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, bytes, bytes]] = {}
        self.style = self.add("app.css", joined(STATIC / "css", FIRST_STYLES))
        vendored = b"\n;".join(path.read_bytes() for path in sorted((STATIC / "vendor").glob("*.js")))
        own = b"\n".join(b"{\n" + path.read_bytes() + b"}" for path in sorted((STATIC / "js").glob("*.js")))
        self.scripts = [self.add("vendor.js", vendored), self.add("app.js", b'"use strict";\n' + own)]
        self.icon = self.add("icon.svg", (STATIC / "icon.svg").read_bytes())
        self.icons = {path.stem: self.add(path.name, path.read_bytes()) for path in (STATIC / "icons").glob("*.png")}

    def add(self, name: str, body: bytes) -> str:
        """Serve BODY; its path under the base."""
        stem, dot, kind = name.rpartition(".")
        served = f"{stem}-{hashlib.sha256(body).hexdigest()[:12]}.{kind}"
        self.files[served] = (TYPES[dot + kind], body, gzip.compress(body, 9, mtime=0))
        return f"/assets/{served}"


def joined(folder: Path, first: tuple[str, ...]) -> bytes:
    """All styles of FOLDER, those that the others build on FIRST."""
    rest = sorted(path.name for path in folder.glob("*.css") if path.name not in first)
    return b"\n".join((folder / name).read_bytes() for name in (*first, *rest))


ASSETS = Assets()


@door.get("/assets/<name>")
@open_to_all
def serve(name: str) -> Response:
    kind, body, packed = ASSETS.files.get(name) or abort(404, "There is no such file.")
    headers = {"Content-Type": kind, "Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
    if "gzip" in request.accept_encodings:
        return Response(packed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(body, headers=headers)
