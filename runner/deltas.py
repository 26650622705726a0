"""What one chunk of an answer says. No field of it is trusted to be there, or to be what its name promises."""

import math
from collections.abc import Iterator

from runner.pieces import Usage

THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details")


def choice_of(chunk: dict) -> dict:
    """The one choice we asked for; {} where a chunk has none, such as the one with the usage."""
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and not choice.get("index"):
            return choice
    return {}


def said(choice: dict) -> dict:
    """The new part of an answer, or the whole answer of a server that does not stream."""
    for name in ("delta", "message"):
        if isinstance(found := choice.get(name), dict):
            return found
    return {"content": choice["text"]} if isinstance(choice.get("text"), str) else {}


def thought_in(delta: dict) -> str:
    """Reasoning in a field of its own; a server that fills two of them says the same in both."""
    return next((words for name in THOUGHTS if (words := words_of(delta.get(name)))), "")


def spoken_in(content: object) -> tuple[str, str]:
    """The reasoning and the text in CONTENT: a string, or a list of parts of many kinds (unknown ones are skipped)."""
    if isinstance(content, str):
        return "", content
    parts = content if isinstance(content, list) else [content]
    thoughts = [words_of(part) for part in parts if isinstance(part, dict) and thinks(part)]
    texts = [words_of(part) for part in parts if not (isinstance(part, dict) and thinks(part))]
    return "".join(thoughts), "".join(texts)


def thinks(part: dict) -> bool:
    kind = str(part.get("type") or "")
    return "think" in kind or "reason" in kind or "thought" in kind


def words_of(value: object) -> str:
    """The text in a field that may be a string, a part, or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(words_of, value))
    if isinstance(value, dict):
        names = ("text", "thinking", "reasoning", "summary", "content")
        return next((words for name in names if (words := words_of(value.get(name)))), "")
    return ""


def asked_in(delta: dict) -> Iterator[dict]:
    """The parts of tool calls, those of the old field `function_call` in the new form."""
    calls = delta.get("tool_calls")
    for entry in calls if isinstance(calls, list) else [calls]:
        if isinstance(entry, dict):
            yield entry
    if isinstance(delta.get("function_call"), dict):
        yield {"index": 0, "function": delta["function_call"]}


def usage_in(chunk: dict) -> Usage | None:
    """The tokens a chunk tells, wherever it does."""
    places = (chunk.get("usage"), choice_of(chunk).get("usage"), (chunk.get("x_groq") or {}))
    told = next((u for u in places if isinstance(u, dict) and u), None)
    if told is None:
        return None
    told = told.get("usage") if isinstance(told.get("usage"), dict) else told
    read, wrote = detail(told, "prompt_tokens", "input"), detail(told, "completion_tokens", "output")
    return Usage(
        count(told, "prompt_tokens", "input_tokens"),
        count(told, "completion_tokens", "output_tokens"),
        count(read, "cached_tokens") or count(told, "prompt_cache_hit_tokens", "cache_read_input_tokens"),
        count(wrote, "reasoning_tokens") or count(told, "reasoning_tokens"),
    )


def detail(told: dict, *names: str) -> dict:
    found = (told.get(f"{name}_details") or told.get(f"{name}_tokens_details") for name in names)
    return next((d for d in found if isinstance(d, dict)), {})


def count(told: dict, *names: str) -> int:
    """The first number under NAMES; what is negative or no number is 0."""
    found = (told.get(name) for name in names)
    return next((max(0, int(n)) for n in found if type(n) in (int, float) and math.isfinite(n)), 0)
