"""The rows about answers that are being written: how many, how late, how dear, how many bytes."""

import asyncio
import math
import re
from collections.abc import Sequence

from benchlib import corpus, measure, procs
from benchlib.measure import log, told
from longer import PAIRS
from row import Row, middle, spread
from targets import Parley, ParleyPage, Relay

PAIRS_OF_RUNS = 3  # Parley and the relay in turn; the pair counts that other programs disturbed least
QUIET = 60.0  # seconds a run waits for other programs to become quiet
BODY = re.compile(r'<div class="content"[^>]*>(.*?)</div>\s*<footer', re.S)
BEGUN = 'class="item answer"'
FAST = 500.0  # chunks a second of the answer that grows to 300 KB
TALL = 3  # of them at once


async def streams(up) -> list[Row]:
    """The most streams of mixed Markdown at 50 chunks/s whose p95 lag stays within 250 ms."""
    async with Parley(up.base) as parley:
        found = await measure.saturate(parley, up, "mixed", 100)
    most = found["max_streams"]
    async with Relay(up.base) as relay:
        floor = await measure.streams(relay, up, "mixed", max(1, most), ramp=8)
    last = next((run for run in reversed(found["probes"]) if run["streams"] == most), found["probes"][-1])
    measured = f"{most} ({last['cpu_us_per_chunk']:.0f} µs a chunk, foreign {last['foreign_cores']:.2f} cores)"
    beside = f"p95 {floor['lag_p95_ms'] or math.inf:.0f} ms at {floor['streams']}"
    return [
        Row(
            "streams of mixed at 50 chunks/s, p95 lag ≤ 250 ms",
            "≥ 130, then 260",
            measured,
            beside,
            decided(most >= 130, found["probes"][-1:]),
        )
    ]


def decided(holds: bool, runs: Sequence[dict]) -> bool | None:
    """Whether a budget HOLDS; None where it does not but the machine was busy with other programs."""
    return holds or (False if calm(runs) else None)


def calm(runs: Sequence[dict]) -> bool:
    """Whether other programs took at most half a core of the machine."""
    return max(run["foreign_cores"] for run in runs) <= 0.5


async def lag(up) -> list[Row]:
    """Server CPU a chunk and lag at 100 streams, beside the relay; the lag of one stream."""
    ours, floor = [], []
    for _ in range(PAIRS_OF_RUNS):
        floor.append(await crowd(Relay, up, 100))
        ours.append(await crowd(Parley, up, 100))
    one, one_floor = await crowd(Parley, up, 1), await crowd(Relay, up, 1)
    pairs = list(zip(ours, floor, strict=True))
    ratios = [run["cpu_us_per_chunk"] / base["cpu_us_per_chunk"] for run, base in pairs]
    calmest = min(pairs, key=lambda pair: max(run["foreign_cores"] for run in pair))
    (run, base), ratio = calmest, ratios[pairs.index(calmest)]
    late, late_floor = (one_of["lag_p95_ms"] or math.inf for one_of in calmest)
    lates = [r["lag_p95_ms"] or math.inf for r in ours]
    cost = f"{ratio:.2f} ×{spread(ratios)}: {run['cpu_us_per_chunk']:.0f} µs"
    about = f"; {run['ok']} of 100 whole, client {run['client_cores']:.2f}, foreign {run['foreign_cores']:.2f} cores"
    return [
        Row(
            "server CPU a chunk, 100 streams at 50 chunks/s, pages open",
            "≤ 2 × the paced relay",
            cost + about,
            f"{base['cpu_us_per_chunk']:.0f} µs, foreign {base['foreign_cores']:.2f} cores",
            ratio <= 2 and run["ok"] == 100 if calm(calmest) else None,
        ),
        Row(
            "lag, 100 streams, p95",
            "≤ 150 ms",
            f"{late:.0f} ms{spread(lates, 0)}",
            f"{late_floor:.0f} ms",
            decided(late <= 150, calmest),
        ),
        Row(
            "lag, one stream, p50",
            "≤ 50 ms",
            f"{one['lag_p50_ms']:.0f} ms (p95 {one['lag_p95_ms']:.0f} ms, {one['cpu_us_per_chunk']:.0f} µs a chunk)",
            f"{one_floor['lag_p50_ms']:.0f} ms ({one_floor['cpu_us_per_chunk']:.0f} µs)",
            decided(one["lag_p50_ms"] <= 50, [one]),
        ),
    ]


async def crowd(make, up, count: int) -> dict:
    """One run of COUNT streams on a server of its own."""
    await measure.quiet_machine(QUIET)
    async with make(up.base) as target:
        found = await measure.streams(target, up, "mixed", count, ramp=4 if count > 1 else 0)
    log(f"  {make.__name__}{told(found)}")
    return found


async def answer_bytes(up) -> list[Row]:
    """Bytes sent for an answer ÷ (bytes of its final HTML + 100 a frame), and for one twice as long."""
    async with Parley(up.base) as parley:
        pages = await measure.opened(parley, 2 * len(PAIRS))
        names = [f"pair{n}x{times}" for n in range(len(PAIRS)) for times in (1, 2)]
        ratios = await asyncio.gather(*(ratio(page, name) for page, name in zip(pages, names, strict=True)))
        await measure.shut(pages)
    found = []
    for n, what in enumerate(PAIRS):
        once, twice = ratios[2 * n : 2 * n + 2]
        met = max(once, twice) <= 2.5
        found.append(
            Row(
                f"bytes ÷ (final HTML + 100 a frame), {what}; twice as long",
                "≤ 2.5",
                f"{once:.2f}; {twice:.2f}",
                "1",
                met,
            )
        )
    return found


async def ratio(page: ParleyPage, name: str) -> float:
    """What the frames of the answer NAME weigh beside its final HTML; code and long ones come at 200 chunks/s."""
    answer = corpus.ANSWERS[name]
    rate = 50.0 if len(answer.chunks) < 2500 else 200.0
    turn = await page.ask(corpus.prompt(name, rate, "5a17" * 3), len(answer.chunks) / rate * 2 + 60)
    if not turn.ok:
        raise RuntimeError(f"{name}: {turn.error or 'the answer did not end'}")
    final = BODY.findall(await page.visitor.get(f"/conversations/{page.chat}"))[-1]
    log(f"    {name}: {len(turn.frames)} frames, {turn.size} bytes sent, {len(final.encode())} bytes of HTML")
    return turn.size / (len(final.encode()) + 100 * len(turn.frames))


async def long_ones(up) -> list[Row]:
    """A chunk in a long chat beside one in an empty chat; late in a long answer beside early in it."""
    async with Parley(up.base) as parley:
        empty, full = await measure.opened(parley, 5), [await parley.open_page(10_000) for _ in range(5)]
        in_chat = [(await cost(parley, up, full), await cost(parley, up, empty)) for _ in range(PAIRS_OF_RUNS)]
        early, late = await tall(parley, up, empty[:TALL])
        await measure.shut([*empty, *full])
    ratios = [a / b for a, b in in_chat]
    best = middle(ratios)
    full_cost, empty_cost = in_chat[ratios.index(best)]
    in_full = f"{best:.2f}{spread(ratios)}: {full_cost:.0f} ÷ {empty_cost:.0f} µs"
    in_tall = f"{late / early:.2f}: {late:.0f} ÷ {early:.0f} µs"
    return [
        Row("a chunk in a chat of 10,000 items ÷ in an empty one", "≤ 1.2", in_full, "", best <= 1.2),
        Row("a chunk in a 300 KB answer ÷ in a 3 KB one", "≤ 1.5", in_tall, "", late / early <= 1.5),
    ]


async def cost(parley: Parley, up, pages: list[ParleyPage]) -> float:
    """Microseconds of server CPU a chunk while all PAGES' answers are being written; the start of a turn is apart."""
    cpu = parley.proc.cpu_fine()
    asked = asyncio.gather(*(page.ask(corpus.prompt("mixed", 50, "7" * 12), 120) for page in pages))
    await asyncio.sleep(0.1)
    while not (asked.done() or all(BEGUN in text for text in map(shown, pages))):
        await asyncio.sleep(0.1)
    began = (parley.proc.cpu_fine() - cpu) * 1e3 / len(pages)
    found = await window(parley, up, 14)
    await asked
    log(f"    {found:.0f} us/chunk; {began:.0f} ms until an answer began")
    return found


def shown(page: ParleyPage) -> str:
    return "".join(text for _, text in page.turn.frames)


async def tall(parley: Parley, up, pages: list[ParleyPage]) -> tuple[float, float]:
    """The same, early and late in an answer that grows to 300 KB."""
    await measure.quiet_machine(QUIET)
    lasts = len(corpus.ANSWERS["tall"].chunks) / FAST
    asked = asyncio.gather(*(page.ask(corpus.prompt("tall", FAST), lasts + 120) for page in pages))
    await asyncio.sleep(0.7)
    early = await window(parley, up, 3)
    await asyncio.sleep(lasts - 20)
    late = await window(parley, up, 14)
    await asked
    log(f"    300 KB: early {early:.0f}, late {late:.0f} us/chunk")
    return early, late


async def window(parley: Parley, up, seconds: float) -> float:
    """Microseconds of server CPU a chunk during SECONDS."""
    chunks, cpu, busy = (await up.stats())["chunks"], parley.proc.cpu_fine(), procs.machine_busy()
    await asyncio.sleep(seconds)
    used, came = parley.proc.cpu_fine() - cpu, (await up.stats())["chunks"] - chunks
    log(f"    all programs: {(procs.machine_busy() - busy) / seconds:.2f} cores, the server {used / seconds:.2f}")
    return used * 1e6 / max(1, came)
