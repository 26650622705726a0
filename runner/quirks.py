"""What a server turned out not to take, learned from its refusals and remembered while this process lives."""

import re

from runner.pieces import Server
from runner.repair import repaired

RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
NEEDED = {"model", "messages", "tools"}
RANGE = re.compile(r"between|less than|greater than|at most|at least|range|minimum|maximum value|exceeds", re.I)
FIELD = re.compile(
    r"unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed|not supported|unsupported|invalid", re.I
)

# What a refusal says when it is about the form of the messages.
FORMS = (
    ("after", r"unexpected role .?user.? after role .?tool"),
    ("short", r"tool.?call.?id.*(9|nine)|length of 9|a-z, ?A-Z, ?0-9"),
    ("alternate", r"roles? must alternate|alternat\w+ .{0,30}(user|role)|consecutive .{0,20}(messages|roles)"),
    ("no-system", r"system (role|message|prompt)s? (is |are )?(not|un)|unsupported role.{0,10}system"),
    (
        "reasoning",
        r"(missing|must|should|need|required).{0,60}reasoning|reasoning_content.{0,60}(missing|must|required|back)",
    ),
    (
        "bare",
        r"thought_signature.{0,20}(unknown|not permitted)|extra_content|tool_calls.{0,40}(extra|unknown|not permitted)",
    ),
    ("text", r"content.{0,40}(must be|should be|expected|not) .{0,10}(a )?(valid )?str|image_url|image input"),
    ("null", r"content.{0,40}(empty|non-?empty|blank)"),
)
LEARNED: dict[tuple[str, str], frozenset[str]] = {}  # by address and model


class Wish:
    """A request, and what becomes of it as its server refuses parts of it."""

    def __init__(self, server: Server, messages: list[dict], tools: list[dict], parameters: dict, stream: bool = True):
        self.server, self.messages, self.key = server, messages, (server.address, server.model)
        self.wanted = {**parameters, **({"tools": list(tools)} if tools else {})}
        if stream:
            self.wanted = {"stream_options": {"include_usage": True}, **self.wanted}
        self.names = {tool.get("function", {}).get("name", "") for tool in tools}

    @property
    def quirks(self) -> frozenset[str]:
        return LEARNED.get(self.key, frozenset())

    def said(self) -> list[dict]:
        """The messages as this server takes them."""
        return repaired(self.messages, self.quirks)

    def more(self) -> dict:
        """The other parameters as this server takes them."""
        renamed = {self.renamed(name): value for name, value in self.wanted.items()}
        return {name: value for name, value in renamed.items() if f"drop {name}" not in self.quirks}

    def renamed(self, name: str) -> str:
        return RENAMED[name] if f"rename {name}" in self.quirks else name

    def learn(self, words: str, status: int) -> bool:
        """Whether the refusal in WORDS teaches something new, so that asking again makes sense."""
        found = self.form(words) or (self.parameter(words) if status in (400, 422) else "")
        if found:
            LEARNED[self.key] = self.quirks | {found}
        return bool(found)

    def form(self, words: str) -> str:
        """The form of the messages this refusal asks for, where it would change them."""
        for quirk, sign in FORMS:
            if re.search(sign, words, re.I | re.S) and quirk not in self.quirks and self.changes(quirk):
                return quirk
        return ""

    def changes(self, quirk: str) -> bool:
        return repaired(self.messages, self.quirks | {quirk}) != self.said()

    def parameter(self, words: str) -> str:
        """The parameter this refusal names, to be renamed or dropped; one out of its range is the person's to know."""
        sent = [name for name in self.more() if name not in NEEDED and re.search(rf"\b{re.escape(name)}\b", words)]
        for name in sent:
            if name in RENAMED and f"rename {RENAMED[name]}" not in self.quirks:
                return f"rename {name}"
            if not RANGE.search(words):
                return f"drop {name}"
        if sent or not FIELD.search(words):
            return ""
        return "bare" if "bare" not in self.quirks and self.changes("bare") else self.unnamed()

    def unnamed(self) -> str:
        """What goes first where a server does not say what it does not know."""
        return "drop stream_options" if "stream_options" in self.more() else ""
