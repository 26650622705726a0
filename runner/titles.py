"""A conversation is named once, after its first good answer."""

import json
import re

from database import write
from models import Conversation, Item
from runner.client import complete
from runner.pieces import Failure, Server
from tables.plain import HIDDEN

TITLE_MAX = 80  # characters
PROMPT = "Name this conversation in at most six words, in its own language. Answer with the name only.\n\n"
REFUSALS = ("i'm sorry", "i am sorry", "i cannot", "i can't", "as an ai", "sorry,")


def name(conversation: Conversation, wish: Item, server: Server) -> None:
    """Ask SERVER for a title made of WISH and its answer; keep it, unless the person was faster."""
    asked = Item.get_by_id(wish.input) if wish.kind == "retry" else wish
    answer = Item.find(Item.run == wish.id, Item.kind == "text", Item.done == 1)
    start = "\n\n".join(item.text[:600] for item in (asked, answer) if item)
    try:
        title = cleaned(complete(server, [{"role": "user", "content": PROMPT + start}], limit=400, seconds=30))
    except Failure:
        title = ""
    keep(conversation, title)


@write
def keep(conversation: Conversation, title: str) -> None:
    """TITLE is the conversation's, unless the person was faster; without one its first words stay for good."""
    fresh = conversation.fresh()
    if fresh.titled == "words":
        fresh.entitle(title or fresh.title, "model" if title else "kept")


def due(conversation: Conversation) -> bool:
    """Whether CONVERSATION is still called by its first words and has an answer."""
    fresh = conversation.fresh()
    answered = Item.find(Item.chat == conversation.id, Item.kind == "text", Item.done == 1, Item.state == "")
    return fresh.titled == "words" and answered is not None


def cleaned(answer: str) -> str:
    """A model's ANSWER as a title: thinking, fences, JSON, quotes and "Title:" stripped; "" when none is left."""
    text = re.sub(r"(?s)^\s*<(think|thinking|reasoning)>.*?(</\1>|$)", "", answer)
    text = HIDDEN.sub("", re.sub(r"```\w*", "", text)).strip()
    if text.startswith(("{", '["')):
        text = from_json(text)
    lines = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if line and not line.endswith(":")), "")  # (not "Here is a title:")
    line = re.sub(r"(?i)^\W*(title|name)\s*:\s*", "", line)
    line = line.strip("#*_`\"'“”„«»‘’ ").rstrip(".").strip("\"'“”*_` ")
    if not line or len(line) > TITLE_MAX or line.lower().replace("’", "'").startswith(REFUSALS):
        return ""
    return line


def from_json(text: str) -> str:
    """The title in a JSON object or list; "" when there is none."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    value = (found.get("title") or found.get("name")) if isinstance(found, dict) else found[0]
    return value if isinstance(value, str) else ""
