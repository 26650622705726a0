"""The server is killed at random moments under load; the laws of the log hold after each start."""

import random
import threading
import time
from collections.abc import Callable, Iterator

import httpx2
import pytest
from playwright.sync_api import Page

from database import database
from models import Conversation, Item
from tests.browser import Browser, fresh, shown
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, last_user, text

CHATS = 3
MORE_ENDS = ">Older messages</a>"


def slowly(body: dict) -> Iterator[object]:
    """An answer of 60 words over about a second and a half, which says what it answers."""
    words = f"Answer to {last_user(body)}: " + " ".join(f"word{n}" for n in range(60))
    for at in range(0, len(words), 9):
        yield text(words[at : at + 9])
        yield 0.03
    yield from END


class Talker(threading.Thread):
    """Somebody who goes on asking, and remembers what was acknowledged."""

    def __init__(self, visitor: Visitor, chat: str, name: str) -> None:
        super().__init__(daemon=True)
        self.visitor, self.chat, self.name = visitor, chat, name
        self.sure: set[str] = set()
        self.ended = threading.Event()

    def run(self) -> None:
        number = 0
        while not self.ended.is_set():
            number += 1
            key = f"{self.name}-{number}"
            while not self.ended.is_set() and not self.said(key):
                self.ended.wait(0.05)
            self.ended.wait(random.uniform(2.0, 5.0))

    def said(self, key: str) -> bool:
        """Whether the server acknowledged the message; a lost answer is asked for again under the same key."""
        try:
            answer = self.visitor.asks(self.chat, f"question {key}", client_id=key)
        except httpx2.TransportError:
            return False
        if answer.status_code == 303:
            self.sure.add(key)
        return answer.status_code in (303, 409)


def acknowledged(talkers: list[Talker]) -> int:
    return sum(len(talker.sure) for talker in talkers)


def laws(place: Place, talkers: list[Talker], seen: dict[str, str]) -> None:
    """What must hold of the log after every start. SEEN: the ended texts of earlier checks."""
    assert database.execute_sql("pragma integrity_check").fetchone() == ("ok",)
    kept = [row.client_id for row in Item.select(Item.client_id).where(Item.kind == "user")]
    assert len(kept) == len(set(kept)), "a message is there twice"
    missing = set().union(*(talker.sure for talker in talkers)) - set(kept)
    assert not missing, f"acknowledged messages are gone: {missing}"
    for item in Item.select().where(Item.kind == "text", Item.done == 1):
        assert seen.setdefault(item.id, item.text) == item.text, "an ended answer changed"
        whole = "".join(p for p in slowly_text(item))
        assert whole.startswith(item.text), f"not what the model wrote: {item.text[:80]}"
    for chat in {talker.chat for talker in talkers}:
        running = Item.select().where(Item.chat == chat, Item.done == 0, Item.state == "running").count()
        assert running <= 1, "two runs in one conversation"


def slowly_text(item: Item) -> list[str]:
    asked = Item.get_by_id(item.run)
    body = {"messages": [{"role": "user", "content": asked.text}]}
    return [p["choices"][0]["delta"].get("content", "") for p in slowly(body) if isinstance(p, dict) and p["choices"]]


def killed(place: Place, browser: Browser, kills: int) -> None:
    """Kill the server KILLS times under load, check the laws each time, and the pages at the end."""
    chance = random.Random(7)
    ada = place.visitor("Ada")
    chats = [ada.begins(f"question begin-{n}", client_id=f"begin-{n}") for n in range(CHATS)]
    pages = [browser.page(ada, chat) for chat in chats[:2]]
    talkers = [Talker(place.visitor(f"Talker {n}"), chat, f"t{n}") for n, chat in enumerate(chats)]
    for talker in talkers:
        place.joins(talker.chat, talker.visitor)
        talker.start()
    seen: dict[str, str] = {}
    for number in range(kills):
        sure = acknowledged(talkers)
        if number % 4:  # the fourth kill may hit a server that has hardly started
            place.until(lambda sure=sure: acknowledged(talkers) > sure, "somebody is heard", 60)
        time.sleep(chance.uniform(0.05, 1.2))  # the random moment is what is tested
        place.kill()
        laws(place, talkers, seen)
        place.start()
    for talker in talkers:
        talker.ended.set()
    for talker in talkers:
        talker.join(20)
    for chat in chats:
        place.until(lambda chat=chat: not Conversation.get_by_id(chat).open_wish(), "every run ends", 400)
    laws(place, talkers, seen)
    assert acknowledged(talkers) >= kills / 2, "there was load"
    for page in pages:
        page.locator("#status[data-status=idle]").wait_for(state="attached")
        place.until(lambda page=page: ends_as_fresh(page), "the page equals a fresh one")


def ends_as_fresh(page: Page) -> bool:
    """Whether PAGE shows what a fresh one shows, below what has grown out of the fresh one's window meanwhile."""
    anew = fresh(page)
    return shown(page).endswith(anew.partition(MORE_ENDS)[2] or anew)


@pytest.fixture
def busy(script: Scripted, open_place: Callable[..., Place]) -> Place:
    script.always(slowly)
    return open_place(script)


@pytest.mark.timeout(900)  # it starts a server thirty times
def test_nothing_is_lost_or_doubled_by_30_kills(busy: Place, browser: Browser):
    killed(busy, browser, 30)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_nothing_is_lost_or_doubled_by_300_kills(busy: Place, browser: Browser):
    killed(busy, browser, 300)
