"""Who prefers it has the question put at the top, and the page stays there while the answer is written."""

from tests.browser import Browser, held
from tests.place import Place
from tests.scripted import END, Scripted, text

TOP = """() => {
  const [question, scroller] = [[...document.querySelectorAll(".user")].at(-1), document.getElementById("scroll")];
  return Math.round(question.getBoundingClientRect().top - scroller.getBoundingClientRect().top);
}"""


def test_the_question_comes_to_the_top_and_stays(place: Place, script: Scripted, browser: Browser):
    first, second = script.gate(), script.gate()
    paragraphs = "\n\n".join(["A paragraph."] * 30)
    script.says(paragraphs).plays(
        text("Short so far."), first, text(f"\n\n{paragraphs}"), second, text("\n\nEnd."), *END
    )
    ada = place.visitor("Ada")
    ada.client.post("/preferences", data={"follow": "top"})
    garden = ada.begins("Tell me much")
    place.settled(garden)
    page = browser.page(ada, garden, viewport={"width": 800, "height": 600})
    page.get_by_label("Your message").fill("And more")
    page.keyboard.press("Enter")
    page.get_by_text("Short so far.").wait_for()
    assert page.evaluate(TOP) > 100, "there is no room yet: the question is where the end is"
    first.open()
    second.reached.wait(20)
    held(page, f"({TOP})() === 16")
    second.open()
    page.get_by_text("End.").wait_for(state="attached")
    place.settled(garden)
    assert page.evaluate(TOP) == 16
    assert page.get_by_role("button", name="New below").is_visible()
    page.get_by_role("button", name="New below").click()
    held(page, "document.querySelector('#newer').hidden")
