"""G1: however an answer comes, and whatever happens to the page meanwhile, it ends in the same HTML as a fresh page."""

import random
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from tests.answers import ANSWERS
from tests.browser import Browser, connected, opened
from tests.cut import Wire
from tests.place import Place
from tests.scripted import END, Scripted, last_user, text

NAMES = list(ANSWERS)
SMALL = {"viewport": {"width": 480, "height": 320}, "reduced_motion": "reduce"}  # many pages on a small machine
TAKES = 5.0  # seconds an answer is stretched to


def cut(answer: str, chance: random.Random) -> list[str]:
    """ANSWER in pieces of 1 to 12 characters."""
    places = [0]
    while places[-1] < len(answer):
        places.append(places[-1] + chance.randint(1, 12))
    return [answer[a:b] for a, b in zip(places, places[1:], strict=False)]


class Player:
    """The model: "play NAME HOW" is answered by the answer NAME; gates hold the answers in their middle."""

    def __init__(self, script: Scripted) -> None:
        self.half, self.rest = script.gate(), script.gate()
        script.always(self.play)

    def play(self, body: dict) -> Iterator[object]:
        name, how = re.fullmatch(r"play (.*) (\w+)", last_user(body)).groups()
        answer = ANSWERS[name]
        if how == "whole":
            yield text(answer)
        else:
            yield from self.pieces(list(answer) if how == "letters" else cut(answer, random.Random(name)))
        yield from END

    def pieces(self, pieces: list[str]) -> Iterator[object]:
        for number, piece in enumerate(pieces):
            if number == len(pieces) // 2:
                yield self.half
            yield text(piece)
            yield min(0.02, TAKES / len(pieces))
        yield self.rest


def content(page: Page) -> str:
    """The answer's HTML on PAGE, without its item's key."""
    return re.sub(r"item-[0-9a-z]{20}", "item", page.locator(".content").last.inner_html())


def loaded(page: Page, place: Place, chat: str) -> str:
    page.goto(f"{place.url}/conversations/{chat}")
    return content(page)


@pytest.fixture
def wired(script: Scripted, open_place: Callable[..., Place]) -> Iterator[tuple[Place, Wire]]:
    """A Parley that browsers reach through a network that can be cut."""
    wire = Wire(0)
    patient = {"CHAT_RUNS_PERSON": "100", "CHAT_SILENCE": "600"}  # the model waits for all pages to be open
    place = open_place(script, CHAT_PUBLIC_URL=f"http://127.0.0.1:{wire.port}", **patient)
    wire.to = place.port
    place.url = f"http://127.0.0.1:{wire.port}"
    yield place, wire
    wire.close()


@pytest.mark.timeout(900)  # it opens forty-six pages
def test_every_answer_survives_a_reload_and_a_cut_network(
    wired: tuple[Place, Wire], script: Scripted, browser: Browser
):
    """All answers at once: pages open, half of them reload in the middle, then the network is cut for all."""
    place, wire = wired
    player = Player(script)
    people = [place.visitor(f"Reader {n}") for n in range(0, len(NAMES), 12)]
    chats = {name: people[n // 12].begins(f"play {name} pieces") for n, name in enumerate(NAMES)}
    wholes = {name: people[0].begins(f"play {name} whole") for name in NAMES}
    windows = [browser.context(person, **SMALL) for person in people]
    pages = {name: opened(windows[n // 12], people[n // 12], chats[name]) for n, name in enumerate(NAMES)}
    assert player.half.reached.wait(30)
    for name in NAMES[::2]:
        pages[name].reload()
    player.half.open()
    wire.cut()
    player.rest.open()
    for chat in [*chats.values(), *wholes.values()]:
        place.settled(chat)
    wire.mend()
    for page in pages.values():
        connected(page)
        page.locator("#status[data-status=idle]").wait_for(state="attached")
    plain = browser.page(people[0])
    for name in NAMES[12:]:
        place.joins(chats[name], people[0])
    for name in NAMES:
        fresh = loaded(plain, place, chats[name])
        assert content(pages[name]) == fresh, f"{name}: the page that lived through it"
        assert loaded(plain, place, wholes[name]) == fresh, f"{name}: in one piece"
    for window in windows:
        window.close()


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_each_answer_in_each_of_the_five_ways(
    name: str, wired: tuple[Place, Wire], script: Scripted, browser: Browser
):
    """In one piece, letter by letter, at random places, with a reload in the middle, with 5 s of no network."""
    place, wire = wired
    player, ada = Player(script), place.visitor()
    player.half.open()
    player.rest.open()
    seen = {}
    for way in ("whole", "letters", "pieces", "reload", "cut"):
        chat = ada.begins(f"play {name} {way if way in ('whole', 'letters') else 'pieces'}")
        page = browser.page(ada, chat)
        if way == "reload":
            page.locator(".content").last.wait_for(state="attached")
            page.reload()
        if way == "cut":
            wire.cut()
            page.wait_for_timeout(5000)
            wire.mend()
        place.settled(chat)
        connected(page)
        page.locator("#status[data-status=idle]").wait_for(state="attached")
        seen[way] = content(page)
        seen[f"{way}, loaded again"] = loaded(page, place, chat)
        page.context.close()
    assert len(set(seen.values())) == 1, {way: html[:2000] for way, html in seen.items()}
