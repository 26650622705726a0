"""A thousand idle pages and a hundred streams for ten minutes: memory flat, no error, lag within budget.

python bench/soak.py [MINUTES] [STREAMS] [PAGES]
"""

import asyncio
import resource
import sys
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from benchlib import corpus, measure, upstream
from targets import Parley, ParleyPage

LAG = 0.250  # seconds, p95
GREW = 1.10  # memory at the end ÷ memory after the first two minutes


class Told:
    """What happened so far."""

    def __init__(self) -> None:
        self.answers, self.errors, self.lags, self.lost = 0, [], [], 0


async def talk(target: Parley, up: upstream.Upstream, page: ParleyPage, told: Told, until: float) -> None:
    """Ask one question after the other on PAGE."""
    while time.monotonic() < until:
        key = uuid.uuid4().hex[:12]
        turn = await page.ask(corpus.prompt("mixed", rate=50, id=key), 120)
        told.answers += 1
        lags = measure.lags(target, corpus.ANSWERS["mixed"], target.decode(turn), await up.log(key))
        told.lags += lags
        if turn.error or not turn.ok or (lags and lags[-1] > 60):
            told.errors.append(turn.error or "an answer that did not come whole")


async def idle(target: Parley, count: int, told: Told) -> list[asyncio.Task]:
    """COUNT pages that only follow."""
    page = await target.open_page()
    html = await page.visitor.get(f"/conversations/{page.chat}")

    async def follow() -> None:
        async for _ in await page.visitor.socket(page.chat, html):
            pass
        told.lost += 1

    tasks = []
    for _ in range(0, count, 50):
        tasks += [asyncio.create_task(follow()) for _ in range(50)]
        await asyncio.sleep(0.2)
    return tasks


async def main(minutes: float, streams: int, pages: int) -> int:
    told = Told()
    async with upstream.Upstream() as up:
        target = Parley(up.base)
        await target.start()
        waiting = await idle(target, pages, told)
        open_pages = [await target.open_page() for _ in range(streams)]
        began, memory = time.monotonic(), []
        talks = [asyncio.create_task(talk(target, up, p, told, began + minutes * 60)) for p in open_pages]
        while any(not task.done() for task in talks):
            await asyncio.sleep(30)
            memory.append(target.proc.rss() / 1e6)
            late = measure.pct(told.lags[-20000:], 0.95) or 0
            now = (time.monotonic() - began) / 60
            print(f"{now:.1f} min: {memory[-1]:.0f} MB, {told.answers} answers, p95 {late * 1000:.0f} ms", flush=True)
        faults = [task.exception() for task in talks if task.exception()]
        log = Path(target.folder.name, "server.log").read_text()
        for task in waiting:
            task.cancel()
        await target.stop()
    return verdict(told, memory, faults, log, minutes)


def verdict(told: Told, memory: list[float], faults: list, log: str, minutes: float) -> int:
    settled = memory[min(3, len(memory) - 1)]
    late, grew = measure.pct(told.lags, 0.95) or 999, memory[-1] / settled
    tracebacks = log.count("Traceback")
    print(f"{told.answers} answers, {len(told.errors)} errors {told.errors[:3]}")
    print(f"{told.lost} pages lost, {tracebacks} tracebacks, p95 lag {late * 1000:.0f} ms")
    print(f"memory {settled:.0f} → {memory[-1]:.0f} MB (× {grew:.2f}) in {minutes:g} minutes")
    good = not (told.errors or faults or told.lost or tracebacks) and late <= LAG and grew <= GREW
    print("1 passed, 0 failed" if good else "0 passed, 1 failed")
    return 0 if good else 1


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    sizes = [float(a) for a in sys.argv[1:]] + [10, 100, 1000][len(sys.argv) - 1 :]
    sys.exit(asyncio.run(main(sizes[0], int(sizes[1]), int(sizes[2]))))
