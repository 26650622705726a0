"""The log by itself: what its verbs write, in a database file of its own."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import feed
from database import database, keys_after, new_key, spelled
from models import Conversation, Item, Membership, Person, Refused, migrate


@pytest.fixture(autouse=True)
def log(tmp_path: Path) -> Iterator[None]:
    database.open(tmp_path / "parley.db")
    migrate()
    yield
    database.close()
    database.init(None)


@pytest.fixture
def ada() -> str:
    return Person.join("Ada", "owner").id


@pytest.fixture
def garden(ada: str) -> Conversation:
    return Conversation.begin(ada)


def answered(chat: Conversation, text: str, status: str = "idle") -> Item:
    """The wish whose turn it is gets the answer TEXT."""
    wish = Conversation.waiting()[0]
    assert chat.claim(wish)
    chat.fresh().add(wish, "text", text=text)
    chat.finish(wish, status)
    return wish


def shown(chat: Conversation) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in chat.fresh().items() if item.drawn]


def test_a_message_waits_for_its_run_and_names_the_conversation(garden: Conversation, ada: str):
    garden.ask(ada, "  Water the north bed,\nplease")
    assert garden.fresh().title == "Water the north bed,"
    assert [wish.text for wish in Conversation.waiting()] == ["  Water the north bed,\nplease"]
    assert garden.fresh().status == "waiting"


def test_the_same_message_sent_twice_is_one(garden: Conversation, ada: str):
    first = garden.ask(ada, "Hello", client_id="abc")
    assert garden.ask(ada, "Hello", client_id="abc").id == first.id
    assert shown(garden) == [("user", "Hello")]


def test_two_people_may_use_the_same_client_id(garden: Conversation, ada: str):
    ben = Person.join("Ben").id
    Membership.create(chat=garden.id, person=ben, role="writer")
    assert garden.ask(ada, "Hello", client_id="abc").id != garden.ask(ben, "Hi", client_id="abc").id


def test_a_message_sent_meanwhile_stands_behind_all_of_the_answer(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    wish = Conversation.waiting()[0]
    garden.claim(wish)
    garden.add(wish, "text", text="First, ")
    garden.ask(ada, "Two")
    garden.add(wish, "call", name="water", done=True)
    garden.add(wish, "text", text="done.")
    assert [kind for kind, _ in shown(garden)] == ["user", "text", "call", "text", "user"]
    garden.finish(wish)
    assert [w.text for w in Conversation.waiting()] == ["Two"]


def test_again_opens_a_branch_and_keeps_the_old_answer(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    asked = answered(garden, "Old")
    garden.again(ada)
    answered(garden, "New")
    assert shown(garden) == [("user", "Hello"), ("text", "New")]
    versions = Item.get_by_id(asked.id).versions()
    assert len(versions) == 2
    garden.show_version(asked, versions[0])
    assert shown(garden) == [("user", "Hello"), ("text", "Old")]


def test_a_version_comes_back_with_all_that_followed_it(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    asked = answered(garden, "Old")
    garden.again(ada)
    answered(garden, "New")
    garden.fresh().ask(ada, "And then?")
    answered(garden, "Newer")
    garden.again(ada)
    answered(garden, "Newest")
    old, new = Item.get_by_id(asked.id).versions()
    garden.show_version(asked, old)
    assert shown(garden)[1:] == [("text", "Old")]
    garden.show_version(asked, new)
    assert shown(garden)[1:] == [("text", "New"), ("user", "And then?"), ("text", "Newest")]


def test_again_twice_is_one_run_while_it_goes_and_two_siblings_after(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    answered(garden, "Old")
    assert garden.again(ada).id == garden.again(ada).id
    asked = answered(garden, "New")
    garden.again(ada)
    answered(garden, "Newest")
    assert len(Item.get_by_id(Item.get_by_id(asked.id).input).versions()) == 3


def test_again_without_an_answer_says_so(garden: Conversation, ada: str):
    with pytest.raises(Refused, match="no answer yet"):
        garden.again(ada)


def test_a_stop_holds_the_queue_until_it_is_let_go(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    garden.ask(ada, "Two")
    answered(garden, "Half", status="stopped")
    assert Conversation.waiting() == []
    assert [item.text for item in garden.queue()] == ["Two"]
    garden.send_now()
    assert [wish.text for wish in Conversation.waiting()] == ["Two"]


def test_a_cut_answer_stays_and_the_new_one_is_its_sibling(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    garden.ask(ada, "Next")
    wish = Conversation.waiting()[0]
    garden.claim(wish)
    garden.add(wish, "call", name="look", done=True, state="done", output="green")
    garden.add(wish, "text", text="The beds are")
    garden.add(wish, "call", name="water", state="running")
    garden.recover()
    assert [(item.kind, item.state) for item in Item.select().where(Item.run == wish.id, Item.id != wish.id)] == [
        ("call", "done"),
        ("text", "cut"),
        ("call", "failed"),
    ]
    assert [kind for kind, _ in shown(garden)] == ["user", "call", "user"]
    answered(garden, "The beds are green.")
    assert [kind for kind, _ in shown(garden)] == ["user", "call", "text", "user"]
    assert Item.get_by_id(wish.id).done


def test_a_run_cut_before_it_showed_anything_begins_again_in_place(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    wish = Conversation.waiting()[0]
    garden.claim(wish)
    garden.add(wish, "text")
    branch = garden.fresh().branch
    garden.recover()
    assert garden.fresh().branch == branch
    assert shown(garden) == [("user", "Hello")]
    assert [w.id for w in Conversation.waiting()] == [wish.id]


def test_a_call_cut_by_a_crash_says_that_it_may_have_taken_effect(garden: Conversation, ada: str):
    garden.ask(ada, "Pay")
    wish = Conversation.waiting()[0]
    garden.claim(wish)
    call = garden.add(wish, "call", name="pay", state="running")
    garden.recover()
    call = Item.get_by_id(call.id)
    assert (call.state, call.done) == ("failed", True)
    assert "may have taken effect" in call.text


def test_only_one_run_can_claim_a_wish(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    wish = Conversation.waiting()[0]
    assert garden.claim(wish)
    assert not garden.claim(wish)


def test_keys_keep_their_order_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("database._newest_key", 0)  # put back afterwards: the tests that follow live today
    tomorrow = spelled(time.time_ns() // 1000 + 86_400_000_000, 20 - 7)
    assert new_key() < tomorrow
    keys_after(tomorrow + "0" * 7)
    assert tomorrow < new_key() < new_key()


def test_the_last_items_of_a_long_conversation_come_in_order_over_branches(garden: Conversation, ada: str):
    for number in range(4):
        garden.fresh().ask(ada, f"Q{number}")
        answered(garden, f"A{number}")
        garden.again(ada)
        answered(garden, f"B{number}")
    texts = [item.text for item in garden.fresh().items(limit=50) if item.kind in ("user", "text")]
    assert texts == ["Q0", "B0", "Q1", "B1", "Q2", "B2", "Q3", "B3"]
    last = garden.fresh().items(limit=4)
    before = garden.fresh().items(limit=50, before=last[0])
    assert [i.text for i in before + last if i.kind in ("user", "text")] == texts


# The feed


def test_each_changed_row_comes_once_in_its_newest_form(garden: Conversation, ada: str):
    cursor = feed.latest()
    garden.ask(ada, "Hello")
    wish = Conversation.waiting()[0]
    garden.claim(wish)
    text = garden.add(wish, "text", text="a")
    for more in ("ab", "abc"):
        Item.update(text=more).where(Item.id == text.id).execute()
    rows = [change.row for change in feed.since(cursor) if change.kind == "item"]
    assert sorted(rows) == sorted([wish.id, text.id])
    assert all(change.born > cursor for change in feed.since(cursor) if change.kind == "item")
    middle = feed.latest()
    Item.update(text="abcd").where(Item.id == text.id).execute()
    [change] = feed.since(middle)
    assert (change.row, change.gone) == (text.id, 0)
    assert change.born <= middle


def test_bulk_updates_rollbacks_and_deletions_are_told_rightly(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    cursor = feed.latest()
    with pytest.raises(ZeroDivisionError):
        database.run(lambda: (Item.update(text="x").execute(), 1 / 0))
    assert feed.since(cursor) == []
    Item.delete().execute()
    assert [(change.kind, change.gone) for change in feed.since(cursor)] == [("item", 1)]


def test_a_reader_who_was_away_longer_than_deletions_are_known_has_to_load_again(garden: Conversation, ada: str):
    garden.ask(ada, "Hello")
    cursor = feed.latest()
    Item.delete().execute()
    assert not feed.forgotten(cursor)
    feed.sweep(older=-10)
    assert feed.forgotten(cursor)
    assert not feed.forgotten(feed.latest())
    assert feed.forgotten(feed.latest() + 1000), "a cursor of another database"
