"""The agent's side: waits on the feed and runs one greenlet for each wish whose turn it is."""

import logging
from collections import Counter

import gevent
from gevent import Greenlet

import feed
from database import Full, Locked, write
from models import Conversation, Item
from runner import client, titles
from runner.choices import Models
from runner.pieces import Failure
from runner.run import Restarting, Run, Stopped, card
from runner.writer import Writer, insist
from settings import Settings

log = logging.getLogger("parley.runner")


class Runner:
    """Runs the agents in the background, at most `settings.runs` at once."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models = Models(settings)
        self.writer = Writer()
        self.runs: dict[str, tuple[Run, Greenlet]] = {}  # by conversation
        self.naming: dict[str, Greenlet] = {}
        self.greenlets: list[Greenlet] = []

    def start(self) -> None:
        """Go on where the last server ended, then serve."""
        self.models.list()
        for wish in Conversation.wishes("running"):
            Conversation.get_by_id(wish.chat).recover()
        self.greenlets = [gevent.spawn(self.serve), gevent.spawn(self.writer.serve), gevent.spawn(client.warm)]

    def stop(self) -> None:
        """Save what grows and end; the next server goes on."""
        gevent.killall(self.greenlets[:1])
        gevent.killall([greenlet for _, greenlet in self.runs.values()], exception=Restarting, timeout=5)
        gevent.killall([*self.greenlets, *self.naming.values()], timeout=1)
        self.models.child.stop()

    def serve(self) -> None:
        """Look at the log whenever it changes or a place is free."""
        with feed.bell() as bell:
            while True:
                bell.clear()
                self.look()
                bell.wait(feed.POLL)

    def look(self) -> None:
        """Do what is due. A catch-all: one wish that cannot be begun must not stop the others."""
        try:
            if Conversation.due():
                self.stop_runs()
                self.start_runs()
        except (Locked, Full) as why:
            log.warning("waiting for the database: %s", why)
        except Exception:
            log.exception("the runner stumbled")
            gevent.sleep(1)

    def stop_runs(self) -> None:
        """See to the wishes to stop."""
        for stop in Conversation.stops():
            run, greenlet = self.runs.get(stop.chat, (None, None))
            if stop.chat in self.naming:
                self.naming[stop.chat].kill(Stopped, block=False)
            if run is None:
                self.stopped(stop)
            elif not run.ending:
                run.ending = True
                greenlet.kill(Stopped, block=False)

    @write
    def stopped(self, stop: Item) -> None:
        """No run to stop here: a wish that still waits for its place is given up."""
        conversation = Conversation.get_by_id(stop.chat)
        wish = conversation.open_wish()
        if wish:
            conversation.finish(wish, "stopped")
        Item.update(done=True).where(Item.id == stop.id).execute()

    def start_runs(self) -> None:
        """Begin the runs there is room for, the longest waiting first."""
        people = Counter(run.wish.person for run, _ in self.runs.values())
        for wish in Conversation.waiting():
            room = len(self.runs) < self.settings.runs and people[wish.person] < self.settings.runs_person
            if room and wish.chat not in self.runs and Conversation.get_by_id(wish.chat).claim(wish):
                people[wish.person] += 1
                run = Run(wish, self.models, self.writer)
                self.runs[wish.chat] = (run, gevent.spawn(self.run, run))
                gevent.sleep(0)  # it begins: a greenlet that is killed before its first step never ends its wish

    def run(self, run: Run) -> None:
        """Answer a wish. A catch-all: whatever else goes wrong, the person sees it."""
        try:
            if run.answer() and self.nameless(run):
                self.naming[run.wish.chat] = gevent.spawn(self.name, run)
        except Exception as why:
            log.exception("a run failed")
            fault = Failure(
                who="Parley",
                why=f"Something in Parley itself failed: {type(why).__name__}.",
                advice="Ask again. If it happens once more, the server's log says more.",
            )
            insist(lambda: run.conversation.finish(run.wish, "failed", "incomplete", card(fault)))
        finally:
            self.runs.pop(run.wish.chat, None)
            feed.ring()

    def nameless(self, run: Run) -> bool:
        """Whether RUN's conversation is to be named, by its model, and nobody does so already."""
        idle = run.wish.chat not in self.naming
        return idle and titles.due(run.conversation) and self.models.titles(run.model)

    def name(self, run: Run) -> None:
        try:
            titles.name(run.conversation, run.wish, self.models.server(run.model))
        except Failure as why:
            log.info("no title: %s", why)
        finally:
            self.naming.pop(run.wish.chat, None)
