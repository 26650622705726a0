"""Messages as a server accepts them, whatever the log holds. The log itself is never changed."""

import json
import re
import uuid
from collections.abc import Iterable

from runner.answer import clean
from runner.calls import is_object

NO_RESULT = "There is no result: the call was cut off before it ended. It may have taken effect."
SPOKEN = ("text", "image_url", "input_audio", "file")
FIELDS = ("name", "tool_call_id")


def repaired(messages: list[dict], quirks: frozenset[str] = frozenset()) -> list[dict]:
    """What a server accepts of MESSAGES (those of the chat interface, which stay as they are).

    An assistant message may carry `reasoning`, its calls whatever a server wants back. QUIRKS are what this server was
    found to insist on: "reasoning" (wants it back), "bare" (no field it does not know), "text" (content is a string),
    "null" (no empty content), "alternate" (user and assistant in turns), "after" (no person right after a tool),
    "short" (ids of nine letters and digits), "no-system".
    """
    fixed = paired([fresh for message in messages if (fresh := sound(message, quirks))], quirks)
    if "no-system" in quirks:
        fixed = [as_person(m) if m["role"] == "system" else m for m in fixed]
    if "after" in quirks:
        fixed = list(interposed(fixed))
    return joined(fixed) if quirks & {"alternate", "no-system"} else fixed


def sound(message: dict, quirks: frozenset[str]) -> dict:
    """MESSAGE with the fields of its role; {} where it says nothing."""
    role, calls = message.get("role") or "user", message.get("tool_calls") or []
    content = content_of(message.get("content"), quirks)
    fresh = {"role": role, "content": content} | {f: message[f] for f in FIELDS if message.get(f)}
    if role == "assistant" and message.get("reasoning") and "reasoning" in quirks:
        fresh["reasoning_content"] = clean(message["reasoning"])
    if role == "assistant" and calls:
        fresh["tool_calls"] = [call_of(call, quirks) for call in calls]
        if not content and "null" in quirks:
            fresh["content"] = None
    return fresh if content or calls or role == "tool" else {}


def content_of(content: object, quirks: frozenset[str]) -> object:
    """A string, or a list of the kinds of part that every server knows."""
    if not isinstance(content, list):
        return clean(content) if isinstance(content, str) and content.strip() else ""
    parts = [
        {**part, "text": clean(part["text"])} if part.get("type") == "text" else part for part in content if known(part)
    ]
    if "text" in quirks or all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts if part["type"] == "text")
    return parts


def known(part: object) -> bool:
    if not isinstance(part, dict) or part.get("type") not in SPOKEN:
        return False
    return part["type"] != "text" or (isinstance(part.get("text"), str) and bool(part["text"].strip()))


def call_of(call: dict, quirks: frozenset[str]) -> dict:
    """CALL with a name and arguments that no server refuses, and what its server wants back unless it is "bare"."""
    function = call.get("function") or {}
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", str(function.get("name") or ""))[:64] or "unknown"
    extra = (
        {} if "bare" in quirks else {key: value for key, value in call.items() if key not in ("id", "type", "function")}
    )
    asked = {"name": name, "arguments": arguments_of(function.get("arguments"))}
    return {"id": str(call.get("id") or ""), "type": "function", "function": asked, **extra}


def arguments_of(arguments: object) -> str:
    """The text of an object; what is none is kept in one, so that the model sees what it wrote."""
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    text = clean(arguments).strip() if isinstance(arguments, str) else ""
    if not text or is_object(text):
        return text or "{}"
    return json.dumps({"unreadable": text[:2000]}, ensure_ascii=False)


def paired(messages: list[dict], quirks: frozenset[str]) -> list[dict]:
    """Each call followed by its one result, under an id that no other call has; results of no call go."""
    taken: set[str] = set()
    out = []
    for at, message in enumerate(messages):
        if message["role"] != "tool":
            out.append(message)
        for call in message.get("tool_calls", []):
            result = result_of(call["id"], messages[at + 1 :])
            call["id"] = own_id(call["id"], taken, quirks)
            said = (result.pop("content") or "Done.") if result else NO_RESULT
            out.append({"role": "tool", "tool_call_id": call["id"], "content": said})
    return out


def result_of(key: str, later: list[dict]) -> dict | None:
    """The first result for a call of this id that no other call took, before the id is used again."""
    for message in later:
        if message.get("tool_call_id") == key and "content" in message:
            return message
        if any(call["id"] == key for call in message.get("tool_calls", [])):
            return None
    return None


def own_id(key: str, taken: set[str], quirks: frozenset[str]) -> str:
    """KEY where nobody has it yet; the same again for the same history, so that servers can cache it."""
    short = "short" in quirks
    found, turn = key, 0
    while not found or found in taken or (short and not re.fullmatch(r"[a-zA-Z0-9]{9}", found)):
        made = uuid.uuid5(uuid.NAMESPACE_OID, f"{key} {turn}").hex
        found, turn = made[:9] if short else f"call_{made[:12]}", turn + 1
    taken.add(found)
    return found


def as_person(message: dict) -> dict:
    return {**message, "role": "user"}


def interposed(messages: Iterable[dict]) -> Iterable[dict]:
    """An assistant's word between a result and the person's next message."""
    before = ""
    for message in messages:
        if before == "tool" and message["role"] in ("user", "system"):
            yield {"role": "assistant", "content": "(stopped)"}
        yield message
        before = message["role"]


def joined(messages: list[dict]) -> list[dict]:
    """Neighbours of one role as one message; a conversation that begins with the assistant gets a beginning."""
    out: list[dict] = []
    for message in messages:
        last = out[-1] if out else {"role": ""}
        if last["role"] == message["role"] in ("user", "assistant", "system") and "tool_calls" not in last:
            out[-1] = {**last, **message, "content": both(last["content"], message["content"])}
        else:
            out.append(message)
    first = next((at for at, m in enumerate(out) if m["role"] != "system"), len(out))
    if first < len(out) and out[first]["role"] == "assistant":
        out.insert(first, {"role": "user", "content": "(the conversation goes on)"})
    return out


def both(one: object, other: object) -> object:
    if isinstance(one, str) and isinstance(other, str):
        return f"{one}\n\n{other}"
    parts = [[{"type": "text", "text": c}] if isinstance(c, str) and c else c or [] for c in (one, other)]
    return parts[0] + parts[1]
