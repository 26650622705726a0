"""The fixtures of all tests: a scripted model server, a Parley of one's own, a browser."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.browser import Browser
from tests.place import Place
from tests.scripted import Scripted


@pytest.fixture
def script() -> Iterator[Scripted]:
    """The model server; the test fails when a turn of its script is left over or one was missing."""
    scripted = Scripted()
    yield scripted
    scripted.close()
    assert not scripted.surprises, "the server asked for a turn that the script does not have"
    assert not scripted.leftover(), "turns of the script were never asked for"


@pytest.fixture
def open_place(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    """Start a Parley: `open_place(script, CHAT_RUNS="2")`."""
    opened: list[Place] = []

    def start(script: Scripted | None = None, **settings: str) -> Place:
        folder = tmp_path / f"data-{len(opened)}"
        folder.mkdir()
        opened.append(Place(folder, script, **settings))
        return opened[-1]

    yield start
    for place in opened:
        place.close()


@pytest.fixture
def place(script: Scripted, open_place: Callable[..., Place]) -> Place:
    return open_place(script)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the whole run."""
    chromium = Browser()
    yield chromium
    chromium.close()
