"""The rows about pages: their memory, the start, opening them in Chromium, and what an answer costs there."""

import asyncio
import os
import re
import statistics
from importlib import metadata

from benchlib import browser, measure, procs
from benchlib.measure import log
from row import Row, middle, spread
from targets import OPEN_SOCKET, ROOT, Parley, Relay

IDLE_PAGES = 5000
AT_ONCE = 50  # pages that are opened at the same time
CHATS = 100  # conversations that the idle pages look at
STARTS = 5
LOADS = 5


async def memory(up) -> list[Row]:
    """Resident memory: idle, an open page, many idle pages."""
    async with Relay(up.base) as relay:
        floor = await weighed(relay, [f"{relay.url}/ws"] * 500, relay.session)
    async with Parley(up.base) as parley:
        await asyncio.sleep(4)
        idle = parley.proc.rss()
        pages = await measure.opened(parley, CHATS)
        await measure.shut(pages)
        sockets = []
        for page in pages:
            html = await page.visitor.get(f"/conversations/{page.chat}")
            cursor = re.search(r'data-cursor="(\d+)"', html)[1]
            sockets.append(f"{parley.url}/conversations/{page.chat}/live?since={cursor}")
        before, after, each = await weighed(
            parley, sockets * (IDLE_PAGES // CHATS), *(p.visitor.session for p in pages)
        )
    return [
        Row("memory, idle", "≤ 100 MB", f"{idle / 1e6:.0f} MB", f"{floor[0] / 1e6:.0f} MB", idle <= 100e6),
        Row("memory, an open page", "≤ 50 KB", f"{each / 1e3:.0f} KB", f"{floor[2] / 1e3:.0f} KB", each <= 50e3),
        Row(
            f"memory, {IDLE_PAGES:,} idle pages",
            "≤ 350 MB",
            f"{after / 1e6:.0f} MB (before them {before / 1e6:.0f})",
            "",
            after <= 350e6,
        ),
    ]


async def weighed(target, urls: list[str], *sessions) -> tuple[int, int, float]:
    """Resident bytes before and after the sockets URLS are open, and for each of them."""
    before, readers, open_ones = target.proc.rss(), [], []
    turn = len(sessions)
    for at in range(0, len(urls), AT_ONCE):
        some = enumerate(urls[at : at + AT_ONCE], at)
        opening = (sessions[n % turn].ws_connect(url, headers={"Origin": target.url}, **OPEN_SOCKET) for n, url in some)
        fresh = await asyncio.gather(*opening)
        open_ones += fresh
        readers += [asyncio.create_task(heard(socket)) for socket in fresh]
    await asyncio.sleep(3)
    after = target.proc.rss()
    alive = sum(not socket.closed for socket in open_ones)
    log(f"    {alive} of {len(urls)} pages open, {before / 1e6:.0f} → {after / 1e6:.0f} MB")
    for reader in readers:
        reader.cancel()
    if alive < len(urls):
        raise RuntimeError(f"only {alive} of {len(urls)} pages stayed open")
    return before, after, (after - before) / len(urls)


async def heard(socket) -> None:
    """Read as a page does, so that the server's pings are answered."""
    async for _ in socket:
        pass


async def start(up) -> list[Row]:
    """Seconds from the start of the process to the first page; and the installed size."""
    ours, floor = [], []
    for _ in range(STARTS):
        for make, times in ((Relay, floor), (Parley, ours)):
            await measure.quiet_machine(20)
            target = make(up.base)
            times.append(await target.start())
            await target.stop()
    took = middle(ours)
    row = Row("start to first page", "≤ 1.5 s", f"{took:.2f} s{spread(ours)}", f"{middle(floor):.2f} s", took <= 1.5)
    return [row, *sizes()]


def sizes() -> list[Row]:
    """What the packages of the lock files take on disk, with Parley itself."""
    base, lacking = installed("requirements.lock")
    model, more = installed("requirements-model.lock")
    base += sum(procs.dir_size(str(ROOT / part)) for part in ("web", "runner", "live", "tables", "templates", "static"))
    lack = f" (without {', '.join(lacking + more)}, which this environment lacks)" if lacking + more else ""
    both = base + model
    return [
        Row("installed size, the server", "≤ 200 MB", f"{base / 1e6:.0f} MB{lack}", "", base <= 200e6),
        Row(
            "installed size, with the engine and the model that come with it",
            "≤ 450 MB",
            f"{both / 1e6:.0f} MB{lack}",
            "",
            both <= 450e6,
        ),
    ]


def installed(lock: str) -> tuple[int, list[str]]:
    """Bytes on disk of the packages that LOCK lists, and those that are not there."""
    size, lacking = 0, []
    for line in (ROOT / lock).read_text().splitlines():
        name = line.split("==")[0].strip()
        if not name or name.startswith("#"):
            continue
        try:
            files = metadata.distribution(name).files or []
        except metadata.PackageNotFoundError:
            lacking.append(name)
            continue
        size += sum(os.lstat(path).st_blocks * 512 for file in files if os.path.lexists(path := file.locate()))
    return size, lacking


async def opening(up) -> list[Row]:
    """Opening chats in Chromium until the last message is there and the box is ready."""
    async with Parley(up.base) as parley, browser.chromium() as chromium:
        loads = {}
        for count in (50, 200, 10_000):
            page = await parley.open_page(count)
            await page.close()
            url = f"{parley.url}/conversations/{page.chat}"
            await measure.quiet_machine(30)
            loads[count] = [await browser.load(chromium, page.visitor, url, parley.box) for _ in range(LOADS)]
    times = {count: [run["s_to_last"] for run in runs] for count, runs in loads.items()}
    sizes = {count: runs[0]["total"] for count, runs in loads.items()}
    usual, ratio, weight = middle(times[200]), middle(times[10_000]) / middle(times[50]), sizes[10_000] / sizes[50]
    both = f"{middle(times[10_000]):.2f} ÷ {middle(times[50]):.2f} s"
    heavy = f"{sizes[10_000] / 1e3:.0f} ÷ {sizes[50] / 1e3:.0f} KB"
    return [
        Row(
            "opening a chat of 200 messages in Chromium",
            "≤ 0.7 s",
            f"{usual:.2f} s{spread(times[200])}",
            "",
            usual <= 0.7,
        ),
        Row("opening 10,000 items ÷ 50 items, time", "≤ 1.5", f"{ratio:.2f}: {both}", "", ratio <= 1.5),
        Row("opening 10,000 items ÷ 50 items, bytes", "≤ 1.5", f"{weight:.2f}: {heavy}", "", weight <= 1.5),
    ]


async def first_load(up) -> list[Row]:
    """What a browser with an empty cache fetches for its first page."""
    async with Parley(up.base) as parley, browser.chromium() as chromium:
        page = await parley.open_page()
        run = await browser.load(chromium, page.visitor, f"{parley.url}/conversations/{page.chat}", parley.box)
        await page.close()
    weight, requests = run["js"] + run["css"], run["requests"]
    scripts, styles, whole = (f"{run[part] / 1e3:.0f}" for part in ("js", "css", "total"))
    parts = f"{weight / 1e3:.0f} KB (scripts {scripts}, styles {styles}; everything {whole})"
    return [
        Row("first load, all scripts and styles, compressed", "≤ 80 KB", parts, "", weight <= 80e3),
        Row("first load, requests", "≤ 10", str(requests), "", requests <= 10),
    ]


async def browser_time(up) -> list[Row]:
    """Main-thread CPU of Chromium for 1,000 chunks of mixed at 50 a second, with 200 messages on the page."""
    async with browser.chromium() as chromium:
        async with Relay(up.base) as relay:
            floor = await browser.stream(chromium, relay, relay.url, relay.box, "mixed", 50.0, 200)
        async with Parley(up.base) as parley:
            page = await parley.open_page(200)
            await page.close()
            url, runs = f"{parley.url}/conversations/{page.chat}", []
            for _ in range(3):
                await measure.quiet_machine(30)
                runs.append(await browser.stream(chromium, page.visitor, url, parley.box, "mixed", 50.0, 200))
    tasks = [run["TaskDuration_ms_per_1000"] / 1e3 for run in runs]
    parts = {part: statistics.median(run[f"{part}_ms_per_1000"] / 1e3 for run in runs) for part in browser.METRICS[1:]}
    named = dict(zip(("script", "layout", "style"), parts.values(), strict=True))
    words = ", ".join(f"{name} {seconds:.2f}" for name, seconds in named.items())
    whole = all(run["ok"] for run in runs)
    measured = f"{middle(tasks):.2f} s{spread(tasks)}: {words}" + ("" if whole else "; NOT WHOLE")
    beside = f"{floor['TaskDuration_ms_per_1000'] / 1e3:.2f} s"
    return [
        Row(
            "browser main thread, 1,000 chunks of mixed, 200 messages on the page",
            "≤ 2.5 s",
            measured,
            beside,
            whole and middle(tasks) <= 2.5,
        )
    ]
