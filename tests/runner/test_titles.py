"""What models answer when they are asked for a title, and what is made of it."""

import pytest

from runner.titles import cleaned

ANSWERS = [
    ("Watering the garden", "Watering the garden"),
    ("<think>Ok, the user", ""),
    ("<think>Ok, the user wants a title.</think>\n\nWatering", "Watering"),
    ("<thinking>a</thinking>Watering", "Watering"),
    ('{"title": "A"}', "A"),
    ('```json\n{"title": "Garden beds"}\n```', "Garden beds"),
    ('{"title": "cut', ""),
    ('{"name": "Garden beds"}', "Garden beds"),
    ('{"title": {"x": 1}}', ""),
    ('["Garden beds"]', "Garden beds"),
    ('Title: "A".', "A"),
    ("**Title:** Garden beds", "Garden beds"),
    ("# Garden beds", "Garden beds"),
    ("“Garden beds”", "Garden beds"),
    ("Sure! Here is a title:\n\nGarden beds", "Garden beds"),
    ("Garden beds\nor\nBeds", "Garden beds"),
    ("Titre : Les plates-bandes", "Titre : Les plates-bandes"),
    ("", ""),
    ("  \n ", ""),
    ("...", ""),
    ("x" * 400, ""),
    ("I'm sorry, but I cannot name this.", ""),
    ("I’m sorry, I can't", ""),
    ("As an AI language model", ""),
    ("🌱 Garden 👩‍👩‍👧", "🌱 Garden 👩‍👩‍👧"),
    ("Garden\x00 \x1bbeds", "Garden beds"),
    ("Garden \u202ebeds", "Garden beds"),
    ("<b>Garden</b>", "<b>Garden</b>"),
]


@pytest.mark.parametrize(("answer", "title"), ANSWERS, ids=[answer[:30] for answer, _ in ANSWERS])
def test_a_title_is_short_and_clean_or_there_is_none(answer: str, title: str):
    assert cleaned(answer) == title
