"""Following a run over a bad network: nothing is lost, nothing is there twice, and the page says what is wrong."""

import re
from collections.abc import Callable, Iterator

import pytest

from models import Item
from tests.browser import Browser, as_fresh, connected
from tests.cut import Wire
from tests.place import Place
from tests.scripted import END, RESET, Scripted, text


class Network(Wire):
    """A wire that knows its websockets and can refuse them."""

    def __init__(self) -> None:
        super().__init__(0)
        self.websockets: set = set()
        self.refused = False

    def relay(self, source, sink) -> None:
        try:
            upwards = sink.getpeername()[1] == self.to
        except OSError:  # it was cut before it began
            upwards = False
        super().relay(Tap(source, self, upwards), sink)
        self.websockets.discard(source)

    def passes(self, source, piece: bytes) -> bool:
        if re.search(rb"(?i)\r\nupgrade: websocket", piece):
            if self.refused:
                return False
            self.websockets.add(source)
        return True


class Tap:
    """The end of a connection, whose bytes the network sees."""

    def __init__(self, end, network: Network, upwards: bool) -> None:
        self.end, self.network, self.upwards = end, network, upwards

    def recv(self, size: int) -> bytes:
        piece = self.end.recv(size)
        return piece if not self.upwards or self.network.passes(self.end, piece) else b""

    def __getattr__(self, name: str) -> object:
        return getattr(self.end, name)

    def __hash__(self) -> int:
        return hash(self.end)

    def __eq__(self, other: object) -> bool:
        return self.end == (other.end if isinstance(other, Tap) else other)


@pytest.fixture
def network() -> Iterator[Network]:
    wire = Network()
    yield wire
    wire.close()


@pytest.fixture
def place(network: Network, script: Scripted, open_place: Callable[..., Place]) -> Place:
    """A Parley that is reached through the network."""
    found = open_place(script, CHAT_PUBLIC_URL=f"http://127.0.0.1:{network.port}")
    network.to, found.url = found.port, f"http://127.0.0.1:{network.port}"
    return found


def said(place: Place, chat: str, kind: str = "user") -> list[str]:
    return [item.text for item in place.items(chat) if item.kind == kind]


def test_all_that_happened_while_the_page_was_away_is_there_in_its_order(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    """The run ends, a title comes, a queued message is answered, a new one waits behind it."""
    ada, first, third = place.visitor(), script.gate(), script.gate()
    script.plays(text("One two "), first, text("three."), *END).says("Second.").plays(text("Thi"), third, *END)
    garden = ada.begins("First?")
    page = browser.page(ada, garden)
    page.get_by_text("One two").wait_for()
    ada.asks(garden, "Second?")
    page.get_by_text("Second?").wait_for()
    network.cut()
    ada.client.base_url = f"http://127.0.0.1:{place.port}"  # past the cut
    first.open()
    ada.asks(garden, "Third?")
    assert third.reached.wait(20)
    ada.asks(garden, "Fourth?")
    network.mend()
    page.get_by_text("Fourth?").wait_for()
    connected(page)
    assert as_fresh(page)
    script.says("Fourth.")
    third.open()
    place.settled(garden)
    page.get_by_text("Fourth.").wait_for()
    assert as_fresh(page)
    assert page.title() == "A short title · Parley"


def test_ten_fast_switches_and_a_restart_leave_one_socket(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    ada, gate = place.visitor(), script.gate()
    script.plays(text("One "), gate, text("two."), *END)
    garden = ada.begins("Count")
    page = browser.page(ada, garden)
    page.get_by_text("One", exact=True).wait_for()
    for _ in range(10):
        page.context.set_offline(True)
        network.cut()
        page.context.set_offline(False)
        network.mend()
    network.cut()
    place.kill()
    network.mend()
    script.says("One two.")
    place.start()
    page.get_by_text("One two.").wait_for()
    connected(page)
    place.until(lambda: len(network.websockets) == 1, "one socket is open")
    gate.open()
    assert as_fresh(page)
    place.until(lambda: len(network.websockets) == 1, "one socket is open")


def test_the_banner_comes_after_two_seconds_of_real_loss_and_goes(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    script.says("Hello.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page, banner = browser.page(ada, garden), "The connection was lost."
    network.cut()
    page.wait_for_timeout(1000)
    assert not page.get_by_text(banner).is_visible(), "a short loss is not worth a word"
    page.get_by_text(banner).wait_for()
    page.get_by_label("Your message").fill("typed meanwhile")
    network.mend()
    page.get_by_text(banner).wait_for(state="hidden")
    assert page.get_by_label("Your message").input_value() == "typed meanwhile"


def test_a_page_behind_a_proxy_without_websockets_follows_by_asking(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    ada, gate = place.visitor(), script.gate()
    script.plays(text("One "), gate, text("two."), *END)
    garden = ada.begins("Count")
    network.refused = True
    page = browser.context(ada).new_page()
    page.goto(f"{place.url}/conversations/{garden}")
    gate.open()
    page.get_by_text("One two.").wait_for(timeout=30_000)
    place.settled(garden)
    page.get_by_role("heading", name="A short title").wait_for()
    assert as_fresh(page)
    assert not network.websockets


def test_a_message_into_a_network_that_swallows_it_says_so_and_arrives_once(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    script.says("Hello.").says("Later.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    page.get_by_text("Hello.").wait_for()
    place.settled(garden)
    network.hold()
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    page.get_by_text("Sending…").wait_for()
    page.keyboard.press("Enter")
    network.mend()
    page.get_by_text("Later.").wait_for()
    assert said(place, garden) == ["Hello", "Are you there?"]
    assert page.get_by_label("Your message").input_value() == ""
    assert as_fresh(page)


def test_a_message_whose_reply_was_lost_is_sent_again_by_itself_and_is_there_once(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    script.says("Hello.").says("Yes.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    place.settled(garden)
    network.hold()
    page.get_by_label("Your message").fill("Are you there?")
    page.keyboard.press("Enter")
    page.get_by_text("Sending…").wait_for()
    ada.client.base_url = f"http://127.0.0.1:{place.port}"
    key = page.locator("#composer [name=client_id]").input_value()
    ada.asks(garden, "Are you there?", client_id=key)  # what was held has arrived; its reply never will
    network.cut()
    page.get_by_text("Not sent yet").wait_for()
    network.mend()
    page.get_by_text("Yes.").wait_for()
    page.locator("#sending:empty").wait_for(state="attached")
    assert page.get_by_label("Your message").input_value() == ""
    assert said(place, garden) == ["Hello", "Are you there?"]


def test_a_message_changed_after_its_reply_was_lost_is_another_message(
    place: Place, network: Network, script: Scripted, browser: Browser
):
    script.says("Hello.").says("North.").says("South.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    place.settled(garden)
    key = page.locator("#composer [name=client_id]").input_value()
    network.cut()
    page.get_by_label("Your message").fill("Water the north bed")
    page.keyboard.press("Enter")
    page.get_by_text("Not sent yet").wait_for()
    ada.client.base_url = f"http://127.0.0.1:{place.port}"
    ada.asks(garden, "Water the north bed", client_id=key)
    page.get_by_label("Your message").fill("Water the south bed")
    network.mend()
    connected(page)
    page.get_by_text("North.").wait_for()
    assert page.get_by_label("Your message").input_value() == "Water the south bed", "nothing goes out by itself"
    page.get_by_label("Your message").press("Enter")
    page.get_by_text("South.").wait_for()
    assert said(place, garden) == ["Hello", "Water the north bed", "Water the south bed"]


def test_a_message_lands_where_it_was_typed_however_fast_one_switches(place: Place, script: Scripted, browser: Browser):
    script.when("A:").says("Answer in A.")
    script.when("B:").says("Answer in B.")
    script.says("a").says("b")
    ada = place.visitor()
    a, b = ada.begins("first"), ada.begins("second")
    place.settled(a)
    place.settled(b)
    page = browser.page(ada, a)
    page.get_by_label("Your message").fill("A: water?")
    page.keyboard.press("Enter")
    page.goto(f"{place.url}/conversations/{b}", wait_until="commit")
    page.get_by_label("Your message").fill("B: sun?")
    page.keyboard.press("Enter")
    page.get_by_text("Answer in B.").wait_for()
    place.until(lambda: said(place, a, "text")[1:] or said(place, a) == ["first"], "A is asked or was never sent")
    place.settled(a)
    assert said(place, b) == ["second", "B: sun?"]
    assert said(place, a) == ["first", "A: water?"], "the browser had sent it"
    assert said(place, a, "text")[1:] == ["Answer in A."]


def test_going_back_shows_the_conversation_as_it_is_now(place: Place, script: Scripted, browser: Browser):
    script.says("One.").says("Two.")
    ada = place.visitor()
    garden = ada.begins("First?")
    place.settled(garden)
    page = browser.page(ada, garden)
    page.goto(place.url)
    ada.asks(garden, "Second?")
    place.settled(garden)
    page.go_back()
    page.get_by_text("Two.").wait_for()
    connected(page)
    assert as_fresh(page)


def test_five_answers_that_die_leave_a_conversation_that_opens(place: Place, script: Scripted, browser: Browser):
    ada = place.visitor()
    for number in range(6):
        script.plays(text(f"Try {number} gets thus"), RESET)
    garden = ada.begins("Tell me")
    page = browser.page(ada, garden)
    for number in range(6):
        page.get_by_text(f"Try {number} gets thus").wait_for()
        place.settled(garden)
        if number < 5:
            page.get_by_role("button", name="Try again").click()
    page.get_by_text("6/6").wait_for()
    assert as_fresh(page)
    page.get_by_role("button", name="Earlier version").click()
    page.get_by_text("Try 4 gets thus").wait_for()
    page.get_by_text("This answer was cut off.").wait_for()
    assert as_fresh(page)
    assert Item.select().where(Item.kind == "text").count() == 6


def test_again_while_messages_wait_says_why_not(place: Place, script: Scripted, browser: Browser):
    ada, gate = place.visitor(), script.gate()
    script.says("First.").plays(text("Sec"), gate, text("ond."), *END).says("Third.")
    garden = ada.begins("One")
    place.settled(garden)
    ada.asks(garden, "Two")
    ada.asks(garden, "Three")
    page = browser.page(ada, garden)
    page.get_by_role("button", name="Again").first.click()
    page.get_by_text("Messages wait here").wait_for()
    gate.open()
    place.settled(garden)
    page.get_by_text("Third.").wait_for()
    assert as_fresh(page)


def test_again_at_once_after_the_end_is_one_sibling(place: Place, script: Scripted):
    ada, old, new = place.visitor(), script.gate(), script.gate()
    script.plays(text("Old."), old, *END).plays(text("New."), new, *END)
    garden = ada.begins("Tell me")
    assert old.reached.wait(20)
    old.open()
    for _ in range(3):
        assert ada.again(garden).status_code == 303
    new.open()
    place.settled(garden)
    answers = [item.text for item in Item.select().where(Item.kind == "text").order_by(Item.id)]
    assert answers == ["Old.", "New."]
    assert place.texts(garden) == ["New."]
    asked = Item.find(Item.chat == garden, Item.kind == "user")
    assert len(asked.versions()) == 2


def test_again_from_a_page_that_holds_only_the_end_keeps_all_that_is_older(place: Place, script: Scripted):
    ada = place.visitor()
    script.always(lambda body: [text("Yes."), *END])
    garden = ada.begins("Question 0")
    for number in range(1, 40):
        ada.asks(garden, f"Question {number}")
    place.settled(garden)
    before = place.items(garden)
    assert "Question 0" not in ada.sees(garden), "the page holds only the end"
    ada.again(garden)
    place.settled(garden)
    after = place.items(garden)
    assert [item.id for item in after[:79]] == [item.id for item in before[:79]]
    assert [item.text for item in after if item.drawn][-2:] == ["Question 39", "Yes."]
