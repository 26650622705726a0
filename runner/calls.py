"""Whole tool calls out of their parts, by what the parts say and not by an index that servers leave out or repeat."""

import json
import uuid
from collections.abc import Collection
from dataclasses import dataclass, field

from runner.pieces import Call

KNOWN = {"index", "id", "type", "function"}


@dataclass
class Draft:
    """A call that is still coming."""

    id: str
    index: int | None
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: dict = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.arguments)

    @property
    def whole(self) -> bool:
        """Nothing can follow: the arguments are a closed object."""
        return self.text.rstrip().endswith("}") and is_object(self.text)


class Calls:
    """Feed it the entries of `tool_calls` as they come; TOOLS are the names that were offered."""

    def __init__(self, tools: Collection[str] = ()) -> None:
        self.tools, self.drafts = frozenset(tools), []

    def feed(self, entry: dict) -> None:
        function = entry.get("function") if isinstance(entry.get("function"), dict) else {}
        name, arguments = words(function.get("name")), written(function.get("arguments"))
        draft = self.draft_of(entry, name)
        if draft is None:
            index = entry.get("index")
            draft = Draft(words(entry.get("id")), index if type(index) is int else None)
            self.drafts.append(draft)
        draft.id = draft.id or words(entry.get("id"))
        draft.name = self.named(draft.name, name)
        if arguments:
            draft.arguments.append(arguments)
        draft.extra |= {key: value for key, value in entry.items() if key not in KNOWN and value is not None}

    def draft_of(self, entry: dict, name: str) -> Draft | None:
        """The call that ENTRY goes on with; None: it begins one."""
        key, index = words(entry.get("id")), entry.get("index")
        draft = self.known(key, index)
        if draft and name:
            return None if self.begins(draft, key, index, name) else draft
        return None if draft and key not in ("", draft.id) and draft.whole else draft

    def known(self, key: str, index: object) -> Draft | None:
        """The call of this id, or of this index, or the newest where the server counts in no way one could follow."""
        counted = type(index) is int
        newest = reversed(self.drafts)
        ranks = [(d.id == key != "", counted and d.index == index, not (key and counted), d) for d in newest]
        return next((rank[3] for place in range(3) for rank in ranks if rank[place]), None)

    def begins(self, draft: Draft, key: str, index: object, name: str) -> bool:
        """Does an entry with a NAME begin a new call, or repeat or go on with the name of DRAFT?"""
        if key and draft.id and key != draft.id:
            return True
        if type(index) is int and index != draft.index and (draft.index is not None or draft.name):
            return True
        if draft.whole:
            return True
        if draft.arguments:
            return name != draft.name
        return bool(draft.name) and self.named(draft.name, name) == draft.name != name

    def named(self, before: str, name: str) -> str:
        """The name so far: in pieces it is joined, sent again in full or grown it is not."""
        if not name or name == before:
            return before
        if before + name in self.tools or before not in self.tools:
            return name if before and name.startswith(before) else before + name
        return before

    def end(self) -> list[Call]:
        """The calls, each with an id of its own."""
        taken: set[str] = set()
        calls = []
        for draft in (draft for draft in self.drafts if draft.name or draft.text):
            key = draft.id if draft.id and draft.id not in taken else f"call_{uuid.uuid4().hex[:12]}"
            taken.add(key)
            calls.append(Call(key, draft.name, draft.text.strip() or "{}", draft.extra))
        return calls


def words(value: object) -> str:
    return value if isinstance(value, str) else ""


def written(arguments: object) -> str:
    """Arguments as text; some servers send the object itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
