"""The handbook: `docs/` as pages. (Links between its files work on a code host too; here they lead to these pages.)"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from flask import Blueprint, abort, current_app, render_template
from markupsafe import Markup

door = Blueprint("help", __name__)

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ("start", "keys", "agents", "privacy", "self-hosting")
DIALECT = ["toc", "admonition", "fenced_code", "tables", "def_list"]
LINK = re.compile(r'(?<=<a href=")([\w-]+)\.md(?=[#"])')


@dataclass(frozen=True)
class Page:
    """A page of the handbook: its name in addresses, its title, its text as HTML, its parts as (id, name)."""

    name: str
    title: str
    html: Markup
    parts: list[tuple[str, str]]


@door.get("/help")
def index() -> str:
    return show(PAGES[0])


@door.get("/help/<page>")
def show(page: str) -> str:
    if page not in PAGES:
        abort(404, "There is no such page in the handbook.")
    pages = [drawn(name, current_app.config["BASE"]) for name in PAGES]
    return render_template("help/show.html", page=pages[PAGES.index(page)], pages=pages)


@cache
def drawn(name: str, base: str) -> Page:
    """The page NAME as it is read below the path BASE."""
    from markdown import Markdown  # (it is not needed at the start)

    title, _, text = (DOCS / f"{name}.md").read_text().partition("\n")
    writer = Markdown(extensions=DIALECT)
    html = LINK.sub(rf"{base}/help/\1", writer.convert(text))
    parts = [(part["id"], part["name"]) for part in writer.toc_tokens]
    return Page(name, title.removeprefix("# "), Markup(html), parts)
