"""Finding what was said: the page of hits, the way to each of them, and who finds nothing."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route

from models import Assistant, Conversation, Item
from tests.browser import Browser, connected, held, opened
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, last_user, text
from tests.world import told

MANY = 150  # questions with their answers


@pytest.fixture(scope="module")
def script() -> Iterator[Scripted]:
    with Scripted() as found:
        yield found.always(lambda body: [text(f"You said: {last_user(body)}"), *END])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, script: Scripted) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("search"), script)
    yield found
    found.close()


@pytest.fixture(scope="module")
def ada(place: Place) -> Visitor:
    return place.visitor("Ada")


@pytest.fixture(scope="module")
def garden(ada: Visitor) -> Conversation:
    """A long conversation in which every tenth answer says a rare word."""
    chat = Conversation.begin(ada.person.id, title="About the garden")
    for number in range(MANY):
        told(chat, ada.person.id, f"Question {number}", answer(number))
    return chat.fresh()


def begun(ada: Visitor, words: str, title: str = "") -> str:
    """A conversation that begins with WORDS, answered and called TITLE, or as the model calls it."""
    chat = ada.begins(words)
    ada.place.settled(chat)
    ada.place.until(lambda: Conversation.get_by_id(chat).titled != "words", "it is named")
    if title:
        ada.client.post(f"/conversations/{chat}/title", data={"title": title})
    return chat


def finds(visitor: Visitor, words: str, **filters: str) -> str:
    """What the search page says, as one reads it."""
    answer = visitor.client.get("/search", params={"q": words, **filters}, headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.text
    return " ".join(re.sub(r"<(?!/?mark)[^>]*>", " ", answer.text).split())


def hits(visitor: Visitor, words: str, **filters: str) -> int:
    page = visitor.client.get("/search", params={"q": words, **filters}).text
    return page.count('class="hit"')


def test_words_lead_to_titles_and_messages(ada: Visitor, place: Place):
    chat = begun(ada, "Where does the <b>Okapi</b> live?", "Okapi & others")
    found = finds(ada, "okapi")
    assert "Conversations <mark>Okapi</mark> &amp; others" in found
    assert "Ada · " in found and "Where does the &lt;b&gt;<mark>Okapi</mark>&lt;/b&gt; live?" in found
    assert "You said: Where does the" in found
    page = ada.client.get("/search?q=okapi").text
    item = place.items(chat)[0]
    assert f'href="/conversations/{chat}?find=okapi&amp;at={item.id}#item-{item.id}"' in page
    ada.client.post(f"/conversations/{chat}/title", data={"title": "Animals"})
    assert "<mark>" not in finds(ada, "okapi", **{"in": "titles"}), "it is called something else now"
    assert "<mark>Animals</mark>" in finds(ada, "animals")
    assert "Nothing was found" in finds(ada, "okapi zebra")
    assert "search without them" in ada.client.get("/search?q=okapi&from=me&first=2999-01-01").text


def test_an_answer_is_found_when_it_has_ended(ada: Visitor, place: Place, script: Scripted):
    gate = script.gate()
    script.plays(text("A quagga grazes"), gate, text(" here."), *END)
    chat = ada.begins("Which animal?")
    place.until(lambda: any("quagga" in item.text for item in place.items(chat)), "the answer grows")
    assert hits(ada, "quagga") == 0
    gate.open()
    place.settled(chat)
    assert hits(ada, "quagga") == 1


def test_nobody_finds_what_they_may_not_see(ada: Visitor, place: Place):
    ben, mallory = place.visitor("Ben"), place.visitor("Mallory")
    chat = begun(ada, "The axolotl regrows its legs", "Axolotl")
    place.joins(chat, ben, "reader")
    assert hits(ada, "axolotl") == hits(ben, "axolotl") == 3, "a title, a message, an answer"
    nothing = finds(mallory, "zebrafish").replace("zebrafish", "")
    assert finds(mallory, "axolotl").replace("axolotl", "") == nothing, "no hit, no count, no surroundings"
    assert mallory.client.get(f"/conversations/{chat}?find=axolotl").status_code == 404
    Conversation.get_by_id(chat).discard(ada.person.id)
    assert hits(ada, "axolotl") == hits(ben, "axolotl") == 0, "deleted"
    Conversation.get_by_id(chat).restore()
    assert hits(ben, "axolotl") == 3
    place.leaves(chat, ben)
    assert finds(ben, "axolotl").replace("axolotl", "") == nothing
    assert ben.client.get(f"/conversations/{chat}?find=axolotl").status_code == 404
    assert hits(ada, "axolotl") == 3
    assert ada.client.get("/api/search/test").status_code == 404


def test_filters_narrow_what_is_found(ada: Visitor):
    chat = begun(ada, "Tell me about the narwhal", "Narwhal")
    assert hits(ada, "narwhal") == 3
    for filters, count in (
        ({"in": "titles"}, 1),
        ({"in": "messages"}, 2),
        ({"from": "me"}, 1),
        ({"from": "agent"}, 1),
        ({"agent": Assistant.first().id}, 3),
        ({"agent": "0" * 20}, 0),
        ({"first": "2020-01-01", "last": "2999-12-31"}, 3),
        ({"first": "2999-01-01"}, 0),
        ({"last": "2020-01-01"}, 0),
        ({"archived": "no"}, 3),
    ):
        assert hits(ada, "narwhal", **filters) == count, filters
    Conversation.get_by_id(chat).archive(ada.person.id, on=True)
    assert (hits(ada, "narwhal"), hits(ada, "narwhal", archived="no")) == (3, 0)
    refused = ada.client.get("/search", params={"q": "narwhal", "first": "yesterday"})
    assert refused.status_code == 400 and "2026-12-31" in refused.text


def test_no_search_is_a_fault_of_the_server(ada: Visitor, garden: Conversation, place: Place):
    for words in ('"', "AND OR NOT NEAR * ^ : ( )", "\0", "x" * 10_000, "\U0001f469", '-"', "%ff", "日" * 300):
        for path in ("/search", f"/conversations/{garden.id}"):
            answer = ada.client.get(path, params={"q": words, "find": words, "at": words, "before": words})
            assert answer.status_code in (200, 303, 414), words[:20]
    assert ada.client.get("/search?q=%ed%a0%80%ff&agent=%00&in=%00&from=%00").status_code == 200
    assert "Traceback" not in place.log.read_text()


def test_more_hits_come_page_by_page(ada: Visitor, garden: Conversation):
    seen, url = [], "/search?q=moss"
    while url:
        page = ada.client.get(url).text
        seen += re.findall(r"Answer (\d+), <mark>moss", page)
        more = re.search(r'href="(\?[^"]*before=[^"]*)"', page)
        url = more and "/search" + more[1].replace("&amp;", "&")
    assert seen == [str(n) for n in reversed(range(MANY)) if n % 10 != 5], "the newest first, each once"


def test_a_hit_opens_its_surroundings_and_the_rest_is_one_step_away(ada: Visitor, garden: Conversation):
    hit = Item.find(Item.chat == garden.id, Item.text.startswith("Answer 25,"))
    page = ada.client.get(f"/conversations/{garden.id}?find=nasturtium&at={hit.id}").text
    assert "3 of 15" in page
    assert f"Answer {MANY - 1}," in page, "the page ends with the newest, as every page does"
    assert "Older messages" in page and "Answer 14," not in page
    whole = [f"Answer {n}," for n in range(15, MANY)]
    assert [words for words in whole if words not in page], "there is a gap"
    while gap := re.search(r'<a class="more" id="gap"[^>]*hx-get="([^"]*)"[^>]*>[^<]*</a>', page):
        page = page.replace(gap[0], ada.client.get(gap[1].replace("&amp;", "&")).text)
    assert re.findall(r"Answer \d+,", page) == whole, "each once and in order"


def answer(n: int) -> str:
    return f"Answer {n}, {'**nasturtium**' if n % 10 == 5 else 'moss'}."


def test_a_hit_on_another_version_says_so_and_can_be_shown(ada: Visitor, place: Place, script: Scripted):
    script.says("The first thylacine.").says("The second one.")
    chat = ada.begins("Name an animal")
    place.settled(chat)
    ada.again(chat)
    place.settled(chat)
    old = Item.find(Item.chat == chat, Item.text == "The first thylacine.")
    assert place.texts(chat) == ["The second one."]
    assert "in another version" in finds(ada, "thylacine")
    page = ada.client.get(f"/conversations/{chat}?find=thylacine&at={old.id}").text
    assert "in another version of the conversation" in page and "The first" not in page
    moved = ada.client.post(f"/conversations/{chat}/at", data={"item": old.id})
    assert moved.headers["Location"] == f"/conversations/{chat}?at={old.id}#item-{old.id}"
    assert place.texts(chat) == ["The first thylacine."]
    assert "in another version" not in finds(ada, "thylacine")


# In the browser


@pytest.fixture
def page(browser: Browser, ada: Visitor, garden: Conversation) -> Iterator[Page]:
    context = browser.context(ada)
    found = context.new_page()
    found.goto(f"{ada.place.url}/search")
    connected(found)
    yield found
    context.close()


def test_hits_come_while_one_types_and_an_old_answer_never_covers_a_newer(page: Page):
    held_back: list[Route] = []
    page.route("**/search?q=nas*", lambda route: held_back.append(route))
    field = page.get_by_label("Words to find")
    with page.expect_request("**/search?q=nas*"):
        field.press_sequentially("nas")
    with page.expect_response("**/search?q=moss&*"):
        field.fill("moss")
    page.locator(".hit mark", has_text="moss").first.wait_for()
    [late] = held_back
    late.fulfill(body="<p>An old answer</p>", content_type="text/html")
    field.fill("moss 14")
    page.locator(".hit", has_text="Answer 14, moss").wait_for()
    assert page.locator(".hit").count() == 1
    assert page.get_by_text("An old answer").count() == 0
    assert held(page, "location.search === '?q=moss+14'"), "the address can be kept"
    assert page.locator("#results-count").inner_text().strip() == "0 conversations, 1 messages"


def test_one_goes_from_hit_to_hit_in_a_page_that_lives(page: Page):
    page.get_by_label("Words to find").fill("nasturtium")
    page.locator(".hit", has_text="Answer 25,").locator("a").click()
    at = page.locator(".item:focus")
    at.filter(has_text="Answer 25,").wait_for()
    assert page.locator(".find__count").inner_text() == "3 of 15"
    assert page.locator(".item:target", has_text="Answer 25,").is_visible()
    assert held(page, "CSS.highlights.get('found').size > 1"), "the words are marked"
    page.get_by_role("link", name="Next").click()
    at.filter(has_text="Answer 35,").wait_for()
    assert page.locator(".find__count").inner_text() == "4 of 15"
    page.locator("#find-text").press("Enter")
    at.filter(has_text="Answer 25,").wait_for()
    page.keyboard.press("F3")
    at.filter(has_text="Answer 35,").wait_for()
    page.get_by_role("link", name="Close the search").click()
    page.locator(".find").wait_for(state="detached")
    assert page.locator("#items").is_visible()


def test_what_comes_meanwhile_stands_at_the_end_and_does_not_move_the_reader(
    browser: Browser, ada: Visitor, garden: Conversation, place: Place
):
    hit = Item.find(Item.chat == garden.id, Item.text.startswith("Answer 15,"))
    page = opened(browser.context(ada), ada, f"{garden.id}?find=nasturtium&at={hit.id}#item-{hit.id}")
    assert page.locator("#gap").count() == 1
    where = page.locator(f"#item-{hit.id}").bounding_box()
    ada.asks(garden.id, "Is there news?")
    page.locator("#items > .item:last-of-type", has_text="You said: Is there news?").wait_for()
    place.settled(garden.id)
    assert page.locator(f"#item-{hit.id}").bounding_box() == where
    held(page, "(document.querySelector('#gap')?.scrollIntoView(), !document.querySelector('#gap'))")
    keys = page.locator("#items > .item").evaluate_all("items => items.map(item => item.id)")
    whole = [f"item-{item.id}" for item in place.items(garden.id) if item.drawn]
    assert keys == whole[whole.index(keys[0]) :], "each once, in order, nothing is missing"
    page.context.close()
