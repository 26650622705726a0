"""The disk and the lock: nothing acknowledged is lost, nobody else waits, and the page says what is wrong."""

import os
import random
import resource
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest

from database import database
from models import Conversation, Draft, Item, Membership, Person
from tests.browser import Browser, as_fresh
from tests.place import ROOT, Place
from tests.scripted import END, Scripted, text

STALL = 1.0  # seconds; what nobody may wait because of somebody else's lock


@contextmanager
def locked(place: Place) -> Iterator[None]:
    """Another program holds the lock for writing."""
    other = sqlite3.connect(place.folder / "parley.db", isolation_level=None)
    other.execute("begin immediate")
    try:
        yield
    finally:
        other.execute("rollback")
        other.close()


class Asking(threading.Thread):
    """Somebody who sends a message and waits for what becomes of it."""

    def __init__(self, send: Callable[[], httpx2.Response]) -> None:
        super().__init__(daemon=True)
        self.send, self.began = send, time.monotonic()
        self.start()

    def run(self) -> None:
        self.answer = self.send()
        self.took = time.monotonic() - self.began


class Watch(threading.Thread):
    """Looks all the time how long the server takes for what needs no lock."""

    def __init__(self, place: Place, chat: str = "") -> None:
        super().__init__(daemon=True)
        self.visitor, self.path = place.visitor("Watcher"), f"/conversations/{chat}" if chat else "/healthz"
        self.longest, self.ended = 0.0, threading.Event()
        if chat:
            place.joins(chat, self.visitor)
        self.start()

    def run(self) -> None:
        while not self.ended.wait(0.02):
            began = time.monotonic()
            assert self.visitor.client.get(self.path).status_code == 200
            self.longest = max(self.longest, time.monotonic() - began)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.join()


def words(count: int, every: float = 0.02) -> list[object]:
    return [part for number in range(count) for part in (text(f"word{number} "), every)]


def test_a_short_lock_is_waited_for_and_stops_nobody_else(place: Place, script: Scripted):
    script.says("Hello.")
    ada = place.visitor()
    with Watch(place) as watch:
        with locked(place):
            asking = Asking(lambda: ada.client.post("/conversations", data={"text": "Hello"}))
            time.sleep(2)  # the length of the lock is what is tested
        asking.join()
    assert asking.answer.status_code == 303
    assert watch.longest < STALL, "the wait for the lock does not stop the others"
    place.settled(asking.answer.headers["Location"].rsplit("/", 1)[1])


def test_a_long_lock_is_told_and_the_growing_answer_is_stored_afterwards(
    place: Place, script: Scripted, browser: Browser
):
    answer = words(1200, 0.01)
    script.plays(*answer, *END).says("Second.")
    ada = place.visitor()
    garden = ada.begins("Tell me all")
    page = browser.page(ada, garden)
    page.get_by_text("word3 ").wait_for()
    with Watch(place, garden) as watch, locked(place):
        page.get_by_label("Your message").fill("Are you there?")
        page.keyboard.press("Enter")
        refused = Asking(lambda: ada.asks(garden, "And I?"))
        refused.join()
        page.get_by_text("Nothing is lost: try again").wait_for()
        assert page.get_by_label("Your message").input_value() == "Are you there?"
        time.sleep(2)
    assert (refused.answer.status_code, refused.answer.headers["Retry-After"]) == (503, "5")
    assert refused.took < 6.5
    assert watch.longest < 3 * STALL, "reading goes on"
    page.get_by_role("button", name="Send").click()
    place.settled(garden)
    assert place.texts(garden)[0] == "".join(part["choices"][0]["delta"]["content"] for part in answer[::2])
    assert [i.text for i in place.items(garden) if i.kind == "user"] == ["Tell me all", "Are you there?"]
    page.get_by_text("Second.").wait_for()
    assert as_fresh(page)


@pytest.mark.soak
def test_a_lock_of_a_minute_loses_nothing(place: Place, script: Scripted):
    script.plays(*words(3000), *END)
    ada = place.visitor()
    garden = ada.begins("Tell me all")
    place.until(lambda: place.texts(garden), "it has begun")
    with locked(place):
        time.sleep(60)
        assert ada.asks(garden, "And?").status_code == 503
    place.settled(garden)
    assert place.texts(garden) == ["".join(f"word{n} " for n in range(3000))]


@contextmanager
def no_room(place: Place) -> Iterator[None]:
    """The server's files may not grow, as under a quota that is used up."""
    _, most = resource.prlimit(place.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(place.process.pid, resource.RLIMIT_FSIZE, (4096, most))
    try:
        yield
    finally:
        resource.prlimit(place.process.pid, resource.RLIMIT_FSIZE, (most, most))


def test_a_full_disk_is_told_keeps_what_was_typed_and_works_again_without_a_restart(
    place: Place, script: Scripted, browser: Browser
):
    gate = script.gate()
    script.plays(text("Half of it "), gate, text("and the rest."), *END).says("There is room.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    page.get_by_text("Half of it").wait_for()
    with no_room(place):
        gate.open()
        page.get_by_label("Your message").fill("Is there room?")
        page.keyboard.press("Enter")
        page.get_by_text("The server's disk is full").wait_for()
        assert page.get_by_label("Your message").input_value() == "Is there room?"
        answer = ada.asks(garden, "Keep <this>")
        assert answer.status_code == 507 and "Keep &lt;this&gt;" in answer.text, "what was typed is still there"
        assert "Half of it" in ada.sees(garden), "reading goes on"
    page.get_by_role("button", name="Send").click()
    page.get_by_text("There is room.").wait_for()
    place.settled(garden)
    assert place.texts(garden) == ["Half of it and the rest.", "There is room."]
    assert [i.text for i in place.items(garden) if i.kind == "user"] == ["Hello", "Is there room?"]
    assert as_fresh(page)


def test_the_running_server_writes_durably(place: Place):
    ada = place.visitor()
    told = {name: database.pragma(name) for name in ("journal_mode", "synchronous", "foreign_keys")}
    assert told == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert (place.folder / "parley.db").stat().st_mode & 0o777 == 0o600
    opened = psutil.Process(place.process.pid).open_files()
    assert any(file.path.endswith("parley.db-wal") for file in opened), "its log is open"
    assert ada.client.get("/healthz").json() == {"status": "ok"}


def test_a_copy_at_any_moment_opens_and_holds_what_was_acknowledged_before(place: Place, script: Scripted, tmp_path):
    """As a power cut leaves it: the file and its log, the log cut anywhere."""
    script.always(lambda body: [*words(10, 0.01), *END])
    ada, chance = place.visitor(), random.Random(13)
    garden = ada.begins("Question 0")
    sure = 0
    for number in range(1, 8):
        assert ada.asks(garden, f"Question {number}").status_code == 303
        sure, whole = number, (place.folder / "parley.db").read_bytes()
        log = (place.folder / "parley.db-wal").read_bytes()
        assert questions(tmp_path / f"copy-{number}", whole, log)[: sure + 1] == [
            f"Question {n}" for n in range(sure + 1)
        ]
    for number in range(60):
        found = questions(tmp_path / f"cut-{number}", whole, log[: chance.randrange(len(log))])
        assert found == [f"Question {n}" for n in range(len(found))], "a beginning of what was written"
    place.settled(garden)


def questions(folder: Path, whole: bytes, log: bytes) -> list[str]:
    """What was asked, as a database of these bytes has it."""
    folder.mkdir()
    (folder / "parley.db").write_bytes(whole)
    (folder / "parley.db-wal").write_bytes(log)
    copy = sqlite3.connect(folder / "parley.db")
    try:
        assert copy.execute("pragma integrity_check").fetchone() == ("ok",)
        if not copy.execute("select 1 from sqlite_master where name = 'item'").fetchone():
            return []
        return [text for (text,) in copy.execute("select text from item where kind = 'user' order by id")]
    finally:
        copy.close()


def test_thirty_runs_people_a_backup_and_another_program_never_meet_a_locked_database(
    script: Scripted, open_place: Callable[..., Place], tmp_path: Path
):
    place = open_place(script, CHAT_RUNS_PERSON="40")
    script.always(lambda body: [*words(40, 0.05), *END])
    ada = place.visitor()
    chats = [ada.begins(f"Question {n}") for n in range(30)]
    with Watch(place) as watch:
        for number in range(10):
            assert ada.asks(chats[number], "And then?").status_code == 303
            database.run(lambda: Person.update(name="Watcher").where(Person.name == "Watcher").execute())
            source, target = sqlite3.connect(place.folder / "parley.db"), sqlite3.connect(tmp_path / f"b{number}.db")
            source.backup(target)
            assert target.execute("pragma integrity_check").fetchone() == ("ok",)
            source.close()
            target.close()
        for chat in chats:
            place.settled(chat)
    expected = "".join(f"word{n} " for n in range(40))
    assert {text for chat in chats for text in place.texts(chat)} == {expected}
    assert watch.longest < 2 * STALL
    assert "locked" not in place.log.read_text()


def test_twenty_things_at_once_lose_nothing(place: Place, script: Scripted):
    """Renames, messages, drafts, a new member and a run that writes, on one conversation."""
    gate = script.gate()
    script.plays(*words(30), gate, *END).always(lambda body: [text("Yes."), *END])
    ada = place.visitor("Ada")
    garden = ada.begins("Hello")
    people = [place.visitor(f"Friend {n}") for n in range(8)]
    for friend in people:
        place.joins(garden, friend)

    def deeds(number: int, friend) -> Callable[[], httpx2.Response]:
        path, form = [("items", "text"), ("draft", "text"), ("title", "title")][number % 3]
        return lambda: friend.client.post(f"/conversations/{garden}/{path}", data={form: f"{path} {number}"})

    sent = [Asking(deeds(n, friend)) for n, friend in enumerate(people * 3)]
    for one in sent:
        one.join()
    assert {one.answer.status_code for one in sent} == {303}
    gate.open()
    place.settled(garden)
    asked = {item.text for item in Item.select().where(Item.kind == "user")}
    assert asked == {"Hello", *(f"items {n}" for n in range(0, 24, 3))}
    assert Draft.select().count() > 0
    assert Conversation.get_by_id(garden).title.startswith("title ")
    assert Conversation.get_by_id(garden).titled == "person"
    assert Membership.select().where(Membership.chat == garden).count() == 9


def test_a_server_whose_clock_went_back_keeps_the_order_and_signs_nobody_out(place: Place, script: Scripted):
    """What is in the database was written by a clock a day ahead."""
    script.says("First.").says("Second.")
    ada = place.visitor()
    garden = ada.begins("One")
    place.settled(garden)
    assert place.stop() == 0
    later = Item.get(Item.kind == "user").id
    ahead = later[:5] + "z"
    assert ahead > later[:6]

    def age() -> None:
        database.execute_sql("update item set id = ? || substr(id, 7), run = ? || substr(run, 7)", (ahead, ahead))

    database.run(age)
    place.start()
    ada.asks(garden, "Two")
    place.settled(garden)
    assert [(i.kind, i.text) for i in place.items(garden)] == [
        ("user", "One"),
        ("text", "First."),
        ("user", "Two"),
        ("text", "Second."),
    ]
    assert place.items(garden)[2].id > ahead
    numbers = [i.used for i in place.items(garden) if i.kind == "text"]
    assert all(0 <= used["first"] <= used["took"] for used in numbers), "no negative durations"


def test_pages_that_come_and_go_leave_nothing_behind(place: Place, script: Scripted, browser: Browser):
    script.says("Hello.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    place.settled(garden)
    server = psutil.Process(place.process.pid)
    page = browser.page(ada, garden)
    before = server.num_fds()
    page.context.close()
    for _ in range(5):
        browser.page(ada, garden).context.close()
    place.until(lambda: server.num_fds() <= before, "their sockets are closed")


def test_a_newer_database_is_refused_in_words(place: Place):
    place.stop()
    database.run(lambda: database.execute_sql("pragma user_version = 999"))
    with pytest.raises(AssertionError, match="Start the newer one"):
        place.start()
    assert place.process.wait(20) == 1
    place.process.stdout.close()
    place.log_file.close()
    assert "Traceback" not in place.log.read_text()
    assert Person.select().count() == 1, "it was not touched"


def test_a_second_server_on_the_same_folder_is_refused_in_words(place: Place, script: Scripted):
    gate = script.gate()
    script.plays(text("Half "), gate, text("and whole."), *END)
    ada = place.visitor()
    garden = ada.begins("Hello")
    assert gate.reached.wait(20)
    environment = {**os.environ, "CHAT_DATA": str(place.folder), "CHAT_PORT": "0"}
    second = subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert second.returncode == 1
    assert "Another Parley serves" in second.stderr and "Traceback" not in second.stderr
    gate.open()
    place.settled(garden)
    assert place.texts(garden) == ["Half and whole."], "the first one went on"
