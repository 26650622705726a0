"""The rows of the table: each measures one budget of the design and says what came out."""

import asyncio
import os
import re
import sqlite3
import sys
import time
import uuid

import aiohttp
from benchlib import browser, corpus, measure, procs
from targets import Parley, Relay, answer

Row = tuple[str, str, str, str, str]  # what, budget, measured, beside it, met


def met(holds: bool) -> str:
    return "met" if holds else "MISSED"


async def side(make, up, work):
    """WORK(target, up) on a target of its own."""
    target = make(up.base)
    await target.start()
    try:
        return await work(target, up)
    finally:
        await target.stop()


async def streams(up) -> list[Row]:
    """The most streams of mixed Markdown at 50 chunks/s whose p95 lag stays within 250 ms."""
    ours = await side(Parley, up, lambda t, up: measure.saturate(t, up, "mixed", 110, cap=400))
    n = ours["max_streams"]
    return [("streams at 50 chunks/s, p95 lag ≤ 250 ms", "≥ 130, then 260", str(n), "", met(n >= 130))]


async def chunk(up) -> list[Row]:
    """Server CPU a chunk at 100 streams beside the paced relay, and the lag; each twice, in turn."""
    ours, floor = [], []
    for _ in range(2):
        floor.append(await side(Relay, up, lambda t, up: measure.streams(t, up, "mixed", 100, ramp=4)))
        ours.append(await side(Parley, up, lambda t, up: measure.streams(t, up, "mixed", 100, ramp=4)))
    best, base = (min(runs, key=lambda run: run["cpu_us_per_chunk"]) for runs in (ours, floor))
    ratio, lag = best["cpu_us_per_chunk"] / base["cpu_us_per_chunk"], best["lag_p95_ms"]
    one = await side(Parley, up, lambda t, up: measure.streams(t, up, "mixed", 1, rounds=3))
    low = sorted(run["lag_p50_ms"] for run in one)[1]
    beside = f"relay {base['cpu_us_per_chunk']:.0f} µs, p95 {base['lag_p95_ms']:.0f} ms"
    foreign = f"ok {best['ok']}/100, foreign {best['foreign_cores']:.2f}"
    note = f"{best['cpu_us_per_chunk']:.0f} µs, {ratio:.2f} × ({foreign})"
    return [
        ("server CPU a chunk, 100 streams, pages open", "≤ 2 × the paced relay", note, beside, met(ratio <= 2)),
        ("lag, 100 streams p95", "≤ 150 ms", f"{lag:.0f} ms", beside, met(lag <= 150)),
        ("lag, one stream p50", "≤ 50 ms", f"{low:.0f} ms", "", met(low <= 50)),
    ]


def kinds() -> dict[str, tuple[str, str]]:
    """Each kind of answer, and the same twice as long."""
    code = corpus.ANSWERS["code"].text.removesuffix("\n```\nENDMARK").removeprefix("```python\n")
    row, item = "| row {0} | {1} | some words |\n", "- item {0} with some words\n"
    head = "| a | b | c |\n|---|---|---|\n"

    def fence(text: str) -> str:
        return f"```python\n{text}\n```\nENDMARK"

    def many(n: int, line: str, head: str = "") -> str:
        return head + "".join(line.format(i, i * i) for i in range(n)) + "\nENDMARK"

    texts = {
        "prose": (corpus.PROSE, corpus.PROSE + "\n\n" + corpus.PROSE),
        "mixed": (corpus.MIXED, corpus.MIXED + "\n\n" + corpus.MIXED),
        "fence of 600 lines": (fence(code), fence(code + "\n" + code)),
        "table of 200 rows": (many(200, row, head), many(400, row, head)),
        "list of 200 items": (many(200, item), many(400, item)),
    }
    return texts


async def sent(up) -> list[Row]:
    """Bytes sent for an answer ÷ (bytes of its final HTML + 100 a frame)."""

    async def work(target, up) -> list[Row]:
        page = await target.open_page()
        rows = []
        for kind, texts in kinds().items():
            ratios = []
            for text in texts:
                name = "x" + uuid.uuid4().hex[:8]
                answer(name, text)
                ratios.append(await ratio_of(target, page, name))
            both = " / ".join(f"{ratio:.2f}" for ratio in ratios)
            rows.append((f"bytes ratio, {kind} / twice", "≤ 2.5", both, "1", met(max(ratios) <= 2.5)))
        return rows

    async with Local() as own:
        return await side(Parley, own, work)


async def ratio_of(target, page, name: str) -> float:
    turn = await page.ask(corpus.prompt(name, rate=200), 120)
    html = await target.owner.get(f"/conversations/{page.chat}")
    final = re.findall(r'<div class="content"[^>]*>(.*?)</div>\s*<footer', html, re.S)[-1]
    return sum(len(data.encode()) for _, data in turn.frames) / (len(final.encode()) + 100 * len(turn.frames))


class Local:
    """The upstream with answers of our own: it runs in this process, since the other has only the corpus."""

    async def __aenter__(self):
        import fake_openai

        self.port = procs.free_port()
        self.base = f"http://127.0.0.1:{self.port}/v1"
        self.task = asyncio.create_task(fake_openai.main(self.port))
        await procs.wait_http(self.base + "/models", 10)
        return self

    async def __aexit__(self, *_):
        self.task.cancel()


async def length(up) -> list[Row]:
    """The cost of a chunk in a long chat beside an empty one, and in a long answer beside a short one."""
    words = "The quick brown fox jumps over the lazy dog and runs on. "

    async def cost(target, page, name: str, rate: float) -> float:
        before = target.proc.cpu_fine()
        turn = await page.ask(corpus.prompt(name, rate=rate), 400)
        assert turn.ok, turn.error
        return (target.proc.cpu_fine() - before) * 1e6 / len(corpus.ANSWERS[name].chunks)

    async def work(target, up) -> list[Row]:
        page = await target.open_page()
        answer("long", "\n\n".join(words * 8 for _ in range(660)))
        answer("brief", "\n\n".join(words * 8 for _ in range(7)))
        full = await target.open_page()
        fill(target, full.chat, 10_000)
        await target.owner.get(f"/conversations/{full.chat}")
        empty = min([await cost(target, page, "mixed", 50) for _ in range(3)])
        filled = min([await cost(target, full, "mixed", 50) for _ in range(3)])
        short = min([await cost(target, page, "brief", 200) for _ in range(5)])
        tall = min([await cost(target, page, "long", 200) for _ in range(2)])
        more, longer = filled / empty, tall / short
        return [
            ("a chunk in 10,000 items ÷ in an empty chat", "≤ 1.2", f"{more:.2f}", "", met(more <= 1.2)),
            ("a chunk in a 300 KB answer ÷ in 3 KB", "≤ 1.5", f"{longer:.2f}", "", met(longer <= 1.5)),
        ]

    async with Local() as own:
        return await side(Parley, own, work)


def fill(target, chat: str, items: int) -> None:
    """Put ITEMS finished items into CHAT, written as a run would have left them."""
    db = sqlite3.connect(os.path.join(target.folder.name, "parley.db"), timeout=20)
    branch, person = db.execute("select branch from conversation where id = ?", (chat,)).fetchone()[0], ""
    rows = []
    for n, message in enumerate(corpus.history(items)):
        key = f"0000{n // 2:08d}{n % 2}{chat[-7:]}"
        run = f"0000{n // 2:08d}0{chat[-7:]}"
        kind = "user" if message["role"] == "user" else "text"
        rows.append((key, chat, kind, message["content"], run, branch, person))
    db.executemany(
        "insert into item(id, chat, kind, text, run, branch, person, name, input, output, file, files, model, state,"
        " done, created, sources, start, extra, usage) values (?,?,?,?,?,?,?,'','','','','','','',1,0,'',0,'','')", rows
    )
    db.commit()
    db.close()


async def pages(up) -> list[Row]:
    """Memory: idle, an open page, 5,000 idle pages."""

    async def work(target, up) -> list[Row]:
        await asyncio.sleep(4)
        idle = target.proc.rss()
        page = await target.open_page()
        html = await target.owner.get(f"/conversations/{page.chat}")
        url = f"{target.url}/conversations/{page.chat}/live?since=" + re.search(r'data-cursor="(\d+)"', html)[1]
        base, sockets = target.proc.rss(), []
        unbounded, jar = aiohttp.TCPConnector(limit=0), target.owner.session.cookie_jar
        async with aiohttp.ClientSession(connector=unbounded, cookie_jar=jar) as session:
            for _ in range(0, 5000, 50):
                opening = (session.ws_connect(url, headers={"Origin": target.url}, compress=0) for _ in range(50))
                sockets += await asyncio.gather(*opening)
            await asyncio.sleep(2)
            all_of_them = target.proc.rss()
        each = (all_of_them - base) / len(sockets)
        return [
            ("memory, idle", "≤ 100 MB", f"{idle / 1e6:.0f} MB", "21 MB", met(idle <= 100e6)),
            ("memory, an open page", "≤ 50 KB", f"{each / 1e3:.0f} KB", "18 KB", met(each <= 50e3)),
            ("memory, 5,000 idle pages", "≤ 350 MB", f"{all_of_them / 1e6:.0f} MB", "", met(all_of_them <= 350e6)),
        ]

    return await side(Parley, up, work)


async def start(up) -> list[Row]:
    """Start to the first page."""
    took = []
    for _ in range(5):
        target = Parley(up.base)
        took.append(await target.start())
        await target.stop()
    middle = sorted(took)[2]
    return [("start to first page", "≤ 1.5 s", f"{middle:.2f} s", "0.2 s", met(middle <= 1.5)), *size()]


def size() -> list[Row]:
    """Installed size of the environment that runs this, whatever else is in it."""
    whole = procs.dir_size(sys.prefix)
    return [("installed size of this environment", "≤ 200 MB, 450 with everything", f"{whole / 1e6:.0f} MB", "", "")]


async def opening(up) -> list[Row]:
    """Opening chats in Chromium, the first load, and the main thread while an answer streams."""

    async def work(target, up) -> list[Row]:
        chats = {n: (await target.open_page()).chat for n in (50, 200, 10_000)}
        for n, chat in chats.items():
            fill(target, chat, n)
        target.input_selector = "#text"
        target.browser_setup = lambda ctx: signed_in(ctx, target)
        loads, streamed = {}, None
        async with browser.chromium() as chromium:
            for n, chat in chats.items():
                runs = [await opened(chromium, target, f"{target.url}/conversations/{chat}") for _ in range(5)]
                loads[n] = sorted(runs, key=lambda run: run[0])[2]
            url = f"{target.url}/conversations/{chats[200]}"
            streamed = min([await browser.stream(chromium, target, url, "mixed", 50.0) for _ in range(2)], key=task)
        time_ratio, byte_ratio = (loads[10_000][i] / loads[50][i] for i in (0, 1))
        first, busy = loads[50], task(streamed)
        return [
            ("opening 200 messages in Chromium", "≤ 0.7 s", f"{loads[200][0]:.2f} s", "", met(loads[200][0] <= 0.7)),
            ("opening 10,000 items ÷ 50, time", "≤ 1.5", f"{time_ratio:.2f}", "", met(time_ratio <= 1.5)),
            ("opening 10,000 items ÷ 50, bytes", "≤ 1.5", f"{byte_ratio:.2f}", "", met(byte_ratio <= 1.5)),
            ("first load, scripts and styles", "≤ 80 KB", f"{first[2] / 1e3:.0f} KB", "", met(first[2] <= 80e3)),
            ("first load, requests", "≤ 10", str(first[3]), "", met(first[3] <= 10)),
            ("main thread, 1,000 chunks, 200 messages", "≤ 2.5 s", f"{busy / 1e3:.2f} s", "2.6 s", met(busy <= 2500)),
        ]

    return await side(Parley, up, work)


def task(run: dict) -> float:
    return run["TaskDuration_ms_per_1000"]


async def signed_in(ctx, target) -> None:
    cookies = [{"name": c.key, "value": c.value, "url": target.url} for c in target.owner.session.cookie_jar]
    await ctx.add_cookies(cookies)


async def opened(chromium, target, url: str) -> tuple[float, int, int, int]:
    """Seconds until the last message is there, bytes of the page, bytes of scripts and styles, requests."""
    ctx = await chromium.new_context(viewport=browser.VIEW)
    await target.browser_setup(ctx)
    page = await ctx.new_page()
    cdp = await ctx.new_cdp_session(page)
    weight = browser.Weight()
    await weight.attach(cdp)
    at = time.monotonic()
    await page.goto(url, wait_until="commit")
    await page.locator("#items .item").last.wait_for(state="attached")
    took = time.monotonic() - at
    await page.wait_for_timeout(500)
    found = weight.summary()
    await ctx.close()
    return took, found["by_kind"].get("Document", 0), found["js"] + found["css"], found["requests"]


ROWS = {
    **{"streams": streams, "chunk": chunk, "bytes": sent, "long": length},
    **{"pages": pages, "start": start, "open": opening},
}
