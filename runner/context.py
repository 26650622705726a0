"""Items become the model's messages. Pure: rows in, values out."""

import json
from collections.abc import Iterable, Mapping

from models import Item
from runner.attached import Attached

A_PICTURE = 3000  # characters that a picture counts for
NONE: Mapping[str, list[Attached]] = {}
ONWARD = "Your last answer was cut off. Go on exactly where it ended, without repeating any of it."


def messages(
    items: Iterable[Item], wish: Item, instructions: str, room: int = 0, files: Mapping[str, list[Attached]] = NONE
) -> list[dict]:
    """The request that answers WISH: INSTRUCTIONS, then its ITEMS, the newest ROOM characters of them (0: all).

    FILES are those of messages, by their keys. Assistant messages keep what a server may want back: `reasoning`, and
    each call's `extra`.
    """
    told = [i for i in items if i.place <= wish.place or i.run == wish.id]
    history = [m for m in turns(told, files) if m.get("content") or m.get("tool_calls")]
    if wish.kind == "retry" and wish.name == "onward":
        history.append({"role": "user", "content": ONWARD})
    head = [{"role": "system", "content": instructions}] if instructions.strip() else []
    return head + fitting(history, room)


def turns(items: Iterable[Item], files: Mapping[str, list[Attached]] = NONE) -> list[dict]:
    """The messages of ITEMS with their FILES. What one turn of the model wrote is one, its calls' results follow."""
    found: list[dict] = []
    for item in items:
        if item.kind == "user" and not item.queued:
            found.append({"role": "user", "content": content(item.text, files.get(item.id, []))})
        elif item.kind in ("text", "reasoning", "call"):
            told(found, item)
    return settle(found)


def content(text: str, files: list[Attached]) -> str | list[dict]:
    """A person's TEXT with its FILES: texts stand below it, and pictures are parts of their own."""
    words = "\n\n".join(part for part in (text, *map(inlined, files)) if part)
    pictures = [{"type": "image_url", "image_url": {"url": file.url}} for file in files if file.url]
    return [{"type": "text", "text": words}, *pictures] if pictures else words


def inlined(file: Attached) -> str:
    """FILE in words: a text with what is left out of it, or why a picture is not shown; "" for one that is."""
    if file.url:
        return ""
    if file.why:
        return f"[image {file.name}: {file.why}]"
    left_out = f"\n[… the middle is left out here; the whole file has {file.extent} …]\n" if file.tail else ""
    return f'<file name="{file.name}">\n{file.head}{left_out}{file.tail}\n</file>'


def told(found: list[dict], item: Item) -> None:
    """Add what the model wrote as ITEM to its last message, or begin one."""
    last = found[-1] if found else None
    after_calls = last and last.get("tool_calls") and item.kind != "call"
    if last is None or last["role"] != "assistant" or last["run"] != item.run or after_calls:
        last = {"role": "assistant", "content": "", "run": item.run}
        found.append(last)
    if item.kind == "text":
        last["content"] += item.text
    elif item.kind == "reasoning":
        last["reasoning"] = last.get("reasoning", "") + item.text
    else:
        last.setdefault("tool_calls", []).append(item)


def settle(found: list[dict]) -> list[dict]:
    """Calls as the interface has them, each with its result behind its message."""
    out = []
    for message in found:
        message.pop("run", None)
        calls = message.get("tool_calls", [])
        if calls:
            message["tool_calls"] = [called(call) for call in calls]
        out.append(message)
        out += [{"role": "tool", "tool_call_id": call_id(call), "content": result(call)} for call in calls]
    return out


def called(call: Item) -> dict:
    return {
        "id": call_id(call),
        "type": "function",
        "function": {"name": call.name, "arguments": call.input},
        **json.loads(call.extra or "{}").get("extra", {}),
    }


def call_id(call: Item) -> str:
    return json.loads(call.extra or "{}").get("id") or call.id


def result(call: Item) -> str:
    """What the model is told of a call: its output, or why there is none."""
    return call.output or call.text or ("Done." if call.state == "done" else "No result.")


def fitting(history: list[dict], room: int) -> list[dict]:
    """The newest messages of at most ROOM characters in all, beginning with a person's; 0: all of them."""
    size, kept = 0, []
    for message in reversed(history):
        size += length(message.get("content") or "")
        if room and size > room and kept:
            break
        kept.append(message)
    while len(kept) > 1 and kept[-1]["role"] != "user":
        kept.pop()
    return kept[::-1]


def tokens(history: list[dict]) -> int:
    """About how many tokens HISTORY has: four characters make one."""
    return sum(length(message.get("content") or "") for message in history) // 4


def length(content: str | list[dict]) -> int:
    """How many characters CONTENT counts for."""
    return len(content) if isinstance(content, str) else sum(len(part.get("text", "")) or A_PICTURE for part in content)
