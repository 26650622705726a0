"""Measures the rows that are named (all of them when none is) and prints one table.

    python bench/table.py [streams] [chunk] [bytes] [long] [pages] [start] [open]
"""

import asyncio
import os
import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from benchlib import upstream
from rows import ROWS

HEAD = ("what", "budget", "measured", "beside it", "")


async def main(names: list[str]) -> None:
    found = [HEAD]
    async with upstream.Upstream() as up:
        for name in names or ROWS:
            print(f"{name} …", file=sys.stderr, flush=True)
            found += await ROWS[name](up)
    for number, row in enumerate(found):
        print("| " + " | ".join(row) + " |")
        if number == 0:
            print("|---|---|---|---|---|")
    print("\nsearch over 100,000 items: not built yet")


if __name__ == "__main__":
    os.makedirs(Path(__file__).parent / "logs", exist_ok=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    asyncio.run(main(sys.argv[1:]))
