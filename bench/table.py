"""Measures the rows that are named (all of them when none is) and prints one table.

python bench/table.py [streams] [lag] [bytes] [long] [pages] [start] [open] [load] [browser] [search]
"""

import asyncio
import datetime
import resource
import signal
import sys
from importlib import metadata

from answers import answer_bytes, lag, long_ones, streams
from benchlib import procs, upstream
from pages import browser_time, first_load, memory, opening, start
from row import Row
from search import search

ROWS = {
    "streams": streams,
    "lag": lag,
    "bytes": answer_bytes,
    "long": long_ones,
    "pages": memory,
    "start": start,
    "open": opening,
    "load": first_load,
    "browser": browser_time,
    "search": search,
}
LONGEST = 900.0  # seconds a row may take before it is given up
PACKAGES = ("gevent", "flask", "openai", "markdown-it-py", "nh3", "peewee", "simple-websocket")


async def main(names: list[str]) -> None:
    unknown = sorted(set(names) - set(ROWS))
    if unknown:
        sys.exit(f"There is no row called {unknown[0]}. Known are: {' '.join(ROWS)}.")
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    found: list[Row] = []
    async with upstream.Upstream() as up:
        for name in names or ROWS:
            print(f"{name} …", file=sys.stderr, flush=True)
            found += await measured(name, up)
    print("\n".join([*about(), "", "| what | budget | measured | relay, same run | |", "|---|---|---|---|---|"]))
    print("\n".join(map(str, found)))


async def measured(name: str, up: upstream.Upstream) -> list[Row]:
    """The rows of NAME; how busy other programs kept the machine goes to stderr."""
    try:
        async with asyncio.timeout(LONGEST):
            return await ROWS[name](up)
    except (TimeoutError, RuntimeError, OSError) as why:
        return [Row(name, "", f"not measured: {type(why).__name__} {why}", "", None)]


def about() -> list[str]:
    """Where and when this was measured."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    python = ".".join(map(str, sys.version_info[:3]))
    return [f"{datetime.date.today()}, {procs.cores()} shared cores, Python {python}, {versions}"]


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(main(sys.argv[1:]))
