"""How browsers reach Parley: the public address, however it is written."""

from collections.abc import Callable

import httpx2
import pytest

from settings import BadSettings, Settings
from tests.place import Place
from tests.scripted import Scripted


def test_a_public_address_may_be_written_in_any_way(script: Scripted, open_place: Callable[..., Place]):
    script.says("Hello.")
    place = open_place(script, CHAT_PUBLIC_URL="HTTP://Chat.Example:80/")
    secret = place.key
    with httpx2.Client(base_url=f"http://127.0.0.1:{place.port}", trust_env=False) as client:
        ours = {"Origin": "http://chat.example"}
        assert client.post("/enter", data={"key": secret}, headers={"Origin": "http://evil.test"}).status_code == 403
        assert client.post("/enter", data={"key": secret}, headers=ours).status_code == 303
        chat = client.post("/conversations", data={"text": "Hello"}, headers=ours).headers["Location"]
        place.settled(chat.rsplit("/", 1)[1])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("", ""),
        ("https://Chat.Example", "https://chat.example"),
        ("HTTPS://chat.example:443/", "https://chat.example"),
        ("http://[::1]:8100/parley/", "http://[::1]:8100/parley"),
        ("https://chat.example/Team/", "https://chat.example/Team"),
    ],
)
def test_an_address_has_one_spelling(written: str, meant: str):
    assert Settings.from_environ({"CHAT_PUBLIC_URL": written}).public_url == meant


@pytest.mark.parametrize("written", ["chat.example", "ftp://chat.example", "https://", "http://a:b", "/chat"])
def test_what_is_no_address_is_refused_at_the_start(written: str):
    with pytest.raises(BadSettings, match="CHAT_PUBLIC_URL is"):
        Settings.from_environ({"CHAT_PUBLIC_URL": written})
