"""Files in the message box: by button, drop and paste, with progress; a long paste; what the model can take."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from database import database
from models import Choice, Conversation, File
from tests.browser import Browser, held
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text
from tests.web.test_files import PNG, told


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    with Scripted() as found:
        yield found.always(lambda body: [text("I see."), *END])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, script: Scripted) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("attaching"), script)
    found.until(lambda: Choice.select().count(), "the models are listed")
    database.run(lambda: Choice.create(id="other", name="Other model", group="Elsewhere", sees=True, room=2000))
    yield found
    found.close()


@pytest.fixture(scope="module")
def ada(place: Place) -> Visitor:
    return place.visitor("Ada")


@pytest.fixture
def garden(place: Place, ada: Visitor) -> str:
    chat = ada.begins("Hello")
    place.settled(chat)
    return chat


@pytest.fixture
def page(browser: Browser, ada: Visitor, garden: str) -> Iterator[Page]:
    found = browser.page(ada, garden)
    yield found
    found.context.close()


def names(page: Page) -> list[str]:
    return page.locator("#waiting .file__name").all_inner_texts()


GIVE = """([how, name, body]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([Uint8Array.from(body, (c) => c.charCodeAt(0))], name));
  const at = document.getElementById("text");
  if (how === "drop") {
    at.dispatchEvent(new DragEvent("dragover", { bubbles: true, cancelable: true, dataTransfer: carried }));
    window.over = document.getElementById("composer").hasAttribute("data-drop");
    at.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: carried }));
  } else at.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: carried }));
}"""
PASTE = """([text]) => {
  const carried = new DataTransfer();
  carried.setData("text/plain", text);
  const box = document.getElementById("text"), began = performance.now();
  box.focus();
  const paste = { bubbles: true, cancelable: true, clipboardData: carried };
  const taken = !box.dispatchEvent(new ClipboardEvent("paste", paste));
  if (!taken) box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
  box.getBoundingClientRect();
  return [taken, performance.now() - began];
}"""


def give(page: Page, how: str, name: str, body: bytes) -> None:
    page.evaluate(GIVE, [how, name, body.decode("latin-1")])


def test_files_come_by_button_drop_and_paste_and_go_with_the_message(
    place: Place, script: Scripted, garden: str, page: Page, tmp_path: Path
):
    (tmp_path / "notes.md").write_text("# Beds")
    page.locator("#chooser").set_input_files(tmp_path / "notes.md")
    page.locator("#waiting").get_by_text("6 bytes").wait_for()
    give(page, "drop", "page.html", b"<b>as it is</b>")
    page.locator("#waiting").get_by_text("15 bytes").wait_for()
    assert page.evaluate("window.over") and page.locator("#composer[data-drop]").count() == 0
    give(page, "paste", "bed.png", PNG)
    page.locator("#waiting [data-kind='image/png']").wait_for()
    assert page.get_by_text("scripted-1 cannot see images. It is only told their names.").is_visible()
    page.get_by_role("button", name="Remove page.html").click()
    held(page, "document.querySelectorAll('#waiting li').length === 2")
    page.reload()
    assert names(page) == ["notes.md", "bed.png"], "they are kept like the draft"
    page.get_by_label("Your message").press("Enter")
    page.locator(".user .file").nth(1).wait_for()
    assert page.locator(".user .file__name").all_inner_texts() == ["notes.md", "bed.png"]
    held(page, "document.querySelectorAll('#waiting li').length === 0")
    assert not page.get_by_text("cannot see images").is_visible()
    place.settled(garden)
    assert told(script) == '<file name="notes.md">\n# Beds\n</file>\n\n[image bed.png: this model cannot see images]'


def test_what_cannot_be_taken_is_said_before_it_is_sent(page: Page):
    give(page, "drop", "report.pdf", b"%PDF-1.7")
    page.get_by_role("alert").get_by_text("report.pdf cannot be read here yet").wait_for()
    give(page, "drop", "program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0")
    page.get_by_role("alert").get_by_text("neither text nor a PNG").wait_for()
    assert names(page) == []
    page.evaluate("""() => {
      const carried = new DataTransfer();
      carried.items.add(new File([new Uint8Array(26 << 20)], "big.txt"));
      const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: carried });
      document.getElementById("text").dispatchEvent(drop);
    }""")
    page.get_by_role("alert").get_by_text("big.txt is larger than 25 MB").wait_for()
    assert names(page) == []


def test_an_upload_shows_how_far_it_is_and_can_be_cancelled_and_the_message_waits_for_it(
    place: Place, ada: Visitor, garden: str, page: Page
):
    held_back: list = []
    page.route("**/files", lambda route: held_back.append(route))
    give(page, "drop", "slow.txt", b"slow")
    page.get_by_role("progressbar", name="Uploading").wait_for()
    page.get_by_label("Your message").fill("With a file")
    page.keyboard.press("Enter")
    page.get_by_text("Sending when the files are there").wait_for()
    page.get_by_role("button", name="Cancel the upload").click()
    held(page, "document.querySelectorAll('#waiting li').length === 0")
    assert page.get_by_label("Your message").input_value() == "With a file"
    page.unroute("**/files")
    page.route("**/files", lambda route: held_back.append(route))
    give(page, "drop", "quick.txt", b"quick")
    held(page, "document.querySelectorAll('#waiting li').length === 1")
    page.keyboard.press("Enter")
    page.get_by_text("Sending when the files are there").wait_for()
    place.until(lambda: page.wait_for_timeout(20) or len(held_back) == 2)
    held_back[1].continue_()
    page.locator(".user .file").get_by_text("quick.txt").wait_for()
    place.settled(garden)
    assert [(item.text, len(item.attached)) for item in place.items(garden)][2] == ("With a file", 1)
    assert File.waiting(garden, ada.person.id) == []


LONG = {
    "20,000 lines": "a line of text\n" * 20_000,
    "2 MB": "words and " * 200_000,
    "one line of 1 MB": "x" * 1_000_000,
}


@pytest.mark.parametrize("what", LONG)
def test_a_long_paste_is_attached_at_once_and_can_be_undone(
    place: Place, ada: Visitor, garden: str, page: Page, what: str
):
    page.get_by_label("Your message").fill("Before after")
    page.evaluate("document.getElementById('text').setSelectionRange(7, 7)")
    taken, took = page.evaluate(PASTE, [LONG[what]])
    assert taken and took < 200
    assert page.get_by_label("Your message").input_value() == "Before after"
    page.get_by_text("Your long text is attached as a file.").wait_for()
    page.locator("#waiting [data-kind='text/plain']").wait_for()
    assert File.waiting(garden, ada.person.id)[0].size == len(LONG[what])
    undo = page.get_by_role("button", name="Paste as text")
    if len(LONG[what]) + 12 <= 1_000_000:
        undo.click()
        assert page.get_by_label("Your message").input_value() == f"Before {LONG[what]}after"
        held(page, "document.querySelectorAll('#waiting li').length === 0")
        place.until(lambda: not File.waiting(garden, ada.person.id))
    else:
        assert not undo.is_visible(), "no message is that long"


def test_a_short_paste_stays_text(page: Page):
    assert page.evaluate(PASTE, ["a\nb\n" * 50])[0] is False
    assert page.get_by_label("Your message").input_value() == "a\nb\n" * 50


# What the model can take


def test_the_model_is_chosen_by_key_for_one_conversation_and_stays_so(
    place: Place, script: Scripted, ada: Visitor, garden: str, page: Page
):
    other = ada.begins("Another")
    place.settled(other)
    page.get_by_label("Model").focus()
    page.keyboard.type("Oth")
    held(page, "document.getElementById('model').value === 'other'")
    place.until(lambda: Conversation.get_by_id(garden).model == "other")
    assert Conversation.get_by_id(other).model == ""
    assert (
        page.locator("#model optgroup").evaluate_all("groups => groups.map((group) => group.label)")[-1] == "Elsewhere"
    )
    page.get_by_label("Your message").fill("From the other one")
    page.keyboard.press("Enter")
    page.locator(".user").nth(1).wait_for()
    place.settled(garden)
    assert script.requests[-1].body["model"] == "other"
    page.reload()
    assert page.get_by_label("Model").input_value() == "other"
    page.goto(f"{place.url}/conversations/{other}")
    assert page.get_by_label("Model").input_value() == ""
    page.get_by_role("link", name="New conversation").click()
    page.get_by_label("Model").select_option("other")
    page.get_by_label("Your message").fill("Begin with it")
    page.keyboard.press("Enter")
    page.locator("#items").get_by_text("Begin with it").wait_for()
    assert page.get_by_label("Model").input_value() == "other"
    place.settled(page.url.rsplit("/", 1)[1])


def test_the_draft_says_how_long_it_is_when_it_is_long(page: Page):
    box = page.get_by_label("Your message")
    box.fill("word " * 399)
    assert not page.locator("#tokens").is_visible()
    box.fill("word " * 400)
    assert page.locator("#tokens").inner_text() == "about 500 tokens"
    page.get_by_label("Model").select_option("other")
    assert page.locator("#tokens").inner_text() == "about 500 of 2,000 tokens"
    assert page.locator("#tokens[data-over]").count() == 0
    box.fill("word " * 2000)
    assert page.locator("#tokens[data-over]").inner_text() == "about 2,500 of 2,000 tokens"
