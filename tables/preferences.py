"""How a person likes their pages."""

import json
import re
from typing import Self

import peewee as pw

from database import Row, write
from tables.assistants import Unfit

CHOICES = {  # what each may be, the usual one first
    "theme": ("system", "light", "dark"),
    "size": ("normal", "small", "large", "larger"),
    "enter": ("send", "break"),
    "follow": ("end", "top"),
    "letters": ("on", "off"),
}
KEYS = {  # what each key does, and the usual one for it
    "next": ("Next message", "j"),
    "previous": ("Previous message", "k"),
    "copy": ("Copy", "c"),
    "again": ("Answer again", "r"),
    "edit": ("Edit", "e"),
    "write": ("Write a message", "w"),
    "new": ("New conversation", "n"),
    "list": ("Go to the list", "l"),
    "menu": ("What to do with this conversation", "m"),
    "find": ("Find in this conversation", "f"),
    "search": ("Search everything", "/"),
    "palette": ("Everything one can do", "Ctrl+K"),
    "keys": ("The list of keys", "?"),
}
PLACES = {  # where g and a letter lead
    "c": ("New conversation", "/"),
    "s": ("Search", "/search"),
    "a": ("Assistants", "/agents"),
    "r": ("Archived", "/archived"),
    "d": ("Deleted", "/deleted"),
    "p": ("Preferences", "/preferences"),
    "i": ("Where you are signed in", "/signed-in"),
    "h": ("Help", "/help"),
}
TAKEN = {"g": "It begins the keys that go to a place.", "Escape": "It closes what is open.", "Enter": "It sends."}
KEY = re.compile(r"((?:(?:Ctrl|Alt|Shift|Meta)\+)*)(\S|F\d{1,2}|Escape|Enter)", re.I)


class Preference(Row):
    """What the person `id` prefers. `keys` is JSON, from what a key does to the key, where it is not the usual one."""

    id = pw.CharField(20, primary_key=True)
    theme = pw.CharField(10, default="system")
    size = pw.CharField(10, default="normal")
    enter = pw.CharField(10, default="send")
    follow = pw.CharField(10, default="end")
    letters = pw.CharField(10, default="on")
    keys = pw.TextField(default="")

    @classmethod
    def of(cls, person: str) -> Self:
        """What PERSON prefers; the usual things, not saved, where they have said nothing."""
        return cls.find(cls.id == person) or cls(id=person)

    @classmethod
    @write
    def keep(cls, person: str, **columns: str) -> None:
        if columns and not cls.update(**columns).where(cls.id == person).execute():
            cls.create(id=person, **columns)

    @property
    def bound(self) -> dict[str, str]:
        """The key of each action."""
        return {action: key for action, (_, key) in KEYS.items()} | json.loads(self.keys or "{}")

    @property
    def bound_json(self) -> str:
        return json.dumps(self.bound)


def preferred(form: dict[str, str]) -> dict[str, str]:
    """What FORM chooses, as columns. Raises Unfit."""
    found = {name: form[name] for name in CHOICES if name in form}
    for name, value in found.items():
        if value not in CHOICES[name]:
            raise Unfit(f"“{value[:40]}” is no {name}. It is one of {', '.join(CHOICES[name])}.")
    return found


def rebound(form: dict[str, str]) -> str:
    """The keys of FORM as JSON, without the usual ones; an empty one is the usual one. Raises Unfit."""
    keys = {action: spelled(form.get(action, "")) or usual for action, (_, usual) in KEYS.items()}
    does: dict[str, str] = {}
    for action, key in keys.items():
        words = KEYS[action][0]
        if key in TAKEN:
            raise Unfit(f"“{key}” cannot be the key for “{words}”. {TAKEN[key]}")
        if key in does:
            raise Unfit(f"“{key}” is the key for “{does[key]}” and for “{words}”. Give each its own.")
        does[key] = words
    own = {action: key for action, key in keys.items() if key != KEYS[action][1]}
    return json.dumps(own) if own else ""


def spelled(written: str) -> str:
    """A key as it is kept: j, ?, Ctrl+K; "" for none. Raises Unfit."""
    written = written.strip()
    found = KEY.fullmatch(written)
    if written and not (found and written.isprintable()):
        raise Unfit(f"“{written[:40]}” is no key. Write one character, or Ctrl, Alt, Shift or Meta with one: Ctrl+K.")
    if not found:
        return ""
    held = [name for name in ("Ctrl", "Alt", "Shift", "Meta") if f"{name.lower()}+" in found[1].lower()]
    last = found[2].lower() if len(found[2]) == 1 and not held else found[2].capitalize()
    return "+".join([*held, last])
