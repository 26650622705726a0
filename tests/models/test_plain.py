"""What is shown as a name cannot play tricks: no controls, no line breaks, nothing that turns the text behind it."""

from runner.titles import cleaned
from tables.assistants import described
from tables.plain import plain
from tables.wishes import first_words

NASTY = "\u202e\u2066ev\x00il\x1b[31m\x9b \u2028 name\u200f\n  of\tmine"


def test_a_name_is_one_visible_line():
    assert plain(NASTY) == "evil[31m name of mine"
    assert plain("خطة الحديقة 👩‍👩‍👧 é") == "خطة الحديقة 👩‍👩‍👧 é", "real words keep all of theirs"


def test_every_name_is_one():
    assert described(NASTY, "")["name"] == plain(NASTY)
    assert first_words("\u202e\n" + NASTY.replace("\n", " ")) == "evil[31m", "a line separator ends the first line"
    assert cleaned("\u202eA \u2066title\x1b") == "A title"
