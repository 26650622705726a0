"""The list on open pages: it is what a fresh page shows, whatever happens; and what one does from its menu."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from database import database
from models import Conversation, Item
from tests.browser import Browser, opened
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text

LISTS = ("pinned", "conversations")


class World:
    """One server for all of these."""

    def __init__(self, place: Place) -> None:
        self.place, self.number = place, 0

    def person(self, *titles: str) -> tuple[Visitor, list[str]]:
        """Somebody new, and the keys of their conversations with these TITLES, the last one the newest."""
        self.number += 1
        who = self.place.visitor(f"Reader {self.number}")
        return who, [Conversation.begin(who.person.id, title=title).id for title in titles]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    script = Scripted()
    script.always(lambda body: [text("A quiet answer."), *END])
    place = Place(tmp_path_factory.mktemp("list"), script)
    yield World(place)
    place.close()
    script.close()


def listed(page: Page) -> list[list[str]]:
    """The titles in the lists of PAGE, in order."""
    return [page.locator(f"#{where} .row__title").all_inner_texts() for where in LISTS]


def shows(world: World, page: Page, *lists: list[str]) -> bool:
    """PAGE comes to show these lists, and a fresh page the same HTML."""
    world.place.until(lambda: page.wait_for_timeout(20) or listed(page) == [*lists], f"{lists}, not {listed(page)}")
    other = page.context.new_page()
    other.goto(page.url)
    world.place.until(lambda: page.wait_for_timeout(20) or rows(page) == rows(other), "as a fresh page")
    other.close()
    return True


def rows(page: Page) -> list[str]:
    return [page.locator(f"#{where}").inner_html().replace(' data-htmx-powered="true"', "") for where in LISTS]


def opens(page: Page, chat: str) -> None:
    """Open the menu of CHAT in the list."""
    page.locator(f"#conversation-{chat}").hover()
    page.locator(f"#conversation-{chat} [data-action=menu]").click()
    page.locator("#menu:popover-open").wait_for()


def test_an_open_list_stays_in_the_order_of_a_fresh_one(world: World, browser: Browser):
    ada, (roses, taxes, cats) = world.person("Roses", "Taxes", "Cats")
    page = browser.page(ada, cats)
    row = page.locator(f"#conversation-{roses}").element_handle()
    page.locator(f"#conversation-{roses} .row__link").focus()
    ada.asks(roses, "Hello")
    world.place.settled(roses)
    assert shows(world, page, [], ["Roses", "Cats", "Taxes"])
    assert page.evaluate("row => row.isConnected && row.contains(document.activeElement)", row), "moved, not made anew"
    ada.client.post(f"/conversations/{taxes}/pin")
    assert shows(world, page, ["Taxes"], ["Roses", "Cats"])
    ada.asks(cats, "Hello")
    world.place.settled(cats)
    assert shows(world, page, ["Taxes"], ["Cats", "Roses"])
    ada.client.post(f"/conversations/{roses}/pin")
    assert shows(world, page, ["Roses", "Taxes"], ["Cats"])
    ada.client.post(f"/conversations/{taxes}/pin", data={"undo": "1"})
    ada.client.post(f"/conversations/{roses}/archive")
    assert shows(world, page, [], ["Cats", "Taxes"])
    assert page.locator(f"#conversation-{cats} [aria-current=page]").count() == 1, "the one on show is marked"
    page.context.close()


def test_a_page_that_was_away_comes_back_to_the_list_of_a_fresh_one(world: World, browser: Browser):
    ada, (roses, taxes, cats) = world.person("Roses", "Taxes", "Cats")
    page = browser.page(ada)
    page.context.set_offline(True)
    page.evaluate("document.querySelector('#main')._htmx.ws.connection.socket.close()")
    ada.asks(taxes, "Hello")
    world.place.settled(taxes)
    ada.client.post(f"/conversations/{roses}/pin")
    ada.client.post(f"/conversations/{cats}/delete")
    ada.client.post(f"/conversations/{cats}/erase")
    world.place.until(lambda: not Conversation.find(Conversation.id == cats), "its rows are gone")
    page.context.set_offline(False)
    assert shows(world, page, ["Roses"], ["Taxes"])
    page.context.close()


def test_a_removed_member_and_a_needed_one_see_it_in_the_list(world: World, browser: Browser):
    ada, (garden, other) = world.person("Garden", "Other")
    ben, _ = world.person()
    world.place.joins(garden, ben)
    page = browser.page(ben)
    assert listed(page) == [[], ["Garden"]]
    call = Item(id=f"{garden[:-1]}!", chat=garden, kind="call", name="pay", state="approval", run=garden)
    database.run(lambda: call.save(force_insert=True))
    page.get_by_text("Needs you").wait_for()
    world.place.leaves(garden, ben)
    assert shows(world, page, [], [])
    assert page.get_by_text("No conversations yet").is_visible()
    world.place.joins(garden, ben)
    assert shows(world, page, [], ["Garden"])
    assert other
    page.context.close()


def test_one_renames_pins_and_deletes_from_the_menu_with_keys_alone(world: World, browser: Browser):
    ada, (roses, taxes) = world.person("Roses", "Taxes")
    page = browser.page(ada, taxes)
    page.locator(f"#conversation-{roses} [data-action=menu]").focus()
    page.keyboard.press("Enter")
    page.locator("#menu:popover-open").wait_for()
    page.keyboard.press("Enter")  # the first is Rename
    page.locator("#rename:focus").wait_for()
    composes(page)
    assert page.locator("#menu:popover-open").count() == 1, "Enter took the composed word, and nothing else"
    page.locator("#rename").fill("Roses, and more")
    page.keyboard.press("Enter")
    assert shows(world, page, [], ["Taxes", "Roses, and more"])
    assert page.locator("#menu:popover-open").count() == 0
    assert Conversation.get_by_id(roses).titled == "person"
    opens(page, roses)
    page.keyboard.press("Escape")
    assert page.locator("#menu:popover-open").count() == 0
    opens(page, roses)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")  # the last is Delete
    page.locator("[data-action=undo]").click()
    assert shows(world, page, [], ["Taxes", "Roses, and more"])
    assert page.locator("[data-action=undo]").count() == 0
    page.context.close()


def test_the_conversation_on_show_is_deleted_and_its_other_pages_are_told(world: World, browser: Browser):
    ada, (roses, taxes) = world.person("Roses", "Taxes")
    page = browser.page(ada, roses)
    other = opened(page.context, ada, roses)
    page.locator(".head [data-action=menu]").click()
    page.locator("#menu [data-action=delete]").click()
    page.wait_for_url("**/?deleted=*")
    other.get_by_text("This conversation was deleted.").wait_for()
    assert listed(other) == [[], ["Taxes"]]
    page.locator("[data-action=undo]").click()
    page.wait_for_url(f"**/conversations/{roses}")
    assert shows(world, page, [], ["Taxes", "Roses"])
    page.context.close()
    assert taxes


def test_nobody_needs_scripts_for_any_of_it(world: World, browser: Browser):
    ada, (roses, taxes) = world.person("Roses", "Taxes")
    page = browser.context(ada, java_script_enabled=False).new_page()
    page.goto(f"{world.place.url}/conversations/{taxes}")
    page.locator(f"#conversation-{roses} [data-action=menu]").click()
    page.locator("[data-action=rename]").click()
    page.get_by_label("Title").fill("Roses and more")
    page.get_by_label("Title").press("Enter")
    assert listed(page) == [[], ["Taxes", "Roses and more"]]
    page.locator(".head [data-action=menu]").click()
    page.locator("[data-action=delete]").click()
    page.locator("[data-action=undo]").click()
    page.locator(".head [data-action=menu]").click()
    page.locator("[data-action=delete]").click()
    page.locator("[data-action=deleted]").click()
    page.get_by_role("button", name="Delete for ever").click()
    page.locator("[data-action=erase]").click()
    page.get_by_text("Nothing was deleted").wait_for()
    page.context.close()


def composes(page: Page) -> None:
    """Write a word with an input method, and take it with Enter."""
    session = page.context.new_cdp_session(page)
    session.send("Input.imeSetComposition", {"text": "バラ", "selectionStart": 2, "selectionEnd": 2})
    enter = {"key": "Process", "code": "Enter", "windowsVirtualKeyCode": 229}
    session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    session.send("Input.insertText", {"text": "バラ"})
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **enter})
    assert page.locator("#rename").input_value() == "バラ"
