"""The lists of conversations: what stands where, for whom, and what is left of a conversation that was deleted."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from database import database
from models import LISTED, Conversation, Draft, Item, Membership
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text, thought

DAY = 86400


class World:
    """One server for all of these."""

    def __init__(self, place: Place, script: Scripted) -> None:
        self.place, self.script = place, script
        self.number = 0

    def person(self) -> Visitor:
        """Somebody new, whose lists are empty."""
        self.number += 1
        return self.place.visitor(f"Person {self.number}")

    def titled(self, who: Visitor, *titles: str) -> list[str]:
        """Conversations of WHO with these TITLES, the last one the newest; their keys."""
        return [Conversation.begin(who.person.id, title=title).id for title in titles]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    script = Scripted()
    script.always(lambda body: [text("A quiet answer."), *END])
    place = Place(tmp_path_factory.mktemp("filed"), script)
    yield World(place, script)
    place.close()
    script.close()


def rows(who: Visitor, path: str = "/", where: str = "conversations") -> list[str]:
    """The titles in the list WHERE of a page, in order."""
    answer = who.client.get(path)
    assert answer.status_code == 200, answer.text
    found = re.search(rf'(?s)<ol[^>]* id="{where}"[^>]*>(.*?)</ol>', answer.text)
    return re.findall(r'<span class="row__title" dir="auto">(.*?)</span>', found[1]) if found else []


def does(who: Visitor, chat: str, deed: str, code: int = 303, **form: str) -> str:
    answer = who.client.post(f"/conversations/{chat}/{deed}", data=form)
    assert answer.status_code == code, answer.text
    return answer.text


def test_the_newest_activity_stands_first_and_what_is_pinned_before_all(world: World):
    ada = world.person()
    roses, taxes, cats = world.titled(ada, "Roses", "Taxes", "Cats")
    assert rows(ada) == ["Cats", "Taxes", "Roses"]
    does(ada, roses, "title", title="Roses & co")
    assert rows(ada) == ["Cats", "Taxes", "Roses &amp; co"], "a new name is no activity"
    ada.asks(taxes, "Hello")
    world.place.settled(taxes)
    assert rows(ada) == ["Taxes", "Cats", "Roses &amp; co"]
    does(ada, roses, "pin")
    assert (rows(ada, where="pinned"), rows(ada)) == (["Roses &amp; co"], ["Taxes", "Cats"])
    does(ada, roses, "pin", undo="1")
    assert rows(ada) == ["Taxes", "Cats", "Roses &amp; co"]
    assert cats


def test_what_one_person_pins_or_archives_stays_where_it_is_for_the_others(world: World):
    ada, ben = world.person(), world.person()
    (garden,) = world.titled(ada, "Garden")
    world.place.joins(garden, ben, "reader")
    does(ben, garden, "pin")
    assert (rows(ben, where="pinned"), rows(ada)) == (["Garden"], ["Garden"])
    does(ben, garden, "archive")
    assert (rows(ben), rows(ben, where="pinned"), rows(ben, "/archived", "archived")) == ([], [], ["Garden"])
    assert rows(ada) == ["Garden"]
    assert "Take out of the archive" in ben.client.get(f"/conversations/{garden}/menu").text
    does(ben, garden, "archive", undo="1")
    assert rows(ben, where="pinned") == ["Garden"]


def test_what_is_archived_comes_back_when_one_writes_in_it(world: World):
    ada = world.person()
    (garden,) = world.titled(ada, "Garden")
    does(ada, garden, "archive")
    assert rows(ada) == []
    ada.asks(garden, "And now?")
    assert rows(ada) == ["Garden"]
    world.place.settled(garden)


def test_older_conversations_come_on_demand_each_once(world: World):
    ada = world.person()
    titles = [f"Number {number:03}" for number in range(2 * LISTED + 5)]
    keys = database.run(lambda: world.titled(ada, *titles))
    seen, path = [], "/"
    while path:
        page = ada.client.get(path).text
        seen += re.findall(r'auto">(Number \d+)(?=</span>)', page)
        if path == "/":  # one of those that were shown becomes the newest meanwhile
            ada.asks(keys[-LISTED], "Up")
            world.place.settled(keys[-LISTED])
        link = re.search(r'href="(\?below=[^"]+)"[^>]*hx-get="([^"]+)"', page)
        path = link and link[2].replace("&amp;", "&")
    assert seen == titles[::-1]
    plain = re.search(r'href="(\?below=[^"]+)"', ada.client.get("/").text)[1]
    assert rows(ada, f"/conversations/{keys[0]}{plain}", "older")[0] == titles[-LISTED - 1], "it works as a plain link"
    assert ada.client.get("/?below=x").status_code == 400


def test_a_row_says_who_answered_and_whether_it_needs_you(world: World):
    ada = world.person()
    garden = ada.begins("Hello")
    world.place.settled(garden)
    ada.asks(garden, "Again", model="another-model")
    world.place.settled(garden)
    page = ada.client.get("/").text
    assert "scripted-1, another-model" in page and "Needs you" not in page
    call = Item(id=f"{garden[:-1]}!", chat=garden, kind="call", name="pay", state="approval", run=garden)
    database.run(lambda: call.save(force_insert=True))
    assert "Needs you" in ada.client.get("/").text
    call.state = "approved"
    database.run(call.save)
    assert "Needs you" not in ada.client.get("/").text


def test_a_deleted_conversation_is_gone_at_once_and_comes_back(world: World):
    ada, ben = world.person(), world.person()
    garden = ada.begins("Hello")
    world.place.settled(garden)
    world.place.joins(garden, ben)
    does(ada, garden, "title", title="Garden")
    page = ada.client.post(f"/conversations/{garden}/delete")
    assert page.headers["Location"] == f"/?deleted={garden}"
    assert ">Undo<" in ada.client.get(f"/?deleted={garden}").text
    for who in (ada, ben):
        assert rows(who) == []
        assert who.client.get(f"/conversations/{garden}").status_code == 404
        assert who.asks(garden, "Are you there?").status_code == 404
    assert (rows(ada, "/deleted", "deleted"), rows(ben, "/deleted", "deleted")) == (["Garden"], [])
    does(ben, garden, "delete", 404, undo="1")
    does(ada, garden, "delete", undo="1")
    assert rows(ada) == rows(ben) == ["Garden"]
    assert world.place.kinds(garden) == ["user", "text"]


def test_only_its_owner_deletes_a_conversation_others_leave_it(world: World):
    ada, ben = world.person(), world.person()
    (garden,) = world.titled(ada, "Garden")
    world.place.joins(garden, ben)
    assert "Only the owner" in does(ben, garden, "delete", 403)
    assert "Only the owner" in does(ben, garden, "erase", 403)
    assert "you cannot leave it" in does(ada, garden, "leave", 409)
    ben.client.post(f"/conversations/{garden}/draft", data={"text": "half"})
    does(ben, garden, "leave")
    assert (rows(ben), rows(ada)) == ([], ["Garden"])
    assert not Draft.find(Draft.chat == garden)
    does(ben, garden, "leave", 404)
    assert "Delete this conversation first" in does(ada, garden, "erase", 409)


def test_a_running_conversation_is_stopped_before_it_goes(world: World):
    gate = world.script.gate()
    ada = world.person()
    world.script.always(lambda body: [text("It grows."), gate, *END])
    garden = ada.begins("Hello")
    world.place.until(lambda: world.place.texts(garden) == ["It grows."])
    does(ada, garden, "delete")
    does(ada, garden, "erase")
    does(ada, garden, "erase", 404)
    world.place.until(lambda: not Conversation.find(Conversation.id == garden), "its rows are gone")
    gate.open()
    world.script.always(lambda body: [text("A quiet answer."), *END])
    assert "DoesNotExist" not in world.place.log.read_text()


def test_no_word_of_what_is_deleted_for_ever_is_left_in_the_file(world: World):
    ada, ben = world.person(), world.person()
    secret = "xylophonicquince"
    long = f"{secret} " * 4000  # it settles in pieces, and lies on pages of its own
    world.script.always(lambda body: [thought(f"thinks {secret}"), text(long), *END])
    garden = ada.begins(f"Tell me of the {secret}")
    world.place.settled(garden)
    world.place.joins(garden, ben)
    ben.client.post(f"/conversations/{garden}/draft", data={"text": f"half a {secret}"})
    does(ada, garden, "title", title=f"The {secret}")
    kept = ada.begins("What stays")
    world.place.settled(kept)
    world.script.always(lambda body: [text("A quiet answer."), *END])
    assert secret.encode() in on_disk(world.place.folder), "it was there"
    does(ada, kept, "delete")
    does(ada, garden, "delete")
    does(ada, garden, "erase")
    world.place.until(lambda: not Conversation.find(Conversation.id == garden), "its rows are gone")
    does(ada, kept, "delete", undo="1")
    assert Item.select().where(Item.chat == kept).count() == 3
    does(ada, kept, "delete")
    does(ada, kept, "erase")
    world.place.until(lambda: secret.encode() not in on_disk(world.place.folder), "no word of it is left")
    for table in (Item, Membership, Draft):
        assert not table.find(table.chat == garden)


def test_after_seven_days_it_is_removed_by_itself(world: World):
    ada = world.person()
    old, young = world.titled(ada, "Old", "Young")
    does(ada, old, "delete")
    does(ada, young, "delete")
    week = time.time() - 7 * DAY
    database.run(lambda: Conversation.update(deleted=week - 60).where(Conversation.id == old).execute())
    database.run(lambda: Conversation.update(deleted=week + 60).where(Conversation.id == young).execute())
    assert rows(ada, "/deleted", "deleted") == ["Young"]
    does(ada, old, "delete", 404, undo="1")
    world.place.until(lambda: not Conversation.find(Conversation.id == old), "the old one is gone")
    assert Conversation.find(Conversation.id == young)


def on_disk(folder: Path) -> bytes:
    """All bytes of the database and its log."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("parley.db*")))
