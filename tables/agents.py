"""What agents may use, and what they know how to do. (Themselves they are in `assistants.py`.)"""

import time
from urllib.parse import urlsplit

import peewee as pw

from database import Row, new_key


class Choice(Row):
    """A model one can choose: its id, its name, the group it is listed under (where it runs) and a note.

    Whether it sees pictures, and how many tokens it is given at most (0: not known).
    """

    id = pw.TextField(primary_key=True)
    name = pw.TextField(default="")
    group = pw.TextField(default="")
    note = pw.TextField(default="")
    sees = pw.BooleanField(default=False)
    room = pw.IntegerField(default=0)

    @classmethod
    def only_demo(cls) -> bool:
        """Whether nothing but the demo model can answer."""
        return all("shows how Parley works" in choice.note for choice in cls.select())


class Plugin(Row):
    """An MCP server whose tools the agent may use, with the header that carries its key."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    agent = pw.CharField(20, index=True)
    name = pw.CharField(80)
    address = pw.TextField(default="")
    header = pw.TextField(default="")
    secret = pw.TextField(default="")
    enabled = pw.BooleanField(default=True)
    status = pw.TextField(default="")


class Skill(Row):
    """How to do one kind of work: when to use it in a sentence, and the instructions in Markdown."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    name = pw.CharField(80)
    description = pw.TextField(default="")
    body = pw.TextField(default="")


class Memory(Row):
    """What an agent keeps of a person across conversations."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    agent = pw.CharField(20, index=True)
    person = pw.CharField(20, default="", index=True)
    text = pw.TextField(default="")
    created = pw.IntegerField(default=lambda: int(time.time()))


class Context(Row):
    """How full the model's context of the conversation `id` was at its last turn, in tokens."""

    id = pw.CharField(20, primary_key=True)
    used = pw.IntegerField(default=0)
    window = pw.IntegerField(default=0)


def plugin(agent: str, address: str) -> Plugin:
    """A new plugin of AGENT at ADDRESS, named after its site; not saved. Raises ValueError for no web address."""
    host = urlsplit(address).hostname
    if not host:
        raise ValueError(f"{address!r} is no web address")
    return Plugin(agent=agent, address=address, name=site_name(host)[:80])


def site_name(host: str) -> str:
    """mcp.example.com is "example"; an address by number keeps it, as 127_0_0_1."""
    parts = host.split(".")
    if ":" in host or parts[-1].isdigit():
        return host.replace(".", "_").replace(":", "_")
    return parts[-2] if len(parts) > 1 else host


def skill() -> Skill:
    """A new, empty skill; not saved."""
    return Skill(name="")


def groups(models: list[Choice]) -> list[str]:
    """The groups of MODELS, in the order they first come."""
    return list(dict.fromkeys(choice.group for choice in models))
