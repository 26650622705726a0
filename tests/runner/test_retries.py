"""How long to wait before asking again."""

from email.utils import formatdate

import pytest

from runner.retries import LONGEST, delay, retry_after

NOW = 1_800_000_000.0

ASKED = {
    "seconds": ({"retry-after": "2"}, None, 2.0),
    "a part of a second": ({"retry-after": "0.5"}, None, 0.5),
    "at once": ({"retry-after": "0"}, None, 0.0),
    "an hour": ({"retry-after": "3600"}, None, 3600.0),
    "a date": ({"retry-after": formatdate(NOW + 30, usegmt=True)}, None, 30.0),
    "a date that has passed": ({"retry-after": formatdate(NOW - 30, usegmt=True)}, None, 0.0),
    "milliseconds": ({"retry-after-ms": "1500", "retry-after": "9"}, None, 1.5),
    "negative": ({"retry-after": "-1"}, None, None),
    "words": ({"retry-after": "abc"}, None, None),
    "infinite": ({"retry-after": "inf"}, None, None),
    "no number": ({"retry-after": "nan"}, None, None),
    "a date that is none": ({"retry-after": "Wed, 99 Foo 2026 99:99:99 GMT"}, None, None),
    "missing": ({}, None, None),
    "bad milliseconds, good seconds": ({"retry-after-ms": "x", "retry-after": "3"}, None, 3.0),
    "in JSON": ({}, {"error": {"retry_after": 4}}, 4.0),
    "at the top of JSON": ({}, {"retry_after": "4"}, 4.0),
    "milliseconds in JSON": ({}, {"error": {"retry_after_ms": 400}}, 0.4),
    "in a detail": ({}, [{"error": {"details": [{"@type": "RetryInfo", "retryDelay": "7s"}]}}], 7.0),
    "nonsense in JSON": ({}, {"error": {"retry_after": [True, {}]}, "details": "x"}, None),
    "JSON of another kind": ({}, "soon", None),
}


@pytest.mark.parametrize(("headers", "body", "wait"), ASKED.values(), ids=ASKED.keys())
def test_a_servers_wish_is_read_wherever_it_stands(headers, body, wait):
    assert retry_after(headers, body, NOW) == wait


@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_without_a_wish_the_wait_doubles_within_its_spread(attempt):
    waits = [delay(attempt, None) for _ in range(200)]
    assert 0.25 * 2**attempt <= min(waits) < max(waits) <= 0.75 * 2**attempt
    assert max(waits) - min(waits) > 0.2 * 2**attempt, "not all at the same moment"


def test_a_wish_is_honoured_up_to_a_minute():
    assert [delay(0, asked) for asked in (0.0, 2.0, LONGEST, LONGEST + 1)] == [0.0, 2.0, LONGEST, None]


def test_after_three_tries_the_person_decides():
    assert delay(3, None) is None and delay(3, 1.0) is None
