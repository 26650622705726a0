"""Files that people attach: a row each, and the bytes in the data folder's `files`, under the row's key.

The bytes are on disk before the row is, and go after it: there is never a row without bytes.
"""

import os
import time
from pathlib import Path
from typing import Self

import peewee as pw

from database import Row, database, new_key, write
from tables.refused import Refused

UNSENT_LASTS = 86400  # seconds a file that was not sent is kept
STRAY_LASTS = 3600  # seconds bytes without a row are left alone: they may be on their way


class File(Row):
    """What PERSON attached in CHAT ("" a new conversation), to the message ITEM ("" it is not sent yet).

    `kind` is the media type its bytes say it has, `charset` the coding of a text ("" it is none), `hash` their SHA-256.
    """

    id = pw.CharField(20, primary_key=True, default=new_key)
    chat = pw.CharField(20)
    person = pw.CharField(20)
    item = pw.CharField(20, default="")
    name = pw.TextField()
    kind = pw.CharField(40)
    charset = pw.CharField(20, default="")
    size = pw.IntegerField()
    hash = pw.CharField(64)
    created = pw.FloatField(default=time.time)

    class Meta:
        indexes = ((("person", "chat", "item"), False), (("chat",), False))

    @classmethod
    def waiting(cls, chat: str, person: str) -> list[Self]:
        """What PERSON attached in CHAT and did not send, in order."""
        mine = (cls.person == person, cls.chat == chat, cls.item == "")
        return list(cls.select().where(*mine).order_by(cls.id))

    @classmethod
    def named(cls, keys: str) -> list[Self]:
        """The files of these KEYS, by commas, that are there, in their order."""
        wanted = keys.split(",") if keys else []
        found = {row.id: row for row in cls.select().where(cls.id.in_(wanted))} if wanted else {}
        return [found[key] for key in wanted if key in found]

    @classmethod
    def of(cls, person: str) -> int:
        """Bytes of all that PERSON attached."""
        return cls.select(pw.fn.sum(cls.size)).where(cls.person == person).scalar() or 0

    @classmethod
    @write
    def keep(cls, file: Self, most: int, quota: int) -> Self:
        """The new FILE, one of at most MOST of its message, within QUOTA bytes of its person. Its bytes are there."""
        if len(cls.waiting(file.chat, file.person)) >= most:
            raise Refused(f"A message takes {most} files. Send these first, or remove one.")
        if cls.of(file.person) + file.size > quota:
            raise Refused(f"All your files may have {spelled(quota)}. Delete a conversation with large ones first.")
        file.save(force_insert=True)
        return file

    @classmethod
    def sent(cls, keys: str, person: str, item: str, chat: str) -> None:
        """PERSON's waiting files KEYS belong to the message ITEM of CHAT. Raises Refused when one is gone."""
        wanted = set(keys.split(",")) if keys else set()
        mine = (cls.id.in_(list(wanted)), cls.person == person, cls.item == "", cls.chat.in_(("", chat)))
        if cls.update(item=item, chat=chat).where(*mine).execute() != len(wanted):
            raise Refused("One of the files is no longer there. Load the page again; what you typed is kept.")

    @classmethod
    def back(cls, item: str) -> None:
        """The message ITEM is taken back; its files wait again."""
        cls.update(item="", created=time.time()).where(cls.item == item).execute()

    @classmethod
    def leave(cls, chat: str) -> None:
        """The conversation CHAT goes, with all files of it."""
        cls._forget(list(cls.select().where(cls.chat == chat)))

    @classmethod
    def sweep(cls) -> None:
        """What was not sent goes after a day, and so do bytes without a row."""
        cls._forget(list(cls.select().where(cls.item == "", cls.created < time.time() - UNSENT_LASTS)))
        for path in folder().iterdir() if folder().is_dir() else ():
            stray = path.stat().st_mtime < time.time() - STRAY_LASTS and not cls.find(cls.id == path.name)
            if stray:
                path.unlink(missing_ok=True)

    def remove(self) -> None:
        """It goes, unless it was sent meanwhile."""
        self._forget([self])

    @classmethod
    def _forget(cls, files: list[Self]) -> None:
        for key in cls._rows_gone([file.id for file in files]):
            (folder() / key).unlink(missing_ok=True)

    @classmethod
    @write
    def _rows_gone(cls, keys: list[str]) -> list[str]:
        cls.delete().where(cls.id.in_(keys)).execute()
        return keys

    @property
    def path(self) -> Path:
        return folder() / self.id

    @property
    def pictures(self) -> bool:
        """Whether it is an image."""
        return self.kind.startswith("image/")

    @property
    def extent(self) -> str:
        """Its size in words."""
        return spelled(self.size)

    def ends(self, most: int) -> tuple[str, str]:
        """A text: whole, and ""; or its first two thirds of MOST characters or so, and the last third."""
        if self.size <= most:
            return self.path.read_bytes().decode(self.charset, "replace"), ""
        half = most // 3 // 4 * 4
        with self.path.open("rb") as file:
            head = file.read(2 * half)
            file.seek((self.size - half) // 2 * 2)
            tail = file.read()
        wide = self.charset.replace("utf-16", "utf-16-be" if head.startswith(b"\xfe\xff") else "utf-16-le")
        return head.decode(wide, "ignore"), tail.decode(wide, "ignore")


def folder() -> Path:
    """Where the bytes are."""
    return Path(database.database).parent / "files"


def store(part: Path, key: str) -> None:
    """The bytes in PART are those of the row KEY; they are on disk when this returns."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.rename(folder() / key)


def spelled(size: int) -> str:
    """SIZE bytes as people say it."""
    for unit, step in (("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= step:
            return f"{size / step:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} byte{'' if size == 1 else 's'}"
