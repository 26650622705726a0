"""The files of messages as a model gets them: read here, within a budget."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import gevent

from models import File, Item

MOST = 100_000  # characters of texts that one message may bring along
PICTURES = 20 << 20  # bytes of pictures in one request: the newest
BLIND = "this model cannot see images"
EARLIER = "it was shown earlier"
LOST = "it is no longer there"


@dataclass(frozen=True)
class Attached:
    """A text (its beginning, and its end where the middle is left out), a picture as a data URL, or why it is not."""

    name: str
    extent: str
    head: str = ""
    tail: str = ""
    url: str = ""
    why: str = ""


def opened(items: Iterable[Item], sees: bool, most: int = MOST) -> dict[str, list[Attached]]:
    """The files of ITEMS by message, each message with at most MOST characters of texts; pictures if the model SEES."""
    found, left = {}, PICTURES if sees else 0
    for item in reversed([item for item in items if item.kind == "user" and item.files]):
        files = item.attached
        left -= sum(file.size for file in files if file.pictures)
        share, unseen = most // max(1, len(files)), "" if left >= 0 else EARLIER if sees else BLIND
        found[item.id] = gevent.get_hub().threadpool.map(partial(read, share=share, unseen=unseen), files)
    return found


def read(file: File, share: int, unseen: str) -> Attached:
    """FILE with at most SHARE characters or so of a text; a picture unless it is UNSEEN, which says why."""
    name, extent = file.name.replace('"', "'"), file.extent
    try:
        if not file.pictures:
            head, tail = file.ends(share)
            return Attached(name, extent, head, tail)
        if unseen:
            return Attached(name, extent, why=unseen)
        return Attached(name, extent, url=data_url(file.path, file.kind))
    except FileNotFoundError:
        return Attached(name, extent, why=LOST)


def data_url(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
