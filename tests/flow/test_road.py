"""The whole road of one message: a form, the log, a run, and every open page."""

from tests.browser import Browser, as_fresh, connected
from tests.place import Place
from tests.scripted import END, Scripted, text


def test_the_owner_comes_in_by_the_link_once(place: Place, browser: Browser):
    context = browser.chromium.new_context()
    page = context.new_page()
    page.goto(f"{place.url}/enter?key={place.key}")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Your message").wait_for()
    other = browser.chromium.new_context().new_page()
    other.goto(f"{place.url}/enter?key={place.key}")
    other.get_by_role("button", name="Sign in").click()
    other.get_by_text("This link was used already").wait_for()


def test_a_message_is_answered_on_the_page_while_it_comes(place: Place, script: Scripted, browser: Browser):
    gate = script.gate()
    script.plays(text("The **north** bed "), gate, text("is dry."), *END)
    page = browser.page(place.visitor())
    page.get_by_label("Your message").fill("How are the beds?")
    page.keyboard.press("Enter")
    page.get_by_text("north", exact=True).wait_for()
    assert page.locator("#status").get_by_text("Answering").is_visible()
    gate.open()
    page.get_by_text("The north bed is dry.").wait_for()
    page.get_by_role("heading", name="A short title").wait_for()
    assert page.get_by_label("Your message").input_value() == ""
    assert as_fresh(page)
    assert page.title() == "A short title · Parley"


def test_a_reload_in_mid_answer_shows_no_word_twice(place: Place, script: Scripted, browser: Browser):
    ada, gate = place.visitor(), script.gate()
    script.plays(text("One two "), gate, text("three."), *END)
    garden = ada.begins("Count")
    page = browser.page(ada, garden)
    page.get_by_text("One two").wait_for()
    page.reload()
    connected(page)
    assert page.locator(".content").inner_text() == "One two"
    gate.open()
    page.get_by_text("One two three.").wait_for()
    place.settled(garden)
    page.get_by_role("heading", name="A short title").wait_for()
    assert as_fresh(page)


def test_two_people_see_the_same_and_a_closed_page_stops_nothing(place: Place, script: Scripted, browser: Browser):
    ada, ben, gate = place.visitor("Ada"), place.visitor("Ben"), script.gate()
    script.plays(text("Water "), gate, text("the roses."), *END)
    garden = ada.begins("What is to be done?")
    place.joins(garden, ben)
    hers, his = browser.page(ada, garden), browser.page(ben, garden)
    hers.get_by_text("Water").wait_for()
    his.get_by_text("Water").wait_for()
    hers.close()
    gate.open()
    his.get_by_text("Water the roses.").wait_for()
    his.get_by_role("heading", name="A short title").wait_for()
    assert as_fresh(his)
    assert his.get_by_role("heading", name="Ada").is_visible(), "who said it is shown where several talk"


def test_a_message_sent_meanwhile_is_queued_and_goes_out_with_no_page_open(
    place: Place, script: Scripted, browser: Browser
):
    ada, gate = place.visitor(), script.gate()
    script.plays(text("First."), gate, *END)
    script.says("Second.")
    garden = ada.begins("One")
    page = browser.page(ada, garden)
    page.get_by_text("First.").wait_for()
    page.get_by_label("Your message").fill("Two")
    page.keyboard.press("Enter")
    page.get_by_text("Queued").wait_for()
    assert as_fresh(page)
    page.close()
    gate.open()
    place.settled(garden)
    assert [(i.kind, i.text) for i in place.items(garden)] == [
        ("user", "One"),
        ("text", "First."),
        ("user", "Two"),
        ("text", "Second."),
    ]


def test_a_queued_message_moves_up_on_the_open_page(place: Place, script: Scripted, browser: Browser):
    ada, gate, second = place.visitor(), script.gate(), script.gate()
    script.plays(text("First."), gate, *END)
    script.plays(text("Sec"), second, text("ond."), *END)
    garden = ada.begins("One")
    page = browser.page(ada, garden)
    ada.asks(garden, "Two")
    ada.asks(garden, "Three")
    page.get_by_text("Three").wait_for()
    script.says("Third.")
    gate.open()
    page.get_by_text("Sec", exact=True).wait_for()
    assert as_fresh(page)
    second.open()
    page.get_by_text("Third.").wait_for()
    place.settled(garden)
    page.locator("#status[data-status=idle]").wait_for(state="attached")
    assert as_fresh(page)


def test_stop_closes_the_models_connection_and_keeps_the_half_answer(place: Place, script: Scripted, browser: Browser):
    ada, gate = place.visitor(), script.gate()
    script.plays(text("Half an ans"), gate, *END)
    garden = ada.begins("Tell me all")
    page = browser.page(ada, garden)
    page.get_by_text("Half an ans").wait_for()
    page.get_by_label("Your message").fill("a draft that stays")
    page.keyboard.press("Escape")
    assert script.requests[0].gone.wait(1.0), "the connection is closed within a second"
    page.get_by_text("You stopped this answer.").wait_for()
    assert page.get_by_label("Your message").input_value() == "a draft that stays"
    assert place.texts(garden) == ["Half an ans"]
    assert as_fresh(page)


def test_again_shows_a_sibling_and_the_old_answer_is_one_step_back(place: Place, script: Scripted, browser: Browser):
    ada = place.visitor()
    script.says("Old answer.").says("New answer.")
    garden = ada.begins("Answer me")
    place.settled(garden)
    page = browser.page(ada, garden)
    page.get_by_role("button", name="Again").click()
    page.get_by_text("New answer.").wait_for()
    place.settled(garden)
    assert page.get_by_text("Old answer.").count() == 0
    page.get_by_role("button", name="Earlier version").click()
    page.get_by_text("Old answer.").wait_for()
    assert page.get_by_text("New answer.").count() == 0
    assert as_fresh(page)
    assert "Old answer." not in str(script.requests[-1].body), "the old answer is not sent"


def test_a_refusal_says_who_and_why_and_what_to_do(place: Place, script: Scripted, browser: Browser):
    script.refuses(401, "Incorrect API key provided")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    card = page.locator(".error")
    card.wait_for()
    place.settled(garden)
    assert "127.0.0.1" in card.inner_text()
    card.get_by_text("Their words").click()
    assert "Incorrect API key provided" in card.inner_text()
    script.says("Now it works.")
    card.get_by_role("button", name="Try again").click()
    page.get_by_text("Now it works.").wait_for()


def test_a_busy_server_is_waited_for_visibly(place: Place, script: Scripted, browser: Browser):
    script.refuses(429, "slow down", retry_after="3")
    script.says("Here I am.")
    ada = place.visitor()
    garden = ada.begins("Hello")
    page = browser.page(ada, garden)
    page.get_by_text("Trying again in 3 s").wait_for()
    page.get_by_text("Here I am.").wait_for()
    assert page.get_by_text("Trying again").count() == 0
    place.settled(garden)
    assert len([r for r in script.requests if r.body.get("stream")]) == 2


def test_it_works_as_plain_forms_without_scripts(place: Place, script: Scripted, browser: Browser):
    script.says("Plain and honest.").says("Once more.")
    page = browser.context(place.visitor(), java_script_enabled=False).new_page()
    page.goto(place.url)
    page.get_by_label("Your message").fill("Hello")
    page.get_by_role("button", name="Send").click()
    chat = page.url.rsplit("/", 1)[1]
    place.settled(chat)
    page.reload()
    assert page.get_by_text("Plain and honest.").is_visible()
    page.get_by_label("Your message").fill("And?")
    page.get_by_role("button", name="Send").click()
    place.settled(chat)
    page.reload()
    assert page.get_by_text("Once more.").is_visible()


def test_a_killed_server_goes_on_and_the_other_page_shows_the_whole_truth(
    place: Place, script: Scripted, browser: Browser
):
    ada, ben, never = place.visitor("Ada"), place.visitor("Ben"), script.gate()
    script.plays(text("The roses need"), never)
    garden = ada.begins("How are the beds?")
    place.joins(garden, ben)
    hers, his = browser.page(ada, garden), browser.page(ben, garden)
    his.get_by_text("The roses need").wait_for()
    ben.asks(garden, "What else?")
    his.get_by_text("What else?").wait_for()
    hers.context.close()
    place.kill()
    script.says("The roses need water.").says("The beans need poles.")
    place.start()
    his.get_by_text("The beans need poles.").wait_for()
    place.settled(garden)
    assert his.get_by_text("The roses need water.").count() == 1
    assert as_fresh(his)
    his.get_by_role("button", name="Earlier version").click()
    his.get_by_text("The server restarted while this was written.").wait_for()
    assert his.locator(".content").inner_text() == "The roses need"


def test_a_page_that_lost_its_place_is_told_everything_once(place: Place, script: Scripted, browser: Browser):
    ada = place.visitor()
    script.says("One answer.")
    garden = ada.begins("One question")
    place.settled(garden)
    page = browser.page(ada, garden)
    page.evaluate("document.querySelector('#main').dataset.cursor = 0")
    page.evaluate("document.querySelector('#main')._htmx.ws.connection.socket.close()")
    page.locator("#main:not([data-cursor='0'])").wait_for(state="attached")
    assert page.get_by_text("One answer.").count() == 1
    assert as_fresh(page)


def test_the_sign_out_of_one_browser_closes_its_open_pages(place: Place, browser: Browser):
    ada = place.visitor("Ada")
    context = browser.context(ada)
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(place.url)
        connected(page)
    first.get_by_role("button", name="Sign out").click()
    second.get_by_text("You are signed out.").wait_for(timeout=5000)


def test_a_removed_member_is_told_within_a_second(place: Place, script: Scripted, browser: Browser):
    ada, ben = place.visitor("Ada"), place.visitor("Ben")
    script.says("Hello.")
    garden = ada.begins("Hello")
    place.joins(garden, ben)
    page = browser.page(ben, garden)
    place.settled(garden)
    place.leaves(garden, ben)
    page.get_by_text("You are no longer in this conversation.").wait_for(timeout=2000)
    assert ben.client.get(f"/conversations/{garden}").status_code == 404


def test_a_conversation_stands_once_in_the_list_whatever_happens_in_it(
    place: Place, script: Scripted, browser: Browser
):
    ada, ben = place.visitor("Ada"), place.visitor("Ben")
    script.says("One.").says("Two.")
    page, other = browser.page(ada), browser.page(ben)
    garden = ada.begins("Water")
    page.locator(".row__link", has_text="A short title").wait_for()
    ada.asks(garden, "And now?")
    place.settled(garden)
    place.joins(garden, ben)
    other.locator(".row__link", has_text="A short title").wait_for()
    assert page.locator(".row").count() == other.locator(".row").count() == 1
