"""The numbers of an answer, as a person reads them."""

import pytest

from tables.figures import figures, lasted, thought


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0.1 s"),
        (0.44, "0.4 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
    ],
)
def test_a_time_is_said_as_one_says_it(seconds: float, words: str):
    assert lasted(seconds) == words


def test_a_fold_says_how_long_was_thought():
    assert thought({}, over=False) == "Thinking…"
    assert thought({}, over=True) == "Thought", "the server restarted meanwhile"
    assert thought({"took": 0.3}, over=True) == "Thought for a moment"
    assert thought({"took": 1.4}, over=True) == "Thought for 1 s"
    assert thought({"took": 72.0}, over=True) == "Thought for 1 min 12 s"


def test_an_answer_says_what_it_used_as_far_as_that_is_known():
    all_known = {"read": 1204, "wrote": 312, "cached": 300, "reasoning": 40, "first": 0.42, "took": 7.8}
    line, details = figures(all_known)
    assert line == "312 tokens · 7.8 s · 42 tokens/s"
    assert details == (
        "1,204 tokens read (300 of them kept from before), 312 written (40 of them thought), "
        "the first after 0.4 s, all in 7.8 s"
    )
    assert figures({"wrote": 1, "first": 0.1, "took": 0.1}) == (
        "1 token · 0.1 s",
        "1 written, the first after 0.1 s, all in 0.1 s",
    )
    assert figures({"read": 0, "wrote": 0, "took": 2.0}) == ("2.0 s", "all in 2.0 s")
    assert figures({}) == ("", "")
