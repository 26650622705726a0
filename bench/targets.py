"""What is measured: Parley, and the bare relay beside it."""

import asyncio
import os
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
from benchlib import corpus, procs

ROOT = Path(__file__).parent
EACH = 15  # pages a person opens


class Turn:
    """One question and the frames that came until its answer was done."""

    def __init__(self) -> None:
        self.frames: list[tuple[float, str]] = []
        self.t_ask = time.monotonic()
        self.ok, self.error = False, ""

    @property
    def wire(self) -> int:
        return sum(len(data.encode()) + 4 for _, data in self.frames)


class Page:
    """One open page: its frames go to the turn that runs."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket, self.turn, self.done = socket, None, asyncio.Event()
        self.reader = asyncio.create_task(self.read())

    async def read(self) -> None:
        async for message in self.socket:
            now = time.monotonic()
            if self.turn is not None:
                self.turn.frames.append((now, message.data))
                if self.ended(message.data):
                    self.turn.ok = True
                    self.done.set()

    async def ask(self, prompt: str, limit: float) -> Turn:
        self.turn, self.done = Turn(), asyncio.Event()
        try:
            await self.send(prompt)
            await asyncio.wait_for(self.done.wait(), limit)
        except (TimeoutError, aiohttp.ClientError, RuntimeError) as why:
            self.turn.error = f"{type(why).__name__} {why}"
        turn, self.turn = self.turn, None
        return turn

    async def close(self) -> None:
        self.reader.cancel()
        await self.socket.close()


class RelayPage(Page):
    def ended(self, data: str) -> bool:
        return data == "\0"

    async def send(self, prompt: str) -> None:
        await self.socket.send_str(prompt)


class Relay:
    """The floor: each chunk of the model, as it is, to a websocket."""

    name, progress, venv = "relay", "chars", None

    def __init__(self, upstream: str, client: str = "paced") -> None:
        self.port = procs.free_port()
        self.env = {"UPSTREAM": upstream, "PORT": str(self.port), "RELAY_CLIENT": client, "RELAY_WS": "gevent"}

    async def start(self) -> float:
        at = time.monotonic()
        self.proc = procs.Proc([sys.executable, "relay_gevent.py"], env={**os.environ, **self.env}, cwd=str(ROOT))
        await procs.wait_http(f"http://127.0.0.1:{self.port}/", 30, self.proc.alive)
        self.session = aiohttp.ClientSession()
        return time.monotonic() - at

    async def open_page(self) -> RelayPage:
        return RelayPage(await self.session.ws_connect(f"http://127.0.0.1:{self.port}/ws", compress=0, max_msg_size=0))

    def decode(self, turn: Turn) -> tuple[list[tuple[float, int]], str]:
        points, shown = [], 0
        for at, data in turn.frames:
            shown += len(data) if data != "\0" else 0
            points.append((at, shown))
        return points, ""

    async def stop(self) -> None:
        await self.session.close()
        self.proc.stop()


class ParleyPage(Page):
    def __init__(self, socket: aiohttp.ClientWebSocketResponse, person: "Person", chat: str) -> None:
        self.person, self.chat = person, chat
        super().__init__(socket)

    def ended(self, data: str) -> bool:
        return bool(re.search(r'id="status" data-status="(idle|failed)"', data))

    async def send(self, prompt: str) -> None:
        await self.person.post(f"/conversations/{self.chat}/items", text=prompt)


class Person:
    """Somebody signed in."""

    def __init__(self, target: "Parley") -> None:
        self.target = target
        self.session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self.pages = 0

    async def post(self, path: str, **form: str) -> str:
        headers = {"Origin": self.target.url, "Content-Type": "application/x-www-form-urlencoded"}
        async with self.session.post(
            self.target.url + path, data=urlencode(form), headers=headers, allow_redirects=False
        ) as answer:
            if answer.status not in (204, 303):
                raise RuntimeError(f"{path}: {answer.status} {(await answer.text())[:200]}")
            return answer.headers.get("Location", "")

    async def get(self, path: str) -> str:
        async with self.session.get(self.target.url + path) as answer:
            return await answer.text()


class Parley:
    """The product, on a data folder of its own."""

    name, progress, venv = "parley", "alnum", None

    def __init__(self, upstream: str, **settings: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="parley-bench-")
        self.port = procs.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {
            **{"AI_URL": upstream, "AI_KEY": "none", "AI_MODEL": "fake-1", "CHAT_DATA": self.folder.name},
            **{"CHAT_PORT": str(self.port), "CHAT_RUNS": "2000", "CHAT_RUNS_PERSON": "2000"},
            **{"CHAT_PAGES_PERSON": "10000", **settings},
        }
        self.people: list[Person] = []

    async def start(self) -> float:
        at = time.monotonic()
        log = os.path.join(self.folder.name, "server.log")
        self.proc = procs.Proc(
            [sys.executable, "app.py"], env={**os.environ, **self.env}, cwd=str(ROOT.parent), log=log
        )
        took = await procs.wait_http(f"{self.url}/enter", 60, self.proc.alive) and time.monotonic() - at
        for _ in range(100):
            told = Path(log).read_text()
            if found := re.search(r"enter\?key=(\S+)", told):
                break
            await asyncio.sleep(0.05)
        self.owner = Person(self)
        await self.owner.post("/enter", key=found[1])
        return took

    async def open_page(self) -> ParleyPage:
        """A page on a conversation of its own, with one finished short answer in it."""
        at = await self.owner.post("/conversations", text="hello [[short rate=2000]]", client_id=uuid.uuid4().hex)
        return await self.follow(at.rsplit("/", 1)[1])

    async def follow(self, chat: str) -> ParleyPage:
        """A page that follows CHAT; waits until nothing runs in it."""
        for _ in range(400):
            html = await self.owner.get(f"/conversations/{chat}")
            if re.search(r'id="status" data-status="(idle|failed)"', html):
                break
            await asyncio.sleep(0.1)
        cursor = re.search(r'data-cursor="(\d+)"', html)[1]
        socket = await self.owner.session.ws_connect(
            f"{self.url}/conversations/{chat}/live?since={cursor}",
            headers={"Origin": self.url}, compress=0, max_msg_size=0,
        )
        return ParleyPage(socket, self.owner, chat)

    def decode(self, turn: Turn) -> tuple[list[tuple[float, int]], str]:
        from view import Seen

        seen, points = Seen(), []
        for at, data in turn.frames:
            points.append((at, seen.apply(data)))
        return points, ""

    async def stop(self) -> None:
        await self.owner.session.close()
        self.proc.stop()
        self.folder.cleanup()


def answer(name: str, text: str) -> corpus.Answer:
    """Add an answer of our own to the common ones."""
    corpus.ANSWERS[name] = corpus.Answer(name, text)
    return corpus.ANSWERS[name]
