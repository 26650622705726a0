"""What the eye would notice: nothing is wider than the screen, nothing jumps, and every word can be read."""

import pytest
from playwright.sync_api import Page

from models import Assistant
from tests.browser import Browser
from tests.place import Place
from tests.scripted import END, Scripted, text
from web.help import PAGES

COLUMNS = 14
TABLE = "\n".join("|" + cell * COLUMNS for cell in (" Column |", "---|", " 1,204 items |"))
WIDE = f"""{TABLE}

{"Donau" * 180}

```js
const long = "{"abcdefg " * 500}";
```

A quotation of `{"a/b/c" * 60}`, and https://example.org/{"segment/" * 48}

$$ {" + ".join(["x^2"] * 60)} $$

- In a list, in a quotation:
  > $$ {" + ".join(["x^2"] * 60)} $$
"""
ALL_KINDS = """# Tides

Two **pulls**, `h = 2`, a [link](https://example.org) and $x^2$.

> The nearer one wins.

- [x] Moon
- [ ] Sun

| Place | Metres |
|---|---:|
| North | 4 |

```python
@cached
def high(at: float = 0.5) -> str:
    \"\"\"Words.\"\"\"
    return f"no: {at!r}\\n" if at is None else Tide(0x1F)  # why
```

```diff
- went
+ came
```

![A harbour](https://pictures.example/harbour.jpg)
"""
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}


def test_nothing_is_wider_than_a_small_phone(place: Place, script: Scripted, browser: Browser):
    script.says(WIDE)
    ada = place.visitor()
    garden = ada.begins("https://example.org/" + "path-without-end" * 24)
    place.settled(garden)
    page = browser.page(ada, garden, viewport={"width": 320, "height": 640})
    assert page.locator(".content th").count() == COLUMNS
    assert page.evaluate("document.documentElement.scrollWidth") == page.evaluate("innerWidth") == 320
    assert page.evaluate("scroll => scroll.scrollWidth === scroll.clientWidth", page.query_selector("#scroll"))
    assert [kind for kind in (".table", "pre", "math") if not slides(page, kind)] == []
    for part in page.locator(".composer, .user__text, .block, .foot, .head").all():
        box = part.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 320


def test_nothing_jumps_when_an_answer_begins_and_ends(place: Place, script: Scripted, browser: Browser):
    ada, gate = place.visitor(), script.gate()
    script.says("\n\n".join(["A paragraph."] * 40))
    garden = ada.begins("Tell me much")
    place.settled(garden)
    page = browser.page(ada, garden, viewport={"width": 320, "height": 640})
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    before = places(page)
    script.plays(text("More."), gate, *END)
    ada.asks(garden, "And more")
    page.get_by_text("More.", exact=True).wait_for()
    assert page.locator("#status").get_by_text("Answering").is_visible()
    assert places(page) == before
    gate.open()
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    assert places(page) == before


def test_what_is_new_below_does_not_cover_the_message_box(place: Place, script: Scripted, browser: Browser):
    ada = place.visitor()
    script.says("\n\n".join(["A paragraph."] * 40)).says("Below.")
    garden = ada.begins("Tell me much")
    place.settled(garden)
    page = browser.page(ada, garden, viewport={"width": 320, "height": 640})
    page.get_by_label("Your message").fill("one\ntwo\nthree\nfour\nfive")
    page.locator("#scroll").evaluate("scroll => scroll.scrollTop = 0")
    ada.asks(garden, "And more")
    newer = page.get_by_role("button", name="New below")
    newer.wait_for()
    button, box = newer.bounding_box(), page.locator("#composer").bounding_box()
    assert button["y"] + button["height"] <= box["y"]
    assert button["height"] >= 44
    place.settled(garden)


def test_every_word_can_be_read_by_day_and_by_night(place: Place, script: Scripted, browser: Browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    script.says(ALL_KINDS, thinks="Briefly.").refuses(401, "Incorrect API key")
    ada = place.visitor()
    garden = ada.begins("Tell me about the tides")
    place.settled(garden)
    ada.asks(garden, "And the Moon?")
    place.settled(garden)
    page = browser.page(ada, garden, reduced_motion="reduce", viewport={"width": 1280, "height": 800})
    for fold in page.locator("summary").all():
        fold.click()
    assert page.locator(".code .k").count(), "code is coloured"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.run(page, options=RULES).response
        assert any(rule["id"] == "color-contrast" for rule in found["passes"]), "the rule was tried"
        assert [(rule["id"], [n["html"] for n in rule["nodes"]]) for rule in found["violations"]] == [], scheme


def test_every_page_beside_the_conversations_can_be_read(place: Place, browser: Browser):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    ada = place.visitor("Ada")
    ada.client.post("/agents", data={"name": "Gardener", "instructions": "Be brief.", "temperature": "0.3"})
    context = browser.context(ada, viewport={"width": 320, "height": 640}, reduced_motion="reduce")
    page = context.new_page()
    mine = Assistant.get(Assistant.name == "Gardener").id
    paths = ["", "agents", f"agents/{mine}", f"agents/{Assistant.first().id}", "agents/new", "preferences", "signed-in"]
    for path in [*paths, "offline", *(f"help/{name}" for name in PAGES)]:
        page.goto(f"{place.url}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page, options=RULES).response
            assert any(rule["id"] == "color-contrast" for rule in found["passes"]), "the rule was tried"
            faults = [(rule["id"], [n["html"] for n in rule["nodes"]]) for rule in found["violations"]]
            assert faults == [], (path, scheme)
    context.close()


def slides(page: Page, kind: str) -> bool:
    """Whether the first KIND of element is wider inside than it shows."""
    return page.locator(f".content {kind}").first.evaluate("one => one.scrollWidth > one.clientWidth")


def places(page: Page) -> list[dict[str, float]]:
    return [page.locator(part).bounding_box() for part in (".head", "#scroll", "#status", "#composer")]
