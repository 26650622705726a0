"""Single frames of the socket are lost, doubled or overtaken: the page finds out and shows all of it, once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute

from tests.browser import Browser, as_fresh, held
from tests.place import Place
from tests.scripted import END, Scripted, text

WORDS = [f"word{n} " for n in range(60)]


class Road:
    """The way of a page's frames; BECOMES says what arrives in place of the Nth one."""

    def __init__(self, becomes: Callable[[int, str], list[str]]) -> None:
        self.becomes, self.sent, self.opened = becomes, 0, 0

    def leads(self, page: Page) -> None:
        page.route_web_socket("**/live?*", self.joined)

    def joined(self, near: WebSocketRoute) -> None:
        far = near.connect_to_server()
        self.opened += 1
        far.on_message(lambda frame: self.passes(near, frame))

    def passes(self, near: WebSocketRoute, frame: str) -> None:
        self.sent += 1
        for one in self.becomes(self.sent, frame):
            near.send(one)


class Overtaken:
    """Every fourth frame arrives behind the one that was sent after it."""

    def __init__(self) -> None:
        self.held: list[str] = []

    def __call__(self, number: int, frame: str) -> list[str]:
        if number % 4 == 0:
            self.held.append(frame)
            return []
        late, self.held = self.held, []
        return [frame, *late]


ROADS = {
    "lost": lambda number, frame: [] if number % 4 == 0 else [frame],
    "doubled": lambda number, frame: [frame, frame],
    "overtaken": Overtaken(),
}


@pytest.mark.browser
@pytest.mark.parametrize("how", ROADS)
def test_an_answer_is_whole_though_frames_of_it_are(how: str, place: Place, script: Scripted, browser: Browser):
    gate, ada, road = script.gate(), place.visitor(), Road(ROADS[how])
    script.plays(text("Count: "), gate, *(piece for word in WORDS for piece in (text(word), 0.06)), *END)
    garden = ada.begins("How many?")
    page = browser.context(ada).new_page()
    road.leads(page)
    page.goto(f"{place.url}/conversations/{garden}")
    page.get_by_text("Count:").first.wait_for()
    gate.open()
    page.get_by_text(f"Count: {''.join(WORDS)}".strip()).wait_for()
    assert road.sent > 12, "there were frames to spoil"
    assert as_fresh(page)
    assert (road.opened > 1) == (how != "doubled"), "the page comes back where something is missing, and only there"


@pytest.mark.browser
def test_the_last_frame_of_an_answer_is_missed_when_it_is_lost(place: Place, script: Scripted, browser: Browser):
    lost: list[str] = []

    def becomes(_: int, frame: str) -> list[str]:
        if "the end." in frame and not lost:
            lost.append(frame)
            return []
        return [frame]

    gate, ada, road = script.gate(), place.visitor(), Road(becomes)
    script.plays(text("This is "), gate, text("the end."), *END)
    garden = ada.begins("Tell me")
    page = browser.context(ada).new_page()
    road.leads(page)
    page.goto(f"{place.url}/conversations/{garden}")
    page.get_by_text("This is").first.wait_for()
    gate.open()
    page.get_by_text("This is the end.").wait_for(timeout=6000)
    assert lost and held(page, "document.querySelector('#status').dataset.status === 'idle'")
    assert as_fresh(page)
