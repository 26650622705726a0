"""What is found: the words of messages and titles, however they are written, and nothing that was removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from database import database
from models import Conversation, Item, Person, migrate
from tables import search
from tables.search import Entry, Wanted
from tables.words import Query, surroundings
from tests.world import told


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
    chat = Conversation.begin(ada, title="The garden")
    told(chat, ada, "Hello", "Welcome.")
    return chat.fresh()


def finds(person: str, words: str) -> list[str]:
    """The texts of the messages PERSON finds, newest first."""
    rows = Wanted(person, Query.of(words)).messages(50)
    return [Item.get_by_id(key).text for _, key in rows]


def titles(person: str, words: str) -> list[str]:
    return [Conversation.get_by_id(chat).title for _, chat in Wanted(person, Query.of(words)).titles(50)]


SAID = {
    "The café serves crème brûlée": ["cafe", "CAFÉ", "cafe\u0301 creme", "brule", '"creme brulee"', "crème -tea"],
    "Don't call snake_case or C++ by kebab-case": ["don't", "snake_case", "snake", "C++ kebab", '"kebab case"'],
    "東京都の**天気**は2024年です": ["東京", "東京都", "京都", "都", "天気は", "2024年", "東京 天気", "です"],
    "สวัสดีชาวโลก and 한국어를 배우다": ["สวัสดี", "ชาว", "한국어", "배우", "โลก and"],
    "نص بالعربية, नमस्ते दुनिया, Привет мир": ["بالعربية", "नमस्ते", "привет", "ПРИВЕТ мир"],
    "How do I get to the station of the north": ["how do I get to the station", "the", "stat", '"of the north"'],
}


@pytest.mark.parametrize("text", SAID)
def test_words_are_found_however_they_are_written(garden: Conversation, ada: str, text: str):
    told(garden, ada, text, "Something else entirely.")
    for words in SAID[text]:
        assert finds(ada, words) == [text], words
        assert any(asked for _, asked in surroundings(text, Query.of(words))), words
    for words in ('"station the"', "zebra", "-cafe", "天都", "sta ", "creme -cafe", "天気 zebra"):
        assert finds(ada, words) == [], words


# fmt: off
ODD = [
    '"', "''", '"""', "AND", "a AND OR NOT NEAR(b c) * ^ : ( )", "title : x", "{title} : x", "words*", "-", "--", '-"',
    '"*"', "\0", "a\0b", "\ud800", "\U0001f469\u200d\U0001f469", "x" * 10_000, "( " * 5000, '" ' * 5000,
    "\u202e\ufeff", "ﷺ", "İ ß ŉ", "%_", "\\", "a" + "\u0301" * 5000, "; drop table item", "1e9", "-1", "日" * 10_000,
]
# fmt: on


def test_nothing_a_person_types_is_a_command(garden: Conversation, ada: str):
    told(garden, ada, "and or not near title words", "x")
    assert finds(ada, "a AND OR NOT NEAR") == ["and or not near title words"], "these are words"
    for words in ODD:
        query = Query.of(words)
        finds(ada, words)
        titles(ada, words)
        search.within(garden.id, query)
        if query:
            surroundings("An İstanbul ﷺ text\0 of \U0001f469 anything", query)


def test_a_message_and_a_title_are_found_as_they_are_now(garden: Conversation, ada: str):
    assert titles(ada, "garden") == ["The garden"]
    garden.rename("The orchard")
    assert (titles(ada, "garden"), titles(ada, "orch")) == ([], ["The orchard"])
    first = garden.ask(ada, "Do apples float?")
    second = garden.ask(ada, "Do pears float?")
    garden.reword(ada, second, "Do plums float?")
    assert (finds(ada, "pears"), finds(ada, "plums")) == ([], ["Do plums float?"])
    garden.unqueue(ada, second)
    assert finds(ada, "float") == [first.text]


def test_an_answer_is_found_once_it_has_ended(garden: Conversation, ada: str):
    garden.ask(ada, "And?")
    wish = Conversation.waiting()[0]
    garden.claim(wish)
    answer = garden.fresh().add(wish, "text", text="Marigolds grow")
    assert finds(ada, "and") == ["And?"], "the message is found at once"
    assert finds(ada, "marigolds") == []
    answer.seal()
    assert finds(ada, "marigolds") == ["Marigolds grow"]
    garden.finish(wish)


def test_what_is_removed_is_not_found_and_not_in_the_file(garden: Conversation, ada: str, tmp_path: Path):
    other = Conversation.begin(ada, title="Kept")
    told(other, ada, "zzkeptzz stays", "Yes.")
    told(garden, ada, "zxremovedxz goes", "A zwanswerwz goes, too.")
    garden.rename("zvtitlevz")
    assert finds(ada, "zxremovedxz") and titles(ada, "zvtitlevz"), "they were there"
    search.remove(garden.id)
    database.run(lambda: Item.delete().where(Item.chat == garden.id).execute())
    database.run(lambda: Conversation.delete().where(Conversation.id == garden.id).execute())
    search.optimize()
    assert finds(ada, "zxremovedxz") == titles(ada, "zvtitlevz") == []
    assert finds(ada, "zzkeptzz") == ["zzkeptzz stays"]
    assert not Entry.select().where(Entry.chat == garden.id).count()
    index = b"".join(row[0] for row in database.execute_sql("select block from words_data").fetchall())
    assert b"zzkeptzz" in index
    assert [word for word in (b"removed", b"answerwz", b"titlevz") if word in index] == []
    database.execute_sql("insert into words(words) values ('integrity-check')")


def test_an_older_database_is_indexed_in_batches_and_in_order(garden: Conversation, ada: str):
    told(garden, ada, "filler " * 30_000, "Long.")
    for number in range(10):
        told(garden, ada, f"Question {number}", "Answer.")
    newest_first = finds(ada, "question")
    database.execute_sql("drop table words")
    database.execute_sql("drop table entry")
    database.run(search.create)
    waiting = search.waiting()
    assert waiting > 20 and finds(ada, "question") == []
    told(garden, ada, "Question meanwhile", "Answer.")
    garden.rename("Renamed meanwhile")
    assert finds(ada, "question") == ["Question meanwhile"], "what is new is found at once"
    database.run(search.index_some)
    assert 0 < search.waiting() < waiting
    search.catch_up()
    assert search.waiting() == 0
    assert finds(ada, "question") == ["Question meanwhile", *newest_first][:50]
    assert titles(ada, "renamed") == ["Renamed meanwhile"] and titles(ada, "garden") == []
    database.execute_sql("insert into words(words) values ('integrity-check')")


def test_the_surroundings_show_where_in_a_long_text_the_words_are(garden: Conversation, ada: str):
    text = "- begin\n" + "filler **words** here. " * 5000 + "The `needle` is <b>here</b>. " + "more words. " * 5000
    parts = surroundings(text, Query.of("needle"))
    shown = "".join(part for part, _ in parts)
    assert [part for part, asked in parts if asked] == ["needle"]
    assert len(shown) < 320 and shown.startswith("… ") and shown.endswith(" …")
    assert "The needle is <b>here</b>." in shown, "without the signs of Markdown, and not as HTML"
