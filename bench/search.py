"""The rows about searching: fifty written queries over 100,000 items, and whether anybody else has to wait for them.

The items are stretches of Python's own handbook, some Chinese ones made of characters as frequent as real ones, and in
each a number of its own, so that there are words of every frequency.
"""

import asyncio
import itertools
import random
import time
from pathlib import Path
from pydoc_data.topics import topics
from typing import Self

from benchlib.measure import log
from row import Row, middle
from targets import Parley, Visitor

from database import database
from models import Branch, Conversation, Item, Membership, Person, migrate
from tables import search as index

ITEMS, EACH = 100_000, 50  # all of them, and those of a conversation
SHARES = {"nearly all": 1400, "a quarter": 500, "a few": 100}  # conversations of the people who search
ROUNDS = 4
LATE = 10_000  # entries that the server finds not indexed yet
TICK = 0.01  # seconds between two looks whether the server answers others
CHINESE = [chr(0x4E00 + n * 7) for n in range(2000)]
QUERIES = [
    *("the", "of", "function", "class", "object", "value", "is", "python", "statement", "expression"),  # very frequent
    *("asynchronous generator", "string formatting", "operator precedence", "garbage", "metaclass", "coroutine"),
    *("how do I raise an exception", "what is the value of a name", "where is the module found", "why the"),
    *("fun", "stat", "exc", "gener", "descrip", "the cla", "number of arg", "in ret"),  # being typed
    *('"the value of"', '"is not"', '"in the same"', '"positional argument"', '"the following"', '"no such words"'),
    *("class -function", "the -of", "loop -while -for", 'value -"the value"'),
    *("note4321", "note99999", "note17 the", "café", "Ångström", "naïve the"),
    *(CHINESE[0], CHINESE[3] + CHINESE[0], CHINESE[1] + CHINESE[2] + CHINESE[0], CHINESE[900], CHINESE[0] + " the"),
    'return "the object"',
]


async def search(up) -> list[Row]:
    """How long a page of hits takes, through HTTP; what others wait meanwhile; what the index costs."""
    assert len(QUERIES) == 50
    parley = Parley(up.base)
    people, size = await asyncio.to_thread(fill, Path(parley.folder.name, "parley.db"))
    async with parley:
        began = time.monotonic()
        async with Pings(parley) as indexing:
            while index.waiting():
                await asyncio.sleep(0.2)
        took = time.monotonic() - began
        visitors = [Visitor(parley.url, person) for person in people]
        await asyncio.gather(*(visitor.enter() for visitor in visitors))
        async with Pings(parley) as searching:
            times = [[await asked(visitor, words) for words in QUERIES] for visitor in visitors * ROUNDS]
        kept = database.execute_sql("select sum(length(block)) from words_data").fetchone()[0]
        long = middle([indexed_long() for _ in range(5)])
        for visitor in visitors:
            await visitor.session.close()
    found = sorted(itertools.chain.from_iterable(times))
    p95 = found[int(len(found) * 0.95)]
    slow = {words: max(row[n] for row in times) for n, words in enumerate(QUERIES)}
    log("    slowest: " + ", ".join(f"{w} {t * 1000:.0f} ms" for w, t in sorted(slow.items(), key=lambda s: -s[1])[:6]))
    return [
        Row(
            f"search over {ITEMS:,} items, {len(QUERIES)} queries, through HTTP, p95",
            "≤ 50 ms",
            f"{p95 * 1000:.0f} ms (p50 {middle(found) * 1000:.0f}, worst {found[-1] * 1000:.0f})",
            "",
            p95 <= 0.05,
        ),
        Row("another request meanwhile", "≤ 100 ms", f"{searching.worst * 1000:.0f} ms", "", searching.worst <= 0.1),
        Row(
            f"indexing {LATE:,} items of an older database",
            "",
            f"{took:.0f} s in the background, another request meanwhile at worst {indexing.worst * 1000:.0f} ms; "
            f"{kept / 1e6:.0f} MB for {size / 1e6:.0f} MB of text; an answer of 300 KB {long * 1000:.0f} ms",
            "",
            None,
        ),
    ]


def fill(path: Path) -> tuple[list[Person], int]:
    """Make a database as an older Parley left it: the people who will search, and the bytes of its texts."""
    database.open(path)
    migrate()
    database.execute_sql("pragma synchronous = off")
    people = [Person.join(f"Reader of {share}") for share in SHARES]
    owners = [person.id for person, chats in zip(people, SHARES.values(), strict=True) for _ in range(chats)]
    chance, words, size = random.Random(7), " ".join(topics.values()).split(), 0
    weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(CHINESE))))
    for number, owner in enumerate(owners):
        texts = [text(number * EACH + n, chance, words, weights) for n in range(EACH)]
        size += sum(len(said.encode()) for said in texts)
        database.run(lambda owner=owner, number=number, texts=texts: conversation(owner, number, texts))
    database.execute_sql("drop table words")
    database.execute_sql("drop table entry")
    database.run(index.create)
    while index.waiting() > LATE:
        index.index_some()
    database.close()
    return people, size


def text(number: int, chance: random.Random, words: list[str], weights: list[float]) -> str:
    """Item NUMBER: a question of few words or an answer of many; one in twenty is Chinese."""
    length = chance.choice((10, 20, 30)) if number % 2 == 0 else chance.choice((40, 80, 150, 250))
    own = f" note{number} " + ("café Ångström naïve" if number % 500 == 0 else "")
    if number % 20 == 0:
        return "".join(chance.choices(CHINESE, cum_weights=weights, k=length * 2)) + own
    at = chance.randrange(len(words) - length)
    return " ".join(words[at : at + length]) + own


def conversation(owner: str, number: int, texts: list[str]) -> None:
    chat = f"0000{number:09d}0000000"
    branch = Branch.create(chat=chat)
    Conversation.create(id=chat, branch=branch.id, title=" ".join(texts[0].split()[:6]), titled="person")
    Membership.create(chat=chat, person=owner, role="owner")
    shared = {"chat": chat, "branch": branch.id, "done": True, "person": owner}
    keys = [f"0001{number * EACH + n:09d}0000000" for n in range(EACH)]
    rows = [
        {**shared, "id": key, "run": keys[n - n % 2], "kind": "text" if n % 2 else "user", "text": texts[n]}
        for n, key in enumerate(keys)
    ]
    Item.insert_many(rows).execute()


async def asked(visitor: Visitor, words: str) -> float:
    """Seconds until the hits for WORDS are there."""
    at = time.monotonic()
    asking = visitor.session.get(visitor.url + "/search", params={"q": words}, headers={"HX-Request": "true"})
    async with asking as answer:
        await answer.read()
        assert answer.status == 200, words
    return time.monotonic() - at


class Pings:
    """Somebody who asks for something small again and again, within an `async with`; `worst` is their longest wait."""

    def __init__(self, parley: Parley) -> None:
        self.parley, self.worst = parley, 0.0

    async def __aenter__(self) -> Self:
        self.task = asyncio.create_task(self.ask())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])

    async def ask(self) -> None:
        while True:
            at = time.monotonic()
            async with self.parley.visitors[0].session.get(self.parley.url + "/healthz") as answer:
                await answer.read()
            self.worst = max(self.worst, time.monotonic() - at)
            await asyncio.sleep(TICK)


def indexed_long() -> float:
    """Seconds that an answer of 300 KB takes in the write transaction in which it ends."""
    words = " ".join(topics.values())[:300_000]

    def add() -> float:
        at = time.monotonic()
        index.insert(index.Entry.create(chat="0" * 20, item="").id, "", words, "0" * 20)
        return time.monotonic() - at

    return database.run(add)
