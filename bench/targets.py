"""What is measured: Parley, and the bare relay beside it."""

import asyncio
import itertools
import os
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Self

import aiohttp
from benchlib import corpus, procs
from view import Seen

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.append(str(ROOT))

from database import database  # noqa: E402
from models import Conversation, Item, Person  # noqa: E402

PEOPLE = 20  # people who share the open pages
CURSOR = re.compile(r'data-cursor="(\d+)"')
RESTS = re.compile(r'id="status" data-status="(idle|failed)"')
OPEN_SOCKET = {"compress": 0, "max_msg_size": 0}


class Turn:
    """One question and the frames that came until its answer was done."""

    def __init__(self) -> None:
        self.frames: list[tuple[float, str]] = []
        self.t_ask = time.monotonic()
        self.ok, self.error = False, ""

    @property
    def size(self) -> int:
        """Bytes of the frames' payload."""
        return sum(len(text.encode()) for _, text in self.frames)


class Page:
    """One open page: its frames go to the turn that runs."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket, self.turn, self.done = socket, Turn(), asyncio.Event()
        self.reader = asyncio.create_task(self.read())

    async def read(self) -> None:
        async for message in self.socket:
            self.turn.frames.append((time.monotonic(), message.data))
            if self.ended(message.data):
                self.turn.ok = True
                self.done.set()

    async def ask(self, prompt: str, limit: float) -> Turn:
        """The turn that PROMPT begins; it ends after LIMIT seconds at the latest."""
        self.turn, self.done = Turn(), asyncio.Event()
        try:
            await self.send(prompt)
            await asyncio.wait_for(self.done.wait(), limit)
        except (TimeoutError, aiohttp.ClientError, RuntimeError) as why:
            self.turn.error = f"{type(why).__name__} {why}"
        turn, self.turn = self.turn, Turn()
        return turn

    async def close(self) -> None:
        self.reader.cancel()
        await self.socket.close()


class Target:
    """A server process of its own, ended with the `async with` it is used in."""

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


class RelayPage(Page):
    def ended(self, text: str) -> bool:
        return text == "\0"

    async def send(self, prompt: str) -> None:
        await self.socket.send_str(prompt)


class Relay(Target):
    """The floor: each chunk of the model, as it is, to a websocket. CLIENT is one of those of relay_gevent.py."""

    progress, box = "chars", "#text"

    def __init__(self, upstream: str, client: str = "paced") -> None:
        self.port = procs.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {"UPSTREAM": upstream, "PORT": str(self.port), "RELAY_CLIENT": client, "RELAY_WS": "gevent"}

    async def start(self) -> float:
        """Seconds until the first page."""
        at = time.monotonic()
        self.proc = procs.Proc([sys.executable, "relay_gevent.py"], env={**os.environ, **self.env}, cwd=str(HERE))
        await procs.wait_http(self.url, 60, self.proc.alive)
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        return time.monotonic() - at

    async def open_page(self) -> RelayPage:
        return RelayPage(await self.session.ws_connect(f"{self.url}/ws", **OPEN_SOCKET))

    async def prepare(self, context: object) -> None:
        """Nobody signs in here."""

    def decode(self, turn: Turn) -> list[tuple[float, int]]:
        """When the page showed how many characters."""
        sizes = itertools.accumulate(0 if text == "\0" else len(text) for _, text in turn.frames)
        return [(at, shown) for (at, _), shown in zip(turn.frames, sizes, strict=True)]

    async def stop(self) -> None:
        await self.session.close()
        self.proc.stop()


class ParleyPage(Page):
    def __init__(self, socket: aiohttp.ClientWebSocketResponse, visitor: "Visitor", chat: str) -> None:
        self.visitor, self.chat = visitor, chat
        super().__init__(socket)

    def ended(self, text: str) -> bool:
        return bool(RESTS.search(text))

    async def send(self, prompt: str) -> None:
        await self.visitor.post(f"/conversations/{self.chat}/items", text=prompt)


class Visitor:
    """Somebody signed in."""

    def __init__(self, url: str, person: Person) -> None:
        self.url, self.person = url, person
        jar, many = aiohttp.CookieJar(unsafe=True), aiohttp.TCPConnector(limit=0)
        self.session = aiohttp.ClientSession(cookie_jar=jar, connector=many, headers={"Origin": url})

    async def enter(self) -> None:
        await self.post("/enter", key=self.person.invite())

    async def post(self, path: str, **form: str) -> str:
        """Where the answer sends the page. Raises RuntimeError for a refusal."""
        async with self.session.post(
            self.url + path, data=form, headers={"HX-Request": "true"}, allow_redirects=False
        ) as answer:
            if answer.status not in (204, 303):
                said = re.sub(r"<[^>]*>|\s+", " ", await answer.text()).strip()
                raise RuntimeError(f"refused with {answer.status}: {said[:150]}")
            return answer.headers.get("HX-Redirect", "")

    async def get(self, path: str) -> str:
        async with self.session.get(self.url + path) as answer:
            return await answer.text()

    async def prepare(self, context: object) -> None:
        """Sign this person in in a browser."""
        jar = self.session.cookie_jar
        await context.add_cookies([{"name": c.key, "value": c.value, "url": self.url} for c in jar])

    async def socket(self, chat: str, html: str) -> aiohttp.ClientWebSocketResponse:
        """The socket of the page HTML of CHAT."""
        path = f"/conversations/{chat}/live?since={CURSOR.search(html)[1]}"
        return await self.session.ws_connect(self.url + path, **OPEN_SOCKET)


class Parley(Target):
    """The product, on a data folder of its own, with PEOPLE who open its pages in turn."""

    progress, box = "alnum", "#text"

    def __init__(self, upstream: str, **settings: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="parley-bench-")
        self.port = procs.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("CHAT_", "AI_"))}
        told = {"AI_URL": upstream, "AI_KEY": "none", "AI_MODEL": "fake-1", "CHAT_DATA": self.folder.name}
        wide = {
            "CHAT_PORT": str(self.port),
            "CHAT_RUNS": "2000",
            "CHAT_RUNS_PERSON": "2000",
            "CHAT_PAGES_PERSON": "9999",
        }
        self.env = {**clean, **told, **wide, **settings}

    async def start(self) -> float:
        """Seconds until the first page; signing people in is not counted."""
        at, log = time.monotonic(), os.path.join(self.folder.name, "server.log")
        program = [sys.executable, os.environ.get("PARLEY_APP", "app.py")]
        self.proc = procs.Proc(program, env=self.env, cwd=str(ROOT), log=log)
        await procs.wait_http(f"{self.url}/enter", 60, self.proc.alive)
        took = time.monotonic() - at
        database.open(Path(self.folder.name, "parley.db"))
        self.visitors = [Visitor(self.url, Person.join(f"Person {n}")) for n in range(PEOPLE)]
        await asyncio.gather(*(visitor.enter() for visitor in self.visitors))
        self.turns = itertools.cycle(self.visitors)
        return took

    async def open_page(self, older: int = 0) -> ParleyPage:
        """A page on a conversation of its own, with OLDER items and one short answer; nothing runs there any more."""
        visitor = next(self.turns)
        form = {"text": "hello [[short rate=2000]]", "client_id": uuid.uuid4().hex}
        chat = (await visitor.post("/conversations", **form)).rsplit("/", 1)[1]
        page = await self.follow(visitor, chat)
        if older:
            await page.close()
            self.fill(chat, older)
            page = await self.follow(visitor, chat)
        return page

    async def follow(self, visitor: Visitor, chat: str) -> ParleyPage:
        """A page of VISITOR on CHAT, when nothing runs there."""
        html = await visitor.get(f"/conversations/{chat}")
        page = ParleyPage(await visitor.socket(chat, html), visitor, chat)
        if not RESTS.search(html):
            await asyncio.wait_for(page.done.wait(), 60)
        return page

    def fill(self, chat: str, count: int) -> None:
        """COUNT finished items before what is in CHAT, as runs would have left them."""
        conversation = Conversation.get_by_id(chat)
        shared = {"chat": chat, "branch": conversation.branch, "done": True}
        rows = []
        for n, message in enumerate(corpus.history(count)):
            key, run = (f"0000{k // 2:08d}{k % 2}{chat[-7:]}" for k in (n, n - n % 2))
            asks = message["role"] == "user"
            who = {"kind": "user", "person": conversation_owner(chat)} if asks else {"kind": "text", "person": ""}
            rows.append({**shared, **who, "id": key, "run": run, "text": message["content"]})
        database.run(lambda: [Item.insert_many(rows[at : at + 500]).execute() for at in range(0, count, 500)])

    def decode(self, turn: Turn) -> list[tuple[float, int]]:
        """When the page showed how many letters and digits of answers."""
        seen = Seen()
        return [(at, seen.apply(text)) for at, text in turn.frames]

    async def stop(self) -> None:
        await asyncio.gather(*(visitor.session.close() for visitor in self.visitors))
        database.close()
        self.proc.stop()
        self.folder.cleanup()


def conversation_owner(chat: str) -> str:
    """The person who began CHAT."""
    return Item.select(Item.person).where(Item.chat == chat, Item.kind == "user").order_by(Item.id).scalar()
