"""What a mistake in the settings says, before anything is served."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from settings import BadSettings, Settings

ROOT = Path(__file__).parent.parent

MISTAKES = {
    "CHAT_PORT": ("abc", "no whole number"),
    "CHAT_RUNS": ("0", "at least 1"),
    "CHAT_PAGES_PERSON": ("-3", "at least 1"),
    "CHAT_FIRST_BYTE": ("-1", "at least 1"),
    "CHAT_PUBLIC_URL": ("example.org", "no web address"),
    "CHAT_FOO": ("1", "no setting called CHAT_FOO"),
    "AI_URL": ("127.0.0.1:8000/v1", "no web address"),
    "AI_SEES": ("maybe", "1, 0 or empty"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_words(name: str):
    value, words = MISTAKES[name]
    with pytest.raises(BadSettings, match=words):
        Settings.from_environ({name: value})


def test_an_empty_setting_is_the_usual_one():
    assert Settings.from_environ({"CHAT_DATA": "", "CHAT_PORT": " "}) == Settings()
    assert Settings(host="::1").url(8100) == "http://[::1]:8100"


def test_a_server_that_cannot_start_says_why(tmp_path: Path):
    taken = socket.create_server(("127.0.0.1", 0))
    (tmp_path / "file").write_text("this is no folder")
    for settings in ({"CHAT_PORT": str(taken.getsockname()[1])}, {"CHAT_DATA": str(tmp_path / "file")}):
        environ = {**os.environ, "CHAT_DATA": str(tmp_path / "data"), "CHAT_PORT": "0", **settings}
        ended = subprocess.run(
            [sys.executable, "app.py"], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60
        )
        assert ended.returncode == 1 and "Parley cannot start" in ended.stderr
        assert "Traceback" not in ended.stderr
    taken.close()
