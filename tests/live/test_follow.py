"""Whatever happens in a conversation, and whenever a page comes, goes or asks: it shows what a fresh page shows."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from database import database
from live.follow import Follower
from models import Conversation, Item, Person, Refused, migrate
from runner.writer import save
from tests.live.pages import Reader, drawing


@pytest.fixture(autouse=True)
def log(tmp_path: Path) -> Iterator[None]:
    database.open(tmp_path / "parley.db")
    migrate()
    database.execute_sql("pragma synchronous = off")  # what is tested here is not the disk
    yield
    database.close()
    database.init(None)


class Garden:
    """A conversation in which everything happens that can."""

    def __init__(self, chance: random.Random) -> None:
        self.chance, self.ada = chance, Person.join("Ada", "owner").id
        self.chat = Conversation.begin(self.ada)
        self.texts: dict[str, str] = {}
        self.told: list[str] = []
        self.asked = 0

    @property
    def now(self) -> Conversation:
        return self.chat.fresh()

    @property
    def wish(self) -> Item | None:
        wish = self.now.open_wish()
        return wish if wish and wish.state == "running" else None

    def growing(self, kinds: tuple[str, ...] = ("text", "reasoning")) -> Item | None:
        return Item.find(Item.chat == self.chat.id, Item.done == 0, Item.kind.in_(kinds))

    # What people do

    def ask(self) -> None:
        self.asked += 1
        self.now.ask(self.ada, f"Question {self.asked}")

    def again(self) -> None:
        self.now.again(self.ada)

    def onward(self) -> None:
        self.now.again(self.ada, onward=True)

    def send_now(self) -> None:
        self.now.send_now()

    def rename(self) -> None:
        self.now.rename(f"Name {self.chance.random()}")

    def turn(self) -> None:
        asked = [item for item in self.now.items() if item.versions()]
        if asked:
            item = self.chance.choice(asked)
            self.now.show_version(item, self.chance.choice(item.versions()))

    # What the runner does

    def claim(self) -> None:
        for wish in Conversation.waiting():
            self.now.claim(wish)

    def speak(self) -> None:
        if self.wish and not self.growing():
            item = self.now.add(self.wish, self.chance.choice(("text", "text", "reasoning")))
            self.texts[item.id] = ""

    def grow(self) -> None:
        if item := self.growing():
            self.texts[item.id] += self.chance.choice(("word ", "two words ", "end.\n\n"))
            database.run(lambda: save([], [(self.texts[item.id], 0, item.id)]))

    def seal(self) -> None:
        if item := self.growing():
            item.seal(self.chance.choice(("", "length", "incomplete")))

    def call(self) -> None:
        if self.wish and not self.growing():
            self.now.add(self.wish, "call", name="water", done=True, state="done")

    def notice(self) -> None:
        if self.wish:
            self.now.add(self.wish, "error", text="Still waiting", state="waiting")

    def unnotice(self) -> None:
        if notice := self.growing(("error",)):
            database.run(notice.delete_instance)

    def finish(self) -> None:
        if self.wish:
            self.now.finish(self.wish, "idle", "")

    def fail(self) -> None:
        if self.wish:
            self.now.finish(self.wish, "failed", "incomplete", Item(kind="error", text="No", done=True))

    def stop(self) -> None:
        if self.wish:
            self.now.finish(self.wish, "stopped", "stopped")

    def recover(self) -> None:
        if self.wish:
            self.now.recover()

    PEOPLE = (ask, ask, again, onward, send_now, rename, turn)
    RUNNER = (claim, claim, claim, speak, speak, speak, grow, grow, grow, grow, seal, call, notice, unnotice)
    ENDS = (finish, finish, finish, fail, stop, recover)

    def happens(self) -> None:
        """One thing, by chance. What is refused changes nothing."""
        deed = self.chance.choice(self.chance.choice((self.PEOPLE, self.RUNNER, self.RUNNER, self.ENDS)))
        self.told.append(deed.__name__)
        try:
            deed(self)
        except Refused:
            self.told[-1] += " (refused)"


def play(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    garden, follower = Garden(chance), Follower(drawing())
    readers = [Reader(follower, garden.chat.id)]
    readers[0].connect()
    for _ in range(steps):
        for _ in range(chance.choice((1, 1, 2, 3, 6))):
            garden.happens()
        reader = chance.choice(readers)
        match chance.randrange(6):
            case 0 if len(readers) < 4:
                readers.append(Reader(follower, garden.chat.id))
                garden.told.append(f"page {readers[-1].name} loads")
            case 1 if reader.open:
                garden.told.append(f"page {reader.name} leaves")
                reader.leave()
            case 2 if not reader.open:
                garden.told.append(f"page {reader.name} comes")
                reader.connect()
            case 3 if not reader.open:
                garden.told.append(f"page {reader.name} polls")
                reader.hear(follower.news_since("", garden.chat.id, reader.cursor))
                same(reader, garden, seed)
        follower.advance()
        for reader in readers:
            if reader.open:
                same(reader, garden, seed)
    for reader in readers:
        if not reader.open:
            garden.told.append(f"page {reader.name} comes")
            reader.connect()
            same(reader, garden, seed)


def same(reader: Reader, garden: Garden, seed: int) -> None:
    if reader.html != reader.fresh:
        story = "\n".join([f"seed {seed}, page {reader.name}", *garden.told[-30:]])
        raise AssertionError(f"{story}\n\n{brief(reader.html)}\n\n{brief(reader.fresh)}")


def brief(html: str) -> str:
    """HTML without what is the same in every item."""
    return re.sub(r"(?s)<(form|svg|h2)\b.*?</\1>|item-[0-9a-z]{16}(?=[0-9a-z]{4})", "", html)


@pytest.mark.parametrize("seed", range(15))
def test_a_page_that_follows_equals_a_fresh_one(seed: int):
    play(seed, 25)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_a_page_that_follows_equals_a_fresh_one_a_thousand_times(seed: int):
    play(seed, 25)
