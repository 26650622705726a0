"""The client under gevent, as the server runs it: stopping, many at once, floods, TLS."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.test_failures import certificates, secure  # noqa: F401
from tests.scripted import END, HANG, Scripted, event, last_user, text

ROOT = Path(__file__).parent.parent.parent


def run(script: Scripted, *words: str) -> list[str]:
    """The words that the program in greenlets.py prints."""
    program = [sys.executable, "-m", "tests.runner.greenlets", script.address, *words]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_stopped_run_hangs_up_at_once(script):
    script.when("head").plays(HANG, form="bare")
    script.when("answer").plays(text("Hel"), HANG)
    script.when("pause").plays(*[text("x"), 0.02] * 500)
    assert run(script, "stopped") == ["head", "True", "answer", "True", "pause", "True"]
    assert len(script.requests) == 3
    for request in script.requests:
        assert request.gone.wait(1), "the model server saw it go"


def test_a_hundred_answers_at_once_do_not_mix(script):
    script.always(lambda body: [text("It is "), 0.3, text(last_user(body)), *END])
    assert run(script, "together") == ["True"]


FLOODS = {
    "one line of 50 MB": [b"data: ", *[b"x" * 1_000_000] * 50],
    "20 MB of comments": [*[b": hello\n" * 30_000] * 80, event(text("Hi")), *END],
    "an error of 50 MB": [b"x" * 1_000_000] * 50,
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_takes_little_memory(script, name):
    script.when("warm").says("Hi")
    script.when("flood").plays(*FLOODS[name], status=500 if "error" in name else 200)
    told, megabytes = run(script, "huge")
    assert told == {"one line of 50 MB": "Garbage", "20 MB of comments": "2"}.get(name, "Busy")
    assert int(megabytes) < 20


def test_tls_works_under_gevent(certificates):  # noqa: F811
    with secure(certificates, "good") as script:
        script.says("Hi").says("Ho")
        assert run(script, "secure", str(certificates / "ca.pem")) == ["Hi", "Ho"]
