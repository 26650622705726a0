"""Assistants: whom one talks to, whose they are, and how they answer."""

import json
import time
from typing import Self

import peewee as pw

from database import Row, new_key, write
from tables.people import Person
from tables.plain import plain

NAME_MAX = 80  # characters
INSTRUCTIONS_MAX = 100_000  # characters
TOKENS_MAX = 1_000_000
HOTTEST = 2.0  # the highest temperature of the chat completions interface
EFFORTS = ("minimal", "low", "medium", "high")
KEPT = 86400  # seconds in which a deleted assistant can come back


class Unfit(ValueError):
    """What a person entered cannot be kept; the text says why, in words for them."""


class Assistant(Row):
    """An agent: its name, instructions, model ("" the default), the tools it may use and those that wait for a yes.

    `tools` and `approve` are names by commas; `tools` "" is all of them. `person` "" belongs to the installation.
    `parameters` is JSON: temperature, max_tokens, effort, each only where the model's own is not wanted.
    `gone` is when it was deleted, 0 not at all; its name outlives it where a conversation was had with it.
    """

    id = pw.CharField(20, primary_key=True, default=new_key)
    name = pw.CharField(80)
    instructions = pw.TextField(default="")
    model = pw.TextField(default="")
    tools = pw.TextField(default="")
    approve = pw.TextField(default="")
    parameters = pw.TextField(default="")
    person = pw.CharField(20, default="", index=True)
    gone = pw.FloatField(default=0)

    @classmethod
    def first(cls) -> Self | None:
        """The installation's first one: the default."""
        return cls.select().where(cls.person == "", cls.gone == 0).order_by(cls.id).first()

    @classmethod
    def answering(cls, id: str) -> Self | None:
        """Who answers in a conversation with ID: the default where that is "" or deleted."""
        return (cls.find(cls.id == id, cls.gone == 0) if id else None) or cls.first()

    @classmethod
    def seen_by(cls, person: str) -> pw.ModelSelect:
        """The assistants PERSON may talk to: the installation's, then their own."""
        return cls.select().where(cls.person.in_(("", person)), cls.gone == 0).order_by(cls.person, cls.id)

    @classmethod
    @write
    def make(cls, person: str, **columns: str) -> Self:
        """A new one of PERSON ("" the installation)."""
        return cls.create(person=person, **columns)

    @write
    def change(self, **columns: str) -> None:
        Assistant.update(**columns).where(Assistant.id == self.id).execute()

    @write
    def copy(self, person: str) -> Self:
        """One like it that is PERSON's own."""
        columns = {name: getattr(self, name) for name in ("instructions", "model", "tools", "approve", "parameters")}
        return Assistant.create(person=person, name=f"{self.name[: NAME_MAX - 7]} (copy)", **columns)

    @write
    def remove(self) -> None:
        """Nobody talks to it any more. Raises Unfit for the only one that everybody has."""
        if not self.person and Assistant.select().where(Assistant.person == "", Assistant.gone == 0).count() == 1:
            raise Unfit("This is the only assistant that everybody has. Add another one for everybody first.")
        self.change(gone=time.time())

    @write
    def restore(self) -> None:
        self.change(gone=0)

    @classmethod
    @write
    def sweep(cls, before: float = 0) -> None:
        """Forget those deleted BEFORE a time (0: a day ago) for good; what had a conversation leaves its name."""
        old = (cls.gone > 0) & (cls.gone < (before or time.time() - KEPT))
        cls.delete().where(old, pw.SQL("id not in (select agent from conversation)")).execute()
        cls.update(instructions="", parameters="", tools="", approve="", model="").where(old).execute()

    def changed_by(self, person: Person) -> bool:
        """Whether PERSON may change it: their own, and an owner or admin the installation's."""
        return self.person == person.id or (not self.person and person.leads)

    @property
    def owned(self) -> str:
        """Whose it is, in words."""
        return "Yours" if self.person else "For everybody"

    @property
    def summary(self) -> str:
        """The first line of its instructions."""
        return next((line.strip() for line in self.instructions.splitlines() if line.strip()), "")

    @property
    def settings(self) -> dict[str, float | int | str]:
        """Its parameters by name."""
        return json.loads(self.parameters or "{}")


def assistant(id: str, name: str) -> Assistant:
    """A new agent, as the page adds it; not saved."""
    return Assistant(id=id, name=name[:NAME_MAX])


def described(name: str, instructions: str) -> dict[str, str]:
    """NAME and INSTRUCTIONS as they are kept. Raises Unfit."""
    name = plain(name)
    if not name:
        raise Unfit("An assistant needs a name.")
    if len(name) > NAME_MAX:
        raise Unfit(f"A name has at most {NAME_MAX} characters; this one has {len(name)}.")
    if len(instructions) > INSTRUCTIONS_MAX:
        raise Unfit(f"Instructions have at most {INSTRUCTIONS_MAX:,} characters; these have {len(instructions):,}.")
    return {"name": name, "instructions": instructions.replace("\r\n", "\n").replace("\0", "\ufffd").strip()}


def parameters(temperature: str = "", max_tokens: str = "", effort: str = "") -> str:
    """What a person entered as the JSON of a row; "" leaves a parameter to the model. Raises Unfit."""
    found = {}
    if temperature.strip():
        found["temperature"] = warm(temperature.strip().replace(",", "."))
    if max_tokens.strip():
        found["max_tokens"] = counted(max_tokens.strip())
    if effort:
        found["effort"] = effort
    if effort not in ("", *EFFORTS):
        raise Unfit(f"The effort is one of {', '.join(EFFORTS)}, or the model's own.")
    return json.dumps(found) if found else ""


def warm(written: str) -> float:
    try:
        number = float(written)
    except ValueError:
        number = -1
    if not 0 <= number <= HOTTEST:
        raise Unfit(f"The temperature is a number from 0 to {HOTTEST:g}; “{written[:40]}” is none.")
    return number


def counted(written: str) -> int:
    number = int(written) if written.isascii() and written.isdecimal() and len(written) < 9 else 0
    if not 1 <= number <= TOKENS_MAX:
        raise Unfit(f"The longest answer is a whole number from 1 to {TOKENS_MAX:,}; “{written[:40]}” is none.")
    return number
