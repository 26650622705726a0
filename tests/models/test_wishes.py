"""What people wish of a conversation that is not quiet: again, stop and new messages, across and twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from database import database
from models import Branch, Conversation, Item, Person, Refused, migrate
from runner import context


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


def begun(chat: Conversation) -> Item:
    """The run of the wish whose turn it is begins."""
    wish = chat.fresh().open_wish()
    assert chat.claim(wish)
    return wish


def answered(chat: Conversation, text: str, status: str = "idle") -> Item:
    wish = begun(chat)
    chat.fresh().add(wish, "text", text=text)
    chat.finish(wish, status)
    return chat.fresh().items()[-1]


def shown(chat: Conversation) -> list[str]:
    return [item.text for item in chat.fresh().items() if item.drawn]


def test_a_new_conversation_begun_twice_is_one(ada: str):
    first = Conversation.begin_with(ada, "", text="Hello", client_id="abc")
    assert Conversation.begin_with(ada, "", text="Hello", client_id="abc").id == first.id
    assert Conversation.select().count() == 1


def test_a_message_changed_after_it_was_sent_is_not_silently_dropped(garden: Conversation, ada: str):
    garden.ask(ada, "Water the north bed", client_id="abc")
    with pytest.raises(Refused, match="earlier version"):
        garden.ask(ada, "Water the south bed", client_id="abc")
    assert shown(garden) == ["Water the north bed"]


def test_a_message_that_went_elsewhere_is_not_silently_dropped(garden: Conversation, ada: str):
    Conversation.begin_with(ada, "", text="Hello", client_id="abc")
    with pytest.raises(Refused, match="another conversation"):
        garden.ask(ada, "Hello", client_id="abc")


def test_again_for_an_older_answer_goes_on_from_there(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    first = answered(garden, "First.")
    garden.ask(ada, "Two")
    answered(garden, "Second.")
    garden.again(ada, answer=first)
    answered(garden, "Another first.")
    assert shown(garden) == ["One", "Another first."]
    one = Item.find(Item.text == "One")
    garden.fresh().show_version(one, one.versions()[0])
    assert shown(garden) == ["One", "First.", "Two", "Second."]


def test_only_the_last_answer_goes_on(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    first = answered(garden, "First, and")
    garden.ask(ada, "Two")
    answered(garden, "Second.")
    with pytest.raises(Refused, match="Only the last answer"):
        garden.again(ada, answer=first, onward=True)


def test_again_while_messages_wait_is_refused_in_words(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    garden.ask(ada, "Two")
    answered(garden, "Half", status="stopped")
    with pytest.raises(Refused, match="Messages wait here"):
        garden.again(ada)
    assert shown(garden) == ["One", "Half", "Two"]


def test_again_that_was_held_by_a_stop_goes_out_when_it_is_pressed_once_more(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    wish = begun(garden)
    garden.again(ada)
    garden.finish(wish, "stopped", "stopped")
    assert garden.fresh().open_wish() is None, "the stop holds it"
    held = garden.again(ada)
    assert garden.fresh().open_wish().id == held.id
    assert Item.select().where(Item.kind == "retry").count() == 1


def test_what_waits_comes_along_when_another_version_is_shown(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    asked = Item.get_by_id(answered(garden, "Old").run)
    garden.again(ada)
    garden.ask(ada, "Two")
    answered(garden, "New", status="stopped")
    garden.fresh().show_version(asked, asked.versions()[0])
    assert shown(garden) == ["One", "Old", "Two"]
    garden.send_now()
    answered(garden, "Answer to two")
    assert shown(garden) == ["One", "Old", "Two", "Answer to two"]


def test_a_conversation_whose_branch_is_gone_opens_and_goes_on(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    answered(garden, "First.")
    garden.again(ada)
    answered(garden, "Another first.")
    Conversation.update(branch="nowhere").where(Conversation.id == garden.id).execute()
    assert shown(garden) == ["One", "Another first."]
    garden.fresh().ask(ada, "Two")
    answered(garden, "Second.")
    assert shown(garden) == ["One", "Another first.", "Two", "Second."]


def test_a_branch_whose_parent_is_gone_still_opens(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    answered(garden, "First.")
    garden.again(ada)
    answered(garden, "Another first.")
    database.run(lambda: Branch.delete().where(Branch.parent == "").execute())
    assert shown(garden) == ["Another first."]


def test_the_end_of_a_run_that_ended_already_changes_nothing(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    wish = begun(garden)
    garden.finish(wish, "stopped", "stopped")
    garden.ask(ada, "Two")
    two = begun(garden)
    garden.finish(wish, "failed", "incomplete", Item(kind="error", text="late", done=True))
    assert garden.fresh().status == "working"
    assert not Item.get_by_id(two.id).done
    assert shown(garden) == ["One", "Two"]


def test_the_request_is_the_visible_branch_and_nothing_else(garden: Conversation, ada: str):
    garden.ask(ada, "One")
    answered(garden, "First.")
    garden.again(ada)
    answered(garden, "Another first.", status="stopped")
    garden.ask(ada, "Two")
    wish = begun(garden)
    garden.ask(ada, "Three, which waits")
    told = context.messages(garden.fresh().items(), wish, "Be kind.")
    assert [(m["role"], m["content"]) for m in told] == [
        ("system", "Be kind."),
        ("user", "One"),
        ("assistant", "Another first."),
        ("user", "Two"),
    ]
