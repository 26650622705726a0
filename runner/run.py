"""One answer: `step()` is `act(ask())` until nothing is asked."""

import json
import time

import gevent

from models import Conversation, Item
from runner import attached, client, context
from runner.choices import Models
from runner.pieces import Call, Failure, Reasoning, Text, Usage
from runner.retries import delay
from runner.writer import Writer, insist

MAX_TURNS = 8  # model calls with tools for one message
NOTICE_AFTER = 10.0  # seconds of silence before the page says that it still waits
STEP = 200  # items of the history after which others have a turn
INSTRUCTIONS = "You are a helpful assistant. Answer in Markdown."
CUT_SHORT = {"length": "length", "content_filter": "filtered"}  # finish reasons as an item's state


class Stopped(gevent.GreenletExit):
    """The person stopped the run."""


class Restarting(gevent.GreenletExit):
    """The server ends; the next one goes on."""


class Run:
    """The work that answers one wish."""

    def __init__(self, wish: Item, models: Models, writer: Writer) -> None:
        self.wish, self.models, self.writer = wish, models, writer
        self.conversation = Conversation.get_by_id(wish.chat)
        self.growing: Item | None = None
        self.told = False  # whether a notice may be on show
        self.turns = self.attempts = self.empty = self.said = 0
        self.shown = False  # whether this turn has shown anything
        self.ending = False

    def answer(self) -> bool:
        """Answer the wish, to its end whatever happens; whether it was answered well."""
        try:
            while self.step():
                pass
        except Stopped:
            self.end("stopped", "stopped")
        except Failure as why:
            self.end("failed", "incomplete", card(why))
        except Restarting:
            self.save()
        else:
            self.end("idle")
            return True
        return False

    def step(self) -> bool:
        """One turn of the model and what it asked for; whether another one is to follow."""
        if self.turns >= MAX_TURNS:
            raise Failure(
                who="Parley",
                why=f"I stopped after {MAX_TURNS} steps",
                advice="Send a message to let it go on.",
            )
        self.turns += 1
        return self.act(self.ask())

    # Asking

    def ask(self) -> list[Call]:
        """One turn of the model, tried again while that is wise and nothing was shown; its calls."""
        while True:
            self.shown = False
            try:
                return self.turn()
            except Failure as why:
                self.close("incomplete")
                wait = delay(self.attempts, why.wait) if why.again and not self.shown else None
                if wait is None:
                    raise
                self.attempts += 1
                self.tell(f"{why.who}: {why.why} Trying again in {wait:.0f} s.")
                gevent.sleep(wait)

    def turn(self) -> list[Call]:
        """Read one stream into items."""
        server = self.models.server(self.model)
        started, first, calls = time.monotonic(), 0.0, []
        waiting = gevent.spawn_later(NOTICE_AFTER, self.tell, f"Still waiting for {server.name}.")
        parameters = self.models.parameters(self.model, self.conversation.agent)
        limits = self.models.limits(self.model)
        messages = self.messages()
        self.said = context.tokens(messages)
        stream = client.ask(server, messages, parameters=parameters, limits=limits)
        try:
            for piece in stream:
                waiting.kill(block=False)
                first = first or time.monotonic() - started
                if isinstance(piece, Call):
                    calls.append(piece)
                elif isinstance(piece, Usage):
                    self.close(CUT_SHORT.get(piece.reason, ""), self.used(piece, first, started))
                else:
                    self.show(piece)
        finally:
            waiting.kill(block=False)
            stream.close()
        return self.checked(calls)

    def checked(self, calls: list[Call]) -> list[Call]:
        """CALLS; an answer that shows nothing is asked for once more."""
        if calls or self.shown:
            return calls
        self.empty += 1
        if self.empty > 1:
            raise Failure(
                who=self.models.server(self.model).name,
                why="The model wrote no answer.",
                advice="Ask again, or choose another model.",
            )
        return self.turn()

    def show(self, piece: Text | Reasoning) -> None:
        """PIECE grows the item of its kind."""
        kind = "text" if isinstance(piece, Text) else "reasoning"
        self.untell()
        if self.growing is None or self.growing.kind != kind:
            self.close("")
            self.growing = insist(lambda: self.conversation.add(self.wish, kind, model=self.model))
        self.shown = self.shown or kind == "text"
        self.writer.grow(self.growing.id, piece.text)

    def close(self, state: str, usage: str = "") -> None:
        """What grows ends, with STATE and USAGE."""
        self.untell()
        item, self.growing = self.growing, None
        if item:
            self.writer.close(item.id)
            insist(lambda: item.seal(state if item.kind == "text" else "", usage))

    def used(self, usage: Usage, first: float, started: float) -> str:
        """The numbers kept with an answer: tokens, and seconds to the first piece and to the last."""
        numbers = {"read": usage.read, "wrote": usage.wrote, "cached": usage.cached, "reasoning": usage.reasoning}
        took = {"said": self.said, "first": round(first, 3), "took": round(time.monotonic() - started, 3)}
        return json.dumps({**numbers, **took, "reason": usage.reason})

    def messages(self) -> list[dict]:
        instructions = self.models.instructions(self.conversation.agent) or INSTRUCTIONS
        room = self.models.room(self.model)
        items = self.history(room)
        files = attached.opened(items, self.models.sees(self.model), room // 4 or attached.MOST)
        said = items, self.wish, instructions, room, files
        return gevent.get_hub().threadpool.apply(context.messages, said)

    def history(self, room: int) -> list[Item]:
        """The items on show, at least the newest ROOM characters of them (0: all). Others have a turn meanwhile."""
        items, size = [], 0
        for item in self.conversation.fresh().path().back():
            items.append(item)
            size += len(item.text)
            if room and size > room and item.kind == "user":
                break
            if len(items) % STEP == 0:
                gevent.sleep(0)
        return Item.whole(items[::-1])

    @property
    def model(self) -> str:
        """The model of the wish; where one of an earlier answer is there no more, the usual one answers again."""
        gone = self.wish.kind == "retry" and not self.models.there(self.wish.model)
        return self.models.chosen("" if gone else self.wish.model, self.conversation.agent)

    # Acting

    def act(self, calls: list[Call]) -> bool:
        """Do what CALLS ask; whether the model is to be told. (No tool is offered yet, so each one is told so.)"""
        for call in calls:
            extra = json.dumps({"id": call.id, "extra": call.extra})
            columns = {"name": call.name, "input": call.arguments, "extra": extra, "done": True, "state": "failed"}
            text = f"There is no tool called {call.name}."
            insist(lambda columns=columns, text=text: self.conversation.add(self.wish, "call", text=text, **columns))
        return bool(calls)

    # Telling

    def tell(self, text: str) -> None:
        """Show a notice while the run waits."""
        self.untell()
        self.told = True
        insist(lambda: self.conversation.add(self.wish, "error", text=text, state="waiting"))

    def untell(self) -> None:
        """Take the notice away, also one that is only on its way into the log."""
        if self.told:
            self.told = False
            its = (Item.run == self.wish.id) & (Item.kind == "error") & (Item.done == 0)
            insist(lambda: Item.delete().where(its).execute())

    def end(self, status: str, outcome: str = "", error: Item | None = None) -> None:
        """The run ends with STATUS; what still grows is sealed with OUTCOME. A stop that comes now is too late."""
        self.ending = True
        try:
            self.save()
            insist(lambda: self.conversation.finish(self.wish, status, outcome, error))
        except Stopped:
            self.end(status, outcome, error)

    def save(self) -> None:
        if self.growing:
            self.writer.close(self.growing.id)


def card(why: Failure) -> Item:
    """A failure as the person sees it: who (`name`), why (`text`), what to do (`input`), their words (`output`)."""
    return Item(kind="error", name=why.who, text=why.why, input=why.advice, output=why.words, done=True)
