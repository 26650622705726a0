"""A form with files as it comes in: each file goes straight to disk, some bytes at a time."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

import gevent
from flask import Request, abort
from werkzeug.sansio import multipart

from database import Full, new_key
from models import File, Kind, Unknown, files
from tables.plain import plain

READ = 1 << 16  # bytes
SLACK = 1 << 16  # bytes of a form around its file
LONGEST_NAME = 120  # characters


@dataclass
class Part:
    """A file on its way."""

    name: str
    most: int
    size: int = 0
    key: str = field(default_factory=new_key)
    kind: Kind = field(default_factory=Kind)

    def __post_init__(self) -> None:
        files.folder().mkdir(mode=0o700, exist_ok=True)
        self.path = files.folder() / f"{self.key}.part"
        self.path.touch(0o600)
        self.file = self.path.open("wb")
        self.hash = hashlib.sha256()

    def write(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self.most:
            abort(413, f"{self.name} is larger than {files.spelled(self.most)}, which is the most a file may have.")
        try:
            self.kind.feed(piece)
        except Unknown as why:
            abort(415, f"{self.name}: {why} Text, code and pictures can be attached.")
        self.file.write(piece)
        self.hash.update(piece)

    def row(self, chat: str, person: str) -> File:
        """Its row, not saved; its bytes are in their place."""
        try:
            kind, charset = self.kind.told()
        except Unknown as why:
            abort(415, f"{self.name}: {why} Text, code and pictures can be attached.")
        self.file.close()
        gevent.get_hub().threadpool.apply(files.store, (self.path, self.key))
        told = {"name": self.name, "kind": kind, "charset": charset, "size": self.size, "hash": self.hash.hexdigest()}
        return File(id=self.key, chat=chat, person=person, **told)

    def drop(self) -> None:
        """Nothing stays of it."""
        self.file.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def received(request: Request, most: int, count: int) -> Iterator[list[Part]]:
    """The files of a form, at most COUNT of at most MOST bytes each. Refused in words, with nothing left on disk."""
    parts: list[Part] = []
    request.max_content_length = count * most + SLACK
    try:
        read(request, parts, most, count)
        yield parts
    except OSError as why:
        raise Full(str(why)) from why
    finally:
        for part in parts:
            part.drop()


def read(request: Request, parts: list[Part], most: int, count: int) -> None:
    boundary = request.mimetype_params.get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary:
        abort(400, "Attach a file: this form has none.")
    try:
        split(request.stream, boundary.encode("ascii", "replace"), parts, most, count)
    except ValueError:
        abort(400, "The upload ended too early. Attach the file again.")


def split(stream: IO[bytes], boundary: bytes, parts: list[Part], most: int, count: int) -> None:
    """Read STREAM to its end; its files are written to PARTS. Raises ValueError when it is no such form."""
    decoder = multipart.MultipartDecoder(boundary, max_parts=count + 20)
    part = None
    while True:
        piece = stream.read(READ)
        decoder.receive_data(piece or None)
        while not isinstance(event := decoder.next_event(), (multipart.NeedData, multipart.Epilogue)):
            if isinstance(event, multipart.File):
                part = Part(cleaned(event.filename), most) if event.filename else None
                parts += [part] if part else []
            elif isinstance(event, multipart.Field):
                part = None
            elif isinstance(event, multipart.Data) and part:
                part.write(event.data)
        if isinstance(event, multipart.Epilogue):
            return
        gevent.sleep(0)


def cleaned(name: str) -> str:
    """NAME as it may be shown: without folders and without what cannot be seen."""
    seen = plain(name.replace("\\", "/").rsplit("/", 1)[-1])
    stem, dot, ending = seen.rpartition(".")
    if len(seen) <= LONGEST_NAME:
        return seen if seen.strip(".") else "file"
    return f"{stem[: LONGEST_NAME - len(ending) - 2]}…{dot}{ending}" if len(ending) < 20 else seen[:LONGEST_NAME]
