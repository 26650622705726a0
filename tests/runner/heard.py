"""One turn of a scripted model, as the client hears it."""

from runner.client import ask
from runner.pieces import Call, Failure, Reasoning, Server, Text, Usage
from tests.scripted import Scripted

HELLO = [{"role": "user", "content": "Hello"}]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("add", "mul", "get_weather")]


def server(script: Scripted) -> Server:
    return Server("The test server", script.address, "sk-a-secret-key", "scripted-1")


def heard(script: Scripted, **more) -> dict:
    """One turn: its text, its thoughts, its calls as (name, arguments), how it ended and in what words."""
    found, ended = [], ""
    try:
        for piece in ask(server(script), HELLO, tools=TOOLS, pace=0.001, **more):
            found.append(piece)
    except Failure as why:
        ended = type(why).__name__ + ": " + str(why)
    last = found[-1] if found and isinstance(found[-1], Usage) else None
    return {
        "text": "".join(p.text for p in found if isinstance(p, Text)),
        "thoughts": "".join(p.text for p in found if isinstance(p, Reasoning)),
        "calls": [(p.name, p.arguments) for p in found if isinstance(p, Call)],
        "ended": ended or last.reason,
        "usage": last,
        "pieces": found,
    }
