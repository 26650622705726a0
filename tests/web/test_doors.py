"""Every door: who may pass it, what a stranger learns from it, and that what makes no sense is refused in words."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from flask import Flask

from live import route
from models import Assistant, Conversation
from tests.place import Place
from tests.scripted import END, Scripted, text
from web import DOORS

INSTALLABLE = {"installable.manifest", "installable.offline", "installable.worker"}
OPEN = {"assets.serve", "entry.ask", "entry.enter", "health.up", *INSTALLABLE}  # for people who are not signed in
MINE = {"conversations.create", "conversations.index", "drafts.keep", "entry.leave", "conversations.news", "live_list"}
MINE |= {"search.everywhere"}
OWN = {"filed.pin", "filed.archive", "filed.leave"}  # what also a reader does, with their own lists only
UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
UPGRADE |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


def rules() -> list[tuple[str, str, str]]:
    """Every route: its name, its method, its path with {id} and {name}."""
    app = Flask("parley")
    for door in DOORS:
        app.register_blueprint(door)
    route.install(app, None)
    found = []
    for rule in app.url_map.iter_rules():
        methods = rule.methods - {"HEAD", "OPTIONS"}
        if rule.endpoint != "static":
            found += [(rule.endpoint, method, re.sub(r"<(\w+)>", r"{\1}", rule.rule)) for method in methods]
    return sorted(found)


RULES = rules()
OF_AN_AGENT = [rule for rule in RULES if "{agent}" in rule[2]]
OF_A_CHAT = [rule for rule in RULES if "{id}" in rule[2]]
POSTS = [rule for rule in RULES if rule[1] == "POST"]
GETS = [rule for rule in RULES if rule[1] == "GET"]


class World:
    """One server for all of these: Ada's conversation, Ben who reads it, Mallory who is not in it, nobody."""

    def __init__(self, place: Place, script: Scripted) -> None:
        self.place, self.script = place, script
        self.ada, self.ben, self.mallory = (place.visitor(name) for name in ("Ada", "Ben", "Mallory"))
        self.nobody = httpx2.Client(base_url=place.url, headers={"Origin": place.url}, trust_env=False, timeout=30)
        self.chat = self.ada.begins("Secret garden")
        place.joins(self.chat, self.ben, "reader")
        place.settled(self.chat)
        self.item = place.items(self.chat)[0].id
        self.ada.client.post("/agents", data={"name": "Secret gardener"})
        self.agent = Assistant.get(Assistant.name == "Secret gardener").id
        self.everybodys = Assistant.first().id
        place.until(lambda: Conversation.get_by_id(self.chat).titled == "model", "it is named")

    def asks(self, who: httpx2.Client, rule: tuple[str, str, str], key: str = "", **headers: str) -> httpx2.Response:
        """WHO knocks at the door of RULE: of the conversation, or whatever it is, with KEY ("" Ada's)."""
        name, method, path = rule
        keys = {"id": self.chat, "agent": self.agent, "session": "0" * 20, "file": "0" * 20, "item": self.item}
        path = path.format(**{part: key or own for part, own in keys.items()}, page="start", name="none.css")
        if name.startswith("live"):
            headers |= UPGRADE
        form = {"text": "x", "title": "x", "name": "x", "item": self.item, "before": self.item, "since": "0"}
        if method == "GET":
            return who.get(path, params={"before": self.item, "after": self.item, "since": "0"}, headers=headers)
        return who.post(path, data=form, headers=headers)

    def state(self) -> list[tuple]:
        """All rows but the note that a session was used."""
        found = []
        with sqlite3.connect(self.place.folder / "parley.db") as copy:
            for (table,) in copy.execute(
                "select name from sqlite_master where type = 'table' order by name"
            ).fetchall():
                if table not in ("session", "change", "sqlite_sequence"):
                    found.append((table, copy.execute(f'select * from "{table}"').fetchall()))
        copy.close()
        return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    script = Scripted()
    script.always(lambda body: [text("A quiet answer."), *END])
    folder: Path = tmp_path_factory.mktemp("doors")
    place = Place(folder, script)
    found = World(place, script)
    yield found
    found.nobody.close()
    place.close()
    script.close()


def names(rules: list[tuple[str, str, str]]) -> list[str]:
    return [f"{method} {path}" for _, method, path in rules]


@pytest.mark.parametrize("rule", RULES, ids=names(RULES))
def test_nobody_passes_but_where_the_door_is_open(world: World, rule: tuple[str, str, str]):
    before, answer = world.state(), world.asks(world.nobody, rule)
    if rule[0] in OPEN:
        assert answer.status_code in (200, 404, 410)
    else:
        assert answer.status_code == 401 or (answer.status_code == 303 and answer.headers["Location"] == "/enter")
    assert "Secret" not in answer.text and "quiet" not in answer.text
    assert world.state() == before


@pytest.mark.parametrize("rule", OF_A_CHAT, ids=names(OF_A_CHAT))
def test_to_a_stranger_a_conversation_is_as_one_that_does_not_exist(world: World, rule: tuple[str, str, str]):
    before = world.state()
    foreign, missing = (world.asks(world.mallory.client, rule, chat) for chat in (world.chat, "0" * 20))
    assert foreign.status_code == missing.status_code == 404
    assert foreign.text == missing.text
    assert world.state() == before


@pytest.mark.parametrize("rule", OF_AN_AGENT, ids=names(OF_AN_AGENT))
def test_to_a_stranger_an_assistant_is_as_one_that_does_not_exist(world: World, rule: tuple[str, str, str]):
    before = world.state()
    foreign, missing = (world.asks(world.mallory.client, rule, key) for key in (world.agent, "0" * 20))
    assert foreign.status_code == missing.status_code == 404
    assert foreign.text == missing.text
    assert world.state() == before


@pytest.mark.parametrize("rule", OF_AN_AGENT, ids=names(OF_AN_AGENT))
def test_a_member_changes_no_assistant_of_everybody(world: World, rule: tuple[str, str, str]):
    before, answer = world.state(), world.asks(world.mallory.client, rule, world.everybodys)
    if rule[1] == "GET" or rule[0] == "agents.copy":
        return  # these make something of one's own, or nothing
    assert answer.status_code == (404 if rule[0] == "agents.restore" else 403)
    assert world.state() == before


@pytest.mark.parametrize("rule", OF_A_CHAT, ids=names(OF_A_CHAT))
def test_a_reader_reads_and_changes_nothing(world: World, rule: tuple[str, str, str]):
    before, answer = world.state(), None
    if rule[0] == "live" or rule[0] in OWN:
        return  # the socket is shown in the browser tests, the lists in test_filed
    answer = world.asks(world.ben.client, rule)
    assert answer.status_code == (200 if rule[1] == "GET" else 403)
    if rule[1] == "POST":
        assert "You may read this conversation" in answer.text or "Only the owner" in answer.text
    assert world.state() == before


@pytest.mark.parametrize("rule", GETS, ids=names(GETS))
def test_looking_changes_nothing(world: World, rule: tuple[str, str, str]):
    if not rule[0].startswith("live"):
        before = world.state()
        assert world.asks(world.ada.client, rule).status_code in (200, 404)
        assert world.state() == before


FOREIGN = {
    "another origin": {"Origin": "https://evil.test"},
    "an opaque origin": {"Origin": "null"},
    "our name in front": {"Origin": "OURS.evil.test"},
    "another port": {"Origin": "http://127.0.0.1:1"},
    "no origin": {"Origin": ""},
    "a sibling site": {"Sec-Fetch-Site": "same-site"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
}


@pytest.mark.parametrize("how", FOREIGN)
@pytest.mark.parametrize("rule", POSTS, ids=names(POSTS))
def test_a_post_from_another_site_does_nothing(world: World, rule: tuple[str, str, str], how: str):
    headers = {name: value.replace("OURS", world.place.url) for name, value in FOREIGN[how].items()}
    before, answer = world.state(), world.asks(world.ada.client, rule, **headers)
    assert answer.status_code == 403
    assert "another site" in answer.text
    assert world.state() == before


@pytest.mark.parametrize("origin", ["https://evil.test", "null", "", "OURS.evil.test", "http://127.0.0.1:1", "OURS/"])
def test_a_socket_opens_for_our_own_page_only(world: World, origin: str):
    headers = {"Origin": origin.replace("OURS", world.place.url)}
    answer = world.ada.client.get(f"/conversations/{world.chat}/live?since=0", headers=UPGRADE | headers)
    assert answer.status_code == 403
    plain = world.ada.client.get(f"/conversations/{world.chat}/live")
    assert plain.status_code in (400, 426), "and for a websocket only"


# What makes no sense

BIG = 1_000_001
SENSELESS = {
    "no text": ("items", {}, 400, "empty"),
    "blanks": ("items", {"text": " \n\t "}, 400, "empty"),
    "too long": ("items", {"text": "x" * BIG}, 413, "1,000,000 characters"),
    "no title": ("title", {}, 400, "at least one character"),
    "a blank title": ("title", {"title": " \n "}, 400, "at least one character"),
    "a title of NUL": ("title", {"title": "\0"}, 400, "at least one character"),
    "no version": ("branch", {}, 404, "no such"),
    "a strange version": ("branch", {"item": "ITEM", "branch": "\0'\"<"}, 404, "no such version"),
    "a strange item": ("again", {"item": "\0x"}, 404, "no such"),
    "an item of another": ("again", {"item": "0" * 20}, 404, "no such"),
}


@pytest.mark.parametrize("what", SENSELESS)
def test_what_makes_no_sense_is_refused_in_words(world: World, what: str):
    path, form, code, words = SENSELESS[what]
    form = {name: value.replace("ITEM", world.item) for name, value in form.items()}
    before, address = world.state(), f"/conversations/{world.chat}/{path}"
    page = world.ada.client.post(address, data=form)
    assert page.status_code == code and words in page.text
    part = world.ada.client.post(address, data=form, headers={"HX-Request": "true"})
    assert part.status_code == code and "<html" not in part.text and words in part.text
    told = world.ada.client.post(address, data=form, headers={"Accept": "application/json"}).json()["error"]
    assert told["code"] == code and words in told["message"]
    assert world.state() == before


ODD = {
    "a JSON body": ({"Content-Type": "application/json"}, b'{"text": "x"}'),
    "a broken form": ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x\r\nnonsense"),
    "no boundary": ({"Content-Type": "multipart/form-data"}, b"--x"),
    "two thousand fields": ({"Content-Type": "application/x-www-form-urlencoded"}, b"a=1&" * 2000),
    "nine megabytes": ({"Content-Type": "application/x-www-form-urlencoded"}, b"text=" + b"x" * (9 << 20)),
    "half a character": ({"Content-Type": "application/x-www-form-urlencoded"}, b"txt=%ff%fe%ed%a0%80"),
    "a strange cookie": ({"Cookie": b"parley=\xff\xfe; x", "Content-Type": "text/plain"}, b"x"),
    "a strange length": ({"Content-Type": "application/x-www-form-urlencoded; charset=utf-7"}, b"+ADw-"),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("path", ["items", "draft", "title", "branch", "again"])
def test_an_odd_body_is_never_a_fault_of_the_server(world: World, path: str, what: str):
    headers, body = ODD[what]
    if path == "again" and "cookie" not in what and what != "nine megabytes":
        return  # it has no field that must be there: a POST is enough
    answer = world.ada.client.post(f"/conversations/{world.chat}/{path}", content=body, headers=headers)
    assert answer.status_code in (204, 303, 400, 401, 404, 413), answer.text
    assert "Traceback" not in world.place.log.read_text()


@pytest.mark.parametrize(
    "path", ["/news?since=", "/news?since=x", "/news?since=-1", "/news?since=1e9", "/news?since=%00"]
)
def test_a_cursor_is_a_number(world: World, path: str):
    assert world.ada.client.get(path).status_code == 400
    assert world.ada.client.get("/news?since=" + "9" * 400).status_code == 200


@pytest.mark.parametrize(
    "path", ["/conversations/%00", "/conversations/%ff", "/conversations/..%2f", "/nothing", "/assets/..%2fapp.py"]
)
def test_an_odd_address_is_not_there(world: World, path: str):
    answer = world.ada.client.get(path)
    assert answer.status_code == 404
    assert "<h1" in answer.text, "in words"


def test_a_message_keeps_every_character_but_nul(world: World):
    said = '<test> & "q" \'\\ \u2028 \ufeff e\u0301 \U0001f469\u200d\U0001f469 \u202ertl\u202c \x01\x7f end'
    chat = world.ada.begins(said + "\0")
    world.place.settled(chat)
    assert world.place.items(chat)[0].text == said + "\ufffd"
