"""The client in a process as the server is one: under gevent. Run with the model's address and the name of a part."""

from gevent import monkey

monkey.patch_all()

import resource  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import gevent  # noqa: E402

from runner import client  # noqa: E402
from runner.pieces import Failure, Server, Text  # noqa: E402
from runner.wire import Wire  # noqa: E402

SERVER = Server("The test server", sys.argv[1], "k", "m")


def said(words: str, pace: float = 0) -> str:
    found = client.ask(SERVER, [{"role": "user", "content": words}], pace=pace)
    return "".join(piece.text for piece in found if isinstance(piece, Text))


def stopped() -> None:
    """A run is stopped: before the head, within the answer, in the pause between two reads."""
    client.warm()
    for words in ("head", "answer", "pause"):
        run = gevent.spawn(said, words)
        gevent.sleep(0.3)
        began = time.monotonic()
        run.kill()
        print(words, run.dead and time.monotonic() - began < 0.1)


def together() -> None:
    """A hundred answers at once."""
    runs = [gevent.spawn(said, str(number)) for number in range(100)]
    gevent.joinall(runs)
    print(all(run.value == f"It is {number}" for number, run in enumerate(runs)))


def huge() -> None:
    """How many megabytes a flood takes."""
    said("warm up")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        print(len(said("flood", pace=0.001)))
    except Failure as why:
        print(type(why).__name__)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)


def secure() -> None:
    """TLS, with the authority whose certificate is in the file of the third argument."""
    plain = Wire.tls

    def tls(wire: Wire):
        context = plain(wire)
        context.load_verify_locations(sys.argv[3])
        return context

    Wire.tls = tls
    print(said("Hi"), said("Ho"))


{"stopped": stopped, "together": together, "huge": huge, "secure": secure}[sys.argv[2]]()
