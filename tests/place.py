"""A Parley of one's own for a test: the server as a process, and the people who visit it.

    place = Place(folder, script)          # answers come from the scripted server
    ada = place.visitor("Ada")             # signed in over HTTP; ada.client speaks HTTP as her browser would
    garden = ada.begins("Hello")           # a conversation's key
    ada.asks(garden, "And now?")
    place.until(lambda: place.kinds(garden) == ["user", "text"])
    place.kill(); place.start()            # the same data again
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx2

from database import database
from models import Assistant, Conversation, Item, Membership, Person
from tests.scripted import Scripted

ROOT = Path(__file__).parent.parent
PATIENCE = 20.0  # seconds anything may take before a test fails
MODEL = "scripted-1"


class Place:
    """A server process on a data folder."""

    def __init__(self, folder: Path, script: Scripted | None = None, **settings: str) -> None:
        self.folder, self.script = folder, script
        self.settings = {"CHAT_DATA": str(folder), "CHAT_PORT": "0", **settings}
        if script:
            self.settings |= {"AI_URL": script.address, "AI_KEY": "sk-scripted", "AI_MODEL": MODEL}
        self.process: subprocess.Popen | None = None
        self.visitors: list[Visitor] = []
        self.log = folder / "server.log"
        self.start()

    def start(self) -> None:
        """Start the server; the port stays the one it first had."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("CHAT_", "AI_"))}
        self.log_file = self.log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, os.environ.get("PARLEY_APP", "app.py")],
            cwd=ROOT,
            env={**clean, **self.settings},
            stdout=subprocess.PIPE,
            stderr=self.log_file,
            text=True,
        )
        told = self.process.stdout.readline() + self.process.stdout.readline()
        found = re.search(r"(?s)port (\d+).*?(http://\S+?)/enter\?key=(\S+)", told)
        assert found, f"the server did not start: {told}{self.log.read_text()[-2000:]}"
        self.port, self.url, self.key = int(found[1]), found[2], found[3]
        self.settings["CHAT_PORT"] = found[1]
        if str(database.database) != str(self.folder / "parley.db"):
            database.open(self.folder / "parley.db")

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log_file.close()

    def stop(self) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.log_file.close()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.stop()
        for visitor in self.visitors:
            visitor.client.close()
        with contextlib.suppress(OSError):
            self.process.stdout.close()
        database.close()
        database.init(None)

    # People

    def visitor(self, name: str = "Owner", role: str = "member") -> "Visitor":
        """NAME, signed in in a browser of their own; a new person when there is none of that name."""
        person = Person.find(Person.name == name) or Person.join(name, role)
        return Visitor(self, person)

    def joins(self, chat: str, visitor: "Visitor", role: str = "writer") -> None:
        """VISITOR becomes a member of the conversation."""
        database.run(lambda: Membership.create(chat=chat, person=visitor.person.id, role=role))

    def leaves(self, chat: str, visitor: "Visitor") -> None:
        """VISITOR is no longer a member."""
        mine = (Membership.chat == chat) & (Membership.person == visitor.person.id)
        database.run(lambda: Membership.delete().where(mine).execute())

    # What is in the log

    def items(self, chat: str) -> list[Item]:
        return Conversation.get_by_id(chat).items()

    def kinds(self, chat: str) -> list[str]:
        return [item.kind for item in self.items(chat)]

    def texts(self, chat: str) -> list[str]:
        return [item.text for item in self.items(chat) if item.kind == "text"]

    def status(self, chat: str) -> str:
        return Conversation.get_by_id(chat).status

    def settled(self, chat: str) -> None:
        """Wait until nothing is asked or answered in CHAT any more."""
        self.until(lambda: not Item.find(Item.chat == chat, Item.done == 0), f"{chat} is at rest")

    def until(self, holds: Callable[[], object], what: str = "it happened", patience: float = PATIENCE) -> object:
        """Wait until HOLDS gives something; that. Fails with the server's log after PATIENCE seconds."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if found := holds():
                return found
            time.sleep(0.02)
        raise AssertionError(f"not within {patience} s: {what}\n{self.log.read_text()[-3000:]}")

    def instructs(self, text: str) -> None:
        database.run(lambda: Assistant.update(instructions=text).execute())


class Visitor:
    """A person with a browser's cookies, over HTTP."""

    def __init__(self, place: Place, person: Person) -> None:
        self.place, self.person = place, person
        self.client = httpx2.Client(base_url=place.url, headers={"Origin": place.url}, trust_env=False, timeout=30)
        place.visitors.append(self)
        answer = self.client.post("/enter", data={"key": person.invite()})
        assert answer.status_code == 303, answer.text

    def begins(self, text: str, **form: str) -> str:
        """A new conversation that begins with TEXT; its key."""
        answer = self.client.post("/conversations", data={"text": text, **form})
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"].rsplit("/", 1)[1]

    def asks(self, chat: str, text: str, **form: str) -> httpx2.Response:
        return self.client.post(f"/conversations/{chat}/items", data={"text": text, **form})

    def again(self, chat: str, **form: str) -> httpx2.Response:
        return self.client.post(f"/conversations/{chat}/again", data=form)

    def stops(self, chat: str) -> httpx2.Response:
        return self.client.post(f"/conversations/{chat}/stop")

    def sees(self, chat: str) -> str:
        """The page of CHAT."""
        answer = self.client.get(f"/conversations/{chat}")
        assert answer.status_code == 200, answer.text
        return answer.text

    def cookies(self) -> list[dict[str, str]]:
        """The cookies as Playwright takes them."""
        return [{"name": c.name, "value": c.value, "url": self.place.url} for c in self.client.cookies.jar]
