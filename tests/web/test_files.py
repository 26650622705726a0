"""Files that people attach: what is taken, who gets it, what the model is told, and that nothing stays behind."""

import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import httpx2
import pytest

from database import database
from models import File, Item
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 2, 2, 8, 2, 0, 0, 0) + b"rest"
JPEG, GIF, WEBP = b"\xff\xd8\xff\xe0 rest", b"GIF89a rest", b"RIFF\x10\0\0\0WEBPVP8 rest"
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    with Scripted() as found:
        yield found.always(lambda body: [text("I see."), *END])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, script: Scripted) -> Iterator[Place]:
    limits = {"CHAT_FILE_SIZE": "2", "CHAT_FILES_MESSAGE": "3", "CHAT_FILES_PERSON": "12"}
    found = Place(tmp_path_factory.mktemp("files"), script, AI_SEES="1", **limits)
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


def attach(who: Visitor, chat: str, name: str, body: bytes) -> httpx2.Response:
    path = f"/conversations/{chat}/files" if chat else "/files"
    return who.client.post(path, files={"file": (name, body)}, headers={"HX-Request": "true"})


def attached(who: Visitor, chat: str, name: str, body: bytes) -> str:
    answer = attach(who, chat, name, body)
    assert answer.status_code == 201, answer.text
    return File.waiting(chat, who.person.id)[-1].id


def on_disk(place: Place) -> set[str]:
    return {path.name for path in (place.folder / "files").glob("*")}


def told(script: Scripted) -> object:
    """What the model was last told."""
    streamed = [request for request in script.requests if request.body.get("stream")]
    return streamed[-1].body["messages"][-1]["content"]


KINDS = {
    "notes.txt": (b"plain", "text/plain", "utf-8"),
    "w\u00f6rter.md": ("Grüße 日本".encode(), "text/plain", "utf-8"),
    "windows.csv": ("Größe;5".encode("cp1252"), "text/plain", "cp1252"),
    "wide.txt": ("Grüße".encode("utf-16"), "text/plain", "utf-16"),
    "page.html": (b"<script>alert(1)</script>", "text/plain", "utf-8"),
    "a.svg": (b"<svg onload=alert(1)>", "text/plain", "utf-8"),
    "picture.txt": (PNG, "image/png", ""),
    "photo": (JPEG, "image/jpeg", ""),
    "moves.gif": (GIF, "image/gif", ""),
    "new.webp": (WEBP, "image/webp", ""),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_bytes_say_what_a_file_is_and_it_is_handed_out_as_an_attachment(place: Place, ada: Visitor, name: str):
    body, kind, charset = KINDS[name]
    key = attached(ada, "", name, body)
    row = File.get_by_id(key)
    assert (row.name, row.kind, row.charset, row.size) == (name, kind, charset, len(body))
    assert (place.folder / "files" / key).stat().st_mode & 0o777 == 0o600
    answer = ada.client.get(f"/files/{key}")
    assert answer.content == body and answer.headers["Content-Type"].startswith(kind)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Cache-Control"] == "no-store"
    assert ada.client.post(f"/files/{key}/remove").status_code == 303
    assert key not in on_disk(place) and not File.find(File.id == key)


REFUSED = {
    "report.pdf": (b"%PDF-1.7 ...", "PDFs cannot be read here yet"),
    "letter.docx": (b"PK\x03\x04....", "Word, Excel and other packed files cannot be read here yet"),
    "program.png": (b"\x7fELF\x02\x01\x01\0\0\0\0\0", "neither text nor a PNG"),
    "empty.txt": (b"", "This file is empty"),
    "noise.txt": (bytes(range(256)), "neither text nor a PNG"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_taken_is_refused_in_words_and_leaves_nothing(place: Place, ada: Visitor, garden: str, name: str):
    before = on_disk(place)
    answer = attach(ada, garden, name, REFUSED[name][0])
    assert answer.status_code == 415 and name in answer.text and REFUSED[name][1] in answer.text
    assert on_disk(place) == before and File.waiting(garden, ada.person.id) == []


NAMES = {
    "../../etc/passwd": "passwd",
    "..\\..\\evil.txt": "evil.txt",
    "C:\\Users\\x\\notes.md": "notes.md",
    'a"; filename=b.exe': 'a"; filename=b.exe',
    "\u202egnp.exe": "gnp.exe",
    "con.txt": "con.txt",
    "...": "file",
    "a\u2066b\x9f\x07.txt": "ab.txt",
    "x" * 200 + ".txt": "x" * 115 + "….txt",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_only_shown_never_a_place(place: Place, ada: Visitor, name: str):
    named = f"filename*=UTF-8''{quoted(name)}"
    head = f'--x\r\nContent-Disposition: form-data; name="file"; {named}\r\n\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = ada.client.post("/files", content=head.encode() + b"text\r\n--x--\r\n", headers=kind)
    assert answer.status_code == 303, answer.text
    row = File.waiting("", ada.person.id)[-1]
    assert row.name == NAMES[name]
    assert on_disk(place) >= {row.id} and not (place.folder / name).exists()
    header = ada.client.get(f"/files/{row.id}").headers["Content-Disposition"]
    assert "\n" not in header and header.startswith("attachment")
    ada.client.post(f"/files/{row.id}/remove")


def quoted(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())


def test_a_text_is_inlined_and_a_picture_is_a_part_of_its_own(
    place: Place, script: Scripted, ada: Visitor, garden: str
):
    keys = [attached(ada, garden, "notes.md", b"# Beds\nnorth"), attached(ada, garden, "bed.png", PNG)]
    assert ada.asks(garden, "What is this?", file=keys).status_code == 303
    place.settled(garden)
    words, picture = told(script)
    assert words == {"type": "text", "text": 'What is this?\n\n<file name="notes.md">\n# Beds\nnorth\n</file>'}
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")
    message = next(item for item in place.items(garden) if item.files)
    assert message.files == ",".join(keys) and [file.item for file in message.attached] == [message.id] * 2
    page = ada.sees(garden)
    assert "notes.md" in page and "12 bytes" in page and "bed.png" in page
    assert File.waiting(garden, ada.person.id) == []

    ada.asks(garden, "Other words", edits=message.id)
    place.settled(garden)
    assert told(script)[1] == picture, "the files come along with an edit"


def test_a_file_without_words_is_a_message_and_begins_a_conversation(place: Place, script: Scripted, ada: Visitor):
    key = attached(ada, "", "notes.txt", b"Only this")
    chat = ada.begins("", file=key)
    place.settled(chat)
    assert told(script) == '<file name="notes.txt">\nOnly this\n</file>'
    assert File.get_by_id(key).chat == chat


def test_a_long_text_loses_its_middle_and_says_so(place: Place, script: Scripted, ada: Visitor, garden: str):
    key = attached(ada, garden, "long.txt", b"begin " + "wörter ".encode() * 100_000 + b" end")
    ada.asks(garden, "Sum it up", file=key)
    place.settled(garden)
    content = told(script)
    assert len(content) < 110_000
    assert "begin wörter" in content and content.endswith(" end\n</file>")
    assert "the middle is left out here; the whole file has 781.3 KB" in content and "\ufffd" not in content


# Limits


def test_too_large_a_file_is_refused_before_all_of_it_was_read(place: Place, ada: Visitor, garden: str):
    before = on_disk(place)
    answer = attach(ada, garden, "large.txt", b"x" * (2 * MEGABYTE + 1))
    assert answer.status_code == 413 and "larger than 2 MB" in answer.text
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    for length in (30 * MEGABYTE, 5 * MEGABYTE):
        with closing(HTTPConnection("127.0.0.1", place.port, timeout=20)) as connection:
            connection.putrequest("POST", f"/conversations/{garden}/files")
            cookie = "; ".join(f"{c.name}={c.value}" for c in ada.client.cookies.jar)
            kind = "multipart/form-data; boundary=x"
            for name, value in {"Cookie": cookie, "Origin": place.url, "Content-Type": kind}.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(length))
            connection.endheaders(head if length > 20 * MEGABYTE else head + b"x" * (3 * MEGABYTE))
            assert connection.getresponse().status == 413, "though the rest was never sent"
    assert on_disk(place) == before and File.waiting(garden, ada.person.id) == []


def test_an_upload_that_breaks_off_leaves_nothing(place: Place, ada: Visitor, garden: str):
    before = on_disk(place)
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    half = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf'
    answer = ada.client.post(f"/conversations/{garden}/files", content=half, headers=kind)
    assert answer.status_code == 400 and "ended too early" in answer.text
    assert ada.client.post(f"/conversations/{garden}/files", data={"text": "x"}).status_code == 400
    place.until(lambda: on_disk(place) == before)


def test_a_message_takes_so_many_files_and_a_person_so_many_bytes(place: Place):
    ben = place.visitor("Ben")
    for number in range(3):
        attached(ben, "", f"{number}.txt", b"x")
    answer = attach(ben, "", "4.txt", b"x")
    assert answer.status_code == 409 and "takes 3 files" in answer.text
    cid = place.visitor("Cid")
    answers: list[int] = []

    def fill(chat: str) -> None:
        for _ in range(2):
            send = lambda: attach(cid, chat, "big.txt", b"y" * (2 * MEGABYTE - 9)).status_code  # noqa: E731
            answers.append(next(code for code in iter(send, None) if code != 503))  # (a slow disk)

    chats = [cid.begins(f"Hello {n}") for n in range(5)]
    threads = [threading.Thread(target=fill, args=(chat,)) for chat in chats]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201] * 6 + [409] * 4
    assert File.of(cid.person.id) <= 12 * MEGABYTE
    place.until(lambda: len(on_disk(place)) == File.select().count(), "no bytes without a row")


# Whose they are


def test_a_file_is_seen_by_those_who_see_the_conversation(place: Place, ada: Visitor, garden: str):
    dan, eva = place.visitor("Dan"), place.visitor("Eva")
    place.joins(garden, dan, "reader")
    key = attached(ada, garden, "secret.txt", b"Secret")
    assert dan.client.get(f"/files/{key}").status_code == 404, "it is not sent yet"
    assert dan.asks(garden, "Mine", file=key).status_code == 403
    ada.asks(garden, "Look", file=key)
    assert dan.client.get(f"/files/{key}").content == b"Secret"
    foreign, missing = eva.client.get(f"/files/{key}"), eva.client.get(f"/files/{'0' * 20}")
    assert foreign.status_code == missing.status_code == 404 and foreign.text == missing.text
    assert eva.asks(eva.begins("Mine now?"), "Look", file=key).status_code == 409
    assert ada.client.post(f"/files/{key}/remove").status_code == 404, "it was sent"
    place.leaves(garden, dan)
    assert dan.client.get(f"/files/{key}").status_code == 404
    place.settled(garden)


def test_the_files_of_a_message_that_is_taken_back_wait_again(
    place: Place, script: Scripted, ada: Visitor, garden: str
):
    gate = script.gate()
    script.plays(text("Well"), gate, *END)
    ada.asks(garden, "Busy?")
    assert gate.reached.wait(20)
    key = attached(ada, garden, "notes.txt", b"notes")
    ada.asks(garden, "And this", file=key)
    item = Item.get(Item.chat == garden, Item.state == "queued")
    answer = ada.client.post(f"/conversations/{garden}/unqueue", data={"item": item.id}, headers={"HX-Request": "true"})
    assert answer.status_code == 200 and "notes.txt" in answer.text
    assert [file.id for file in File.waiting(garden, ada.person.id)] == [key]
    gate.open()
    place.settled(garden)


def test_what_was_never_sent_goes_after_a_day_and_a_conversation_takes_its_files_along(
    place: Place, ada: Visitor, garden: str
):
    old, new = attached(ada, garden, "old.txt", b"old"), attached(ada, garden, "new.txt", b"new")
    sent = attached(ada, garden, "sent.txt", b"sent")
    ada.asks(garden, "Look", file=sent)
    place.settled(garden)
    File.update(created=1.0).where(File.id.in_([old, sent])).execute()
    File.sweep()
    assert {old, new, sent} & on_disk(place) == {new, sent}
    File.leave(garden)
    assert not {new, sent} & on_disk(place) and not File.find(File.chat == garden)


def test_a_model_that_sees_nothing_is_told_the_names(place: Place, script: Scripted, tmp_path: Path):
    blind = Place(tmp_path, script)
    eve = blind.visitor("Eve")
    key = attached(eve, "", "bed.png", PNG)
    chat = eve.begins("What is this?", file=key)
    blind.settled(chat)
    assert told(script) == "What is this?\n\n[image bed.png: this model cannot see images]"
    assert "cannot see images" in eve.sees(chat)
    blind.close()
    database.open(place.folder / "parley.db")
