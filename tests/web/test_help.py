"""The handbook at /help, which is the files of docs/."""

import re

from settings import Settings, fields, variable
from tests.place import Place
from web.help import DOCS, PAGES, drawn


def test_every_page_of_the_handbook_is_there_and_leads_to_the_others(place: Place):
    ada = place.visitor()
    assert {file.stem for file in DOCS.glob("*.md")} == set(PAGES)
    assert "Start</h1>" in ada.client.get("/help").text
    pages = {name: ada.client.get(f"/help/{name}").text for name in PAGES}
    places = {f"/help/{name}" for name in PAGES}
    for name, html in pages.items():
        text = (DOCS / f"{name}.md").read_text()
        assert f"{text.splitlines()[0][2:]}</h1>" in html
        for path, part in re.findall(
            r'href="([^"#:]*)(?:#([\w-]+))?"', html.partition("<main")[2].partition("</main>")[0]
        ):
            assert path in places or not path, f"{name}: {path}"
            if part:
                target = pages[path.rsplit("/", 1)[1]] if path else html
                assert f'id="{part}"' in target, f"{name}: {path}#{part}"
    assert "<table>" in pages["keys"] and '<div class="admonition note">' in pages["start"]
    assert "<dt>Instructions</dt>" in pages["agents"] and "<pre><code" in pages["self-hosting"]
    assert ada.client.get("/help/..%2f..%2fREADME").status_code == 404
    assert ada.client.get("/help/nothing").status_code == 404


def test_the_handbook_leads_to_itself_below_a_path():
    assert 'href="/team/help/self-hosting#models"' in drawn("start", "/team").html


def test_every_setting_that_the_handbook_names_is_one():
    known = {variable(field.name) for field in fields(Settings)}
    for name in PAGES:
        assert set(re.findall(r"\b(?:CHAT|AI)_[A-Z_]+\b", (DOCS / f"{name}.md").read_text())) <= known
