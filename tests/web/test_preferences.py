"""How a person likes their pages, and the browsers they are signed in in."""

import json
import re
import time

import pytest

from models import Preference, Session, Unfit
from tables.preferences import KEYS, rebound, spelled
from tests.browser import Browser, held
from tests.place import Place
from web.signed_in import ago, device


def attributes(html: str) -> dict[str, str]:
    """The attributes of a page's root."""
    return dict(re.findall(r'data-(\w+)="([^"]*)"', re.search(r"<html[^>]*>", html)[0]))


def test_preferences_are_on_every_page_of_their_person_and_of_nobody_else(place: Place):
    ada, ben = place.visitor("Ada"), place.visitor("Ben")
    usual = attributes(ada.client.get("/").text)
    assert usual == attributes(ben.client.get("/agents").text)
    assert (usual["theme"], usual["enter"], usual["follow"], usual["letters"]) == ("system", "send", "end", "on")
    chosen = {"theme": "dark", "size": "large", "enter": "break", "follow": "top", "letters": "off"}
    assert ada.client.post("/preferences", data=chosen).status_code == 303
    for path in ("/", "/agents", "/preferences", "/nowhere"):
        assert attributes(ada.client.get(path).text).items() >= chosen.items()
    assert '<meta name="color-scheme" content="dark">' in ada.client.get("/").text
    assert ada.client.post("/preferences", data={"size": "small"}).status_code == 303, "one thing alone"
    assert attributes(ada.client.get("/").text).items() >= (chosen | {"size": "small"}).items()
    assert attributes(ben.client.get("/").text) == usual

    before = Preference.of(ada.person.id).__data__
    answer = ada.client.post("/preferences", data={"theme": "pink", "size": "large"})
    assert answer.status_code == 400 and "“pink” is no theme" in answer.text
    assert Preference.of(ada.person.id).__data__ == before


def test_keys_are_ones_own_and_no_key_does_two_things(place: Place):
    ada = place.visitor("Ada")
    usual = {action: key for action, (_, key) in KEYS.items()}
    assert ada.client.post("/preferences/keys", data=usual | {"next": "ö", "palette": " ctrl+p "}).status_code == 303
    keys = json.loads(attributes(ada.client.get("/").text)["keys"].replace("&#34;", '"'))
    assert keys == usual | {"next": "ö", "palette": "Ctrl+P"}
    typed = usual | {"next": "k", "copy": "x"}
    refused = ada.client.post("/preferences/keys", data=typed)
    assert refused.status_code == 400
    assert "“k” is the key for “Next message” and for “Previous message”" in refused.text
    assert 'name="copy" value="x"' in refused.text, "what was typed is still there"
    assert Preference.of(ada.person.id).bound["next"] == "ö"
    assert ada.client.post("/preferences/keys", data={"usual": "1", "next": "x"}).status_code == 303
    assert Preference.of(ada.person.id).bound == usual


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("", ""),
        ("J", "j"),
        ("?", "?"),
        ("ctrl+k", "Ctrl+K"),
        ("shift+CTRL+1", "Ctrl+Shift+1"),
        ("f2", "F2"),
        ("+", "+"),
    ],
)
def test_a_key_has_one_spelling(written: str, key: str):
    assert spelled(written) == key


@pytest.mark.parametrize("written", ["jj", "Ctrl+", "Control+K", "Ctrl K", "\0\0", "\0", "Ctrl+\x1b", "\u200d"])
def test_what_is_no_key_is_said(written: str):
    with pytest.raises(Unfit, match="is no key"):
        spelled(written)


@pytest.mark.parametrize("form", [{"next": "g"}, {"new": "escape"}, {"copy": "Enter"}, {"edit": "J"}])
def test_a_key_that_is_taken_is_refused(form: dict[str, str]):
    with pytest.raises(Unfit):
        rebound(form)


def test_a_theme_shows_at_once_and_stays(place: Place, browser: Browser):
    ada = place.visitor("Ada")
    context = browser.context(ada, color_scheme="light")
    page = context.new_page()
    page.goto(f"{place.url}/preferences")
    ground = "getComputedStyle(document.body).backgroundColor"
    day = page.evaluate(ground)
    page.get_by_label("Dark", exact=True).check(force=True)
    night = page.evaluate(ground)
    assert night != day
    page.get_by_role("status").get_by_text("Saved.").wait_for()
    page.get_by_label("Larger").check(force=True)
    held(page, "getComputedStyle(document.documentElement).fontSize === '21px'")
    place.until(lambda: Preference.of(ada.person.id).size == "larger")
    page.goto(place.url)
    assert page.evaluate(ground) == night
    assert page.evaluate("getComputedStyle(document.querySelector('.button')).colorScheme") == "dark"
    context.close()


def test_a_browser_is_signed_out_from_another_one(place: Place, browser: Browser):
    here, lost, ben = place.visitor("Ada"), place.visitor("Ada"), place.visitor("Ben")
    page = browser.page(lost)
    assert here.client.get("/signed-in").text.count("This browser") == 1
    theirs = Session.select().where(Session.person == here.person.id).order_by(Session.id.desc()).get()
    assert ben.client.post(f"/signed-in/{theirs.id}/end").status_code == 404
    assert here.client.post(f"/signed-in/{theirs.id}/end").status_code == 303
    page.get_by_text("You are signed out.").wait_for(timeout=5000)
    assert lost.client.get("/").headers["Location"] == "/enter"
    assert f"session-{theirs.id}" not in here.client.get("/signed-in").text
    own = Session.get(Session.person == here.person.id)
    assert here.client.post(f"/signed-in/{own.id}/end").status_code == 303, "also this one"
    assert here.client.get("/signed-in").status_code == 303
    page.context.close()


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile Safari/604.1"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0 Safari/537.36 Edg/138.0"


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on an iPhone"),
        (EDGE, "Edge on Windows"),
        ("curl/8.5", "curl/8.5"),
        ("", "An unknown browser"),
    ],
)
def test_a_browser_is_named_in_words(agent: str, words: str):
    assert device(agent) == words


def test_times_are_as_people_say_them():
    now = time.time()
    assert [ago(now - s) for s in (5, 3700, 7300, 90000, 200000)] == [
        *("within the last hour", "1 hour ago", "2 hours ago", "1 day ago", "2 days ago")
    ]
