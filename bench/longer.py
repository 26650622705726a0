"""Answers beyond the common ones. Run as a program, it is the common model server with these added.

python bench/longer.py --port 9100
"""

import argparse
import asyncio

from benchlib import corpus

WORDS = "The quick brown fox jumps over the lazy dog and runs on. "
CODE = corpus.ANSWERS["code"].text.removeprefix("```python\n").removesuffix(f"\n```\n{corpus.END}")


def ended(text: str) -> str:
    return f"{text}\n\n{corpus.END}"


def fence(code: str) -> str:
    return ended(f"```python\n{code}\n```")


def table(rows: int) -> str:
    return ended(
        "| name | square | note |\n|---|---|---|\n" + "\n".join(f"| {n} | {n * n} | words |" for n in range(rows))
    )


def points(count: int) -> str:
    return ended("\n".join(f"- point {n} says a few words" for n in range(count)))


PAIRS = {  # what: the answer, and the same twice as long
    "prose": (corpus.PROSE, f"{corpus.PROSE}\n\n{corpus.PROSE}"),
    "mixed": (corpus.MIXED, f"{corpus.MIXED}\n\n{corpus.MIXED}"),
    "600-line fence": (fence(CODE), fence(f"{CODE}\n{CODE}")),
    "200-row table": (table(200), table(400)),
    "200-item list": (points(200), points(400)),
}
TEXTS = {f"pair{n}x{times + 1}": texts[times] for n, texts in enumerate(PAIRS.values()) for times in (0, 1)}
TEXTS["tall"] = ended("\n\n".join([WORDS * 8] * 660))  # 300 KB
corpus.ANSWERS |= {name: corpus.Answer(name, text) for name, text in TEXTS.items()}


if __name__ == "__main__":
    import fake_openai

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, required=True)
    try:
        import uvloop as loop
    except ImportError:
        loop = asyncio
    loop.run(fake_openai.main(parser.parse_args().port))
