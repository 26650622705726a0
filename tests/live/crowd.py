"""A server with nothing but sockets, in a process of its own: `python -m tests.live.crowd` prints its port."""

from gevent import monkey

monkey.patch_all()

import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import flask_sock  # noqa: E402
import gevent  # noqa: E402
import greenlet  # noqa: E402
from flask import Flask, request  # noqa: E402
from gevent.pywsgi import WSGIServer  # noqa: E402
from simple_websocket import ConnectionClosed  # noqa: E402
from wsproto.connection import Connection  # noqa: E402

from live.handshake import accept  # noqa: E402
from live.socket import SOCKETS, Handler, Socket, close_all, keep_alive, text_frame  # noqa: E402

flask_sock.Server = Socket
app = Flask(__name__)
sock = flask_sock.Sock(app)
TOLD = {"dropped": 0, "most": 0, "raced": 0, "sent": 0}


@app.before_request
def only_our_pages() -> None:
    if request.endpoint == "guarded":
        accept(request.environ, request.args.get("own", ""))


@sock.route("/")
def stay(socket: Socket) -> None:
    socket.linger()


@sock.route("/guarded")
def guarded(socket: Socket) -> None:
    socket.linger()


@sock.route("/fails")
def fails(socket: Socket) -> None:
    socket.send("before")
    raise LookupError("this view is broken")


@sock.route("/leaves")
def leaves(socket: Socket) -> None:
    socket.send("all there is")


@sock.route("/much/<int:frames>")
def much(socket: Socket, frames: int) -> None:
    """12 MB in FRAMES frames, whatever the page does."""
    TOLD["sent"] = 0
    socket.most_waiting = 16 << 20
    for number in range(frames):
        socket.send(f"{number:08}" + "é" * (6_000_000 // frames))
    socket.send("after")
    TOLD["sent"] = frames
    socket.linger()


@sock.route("/big/<int:size>")
def big(socket: Socket, size: int) -> None:
    """One frame larger than any outbox, and news behind it."""
    socket.send("x" * size)
    for number in range(100):
        socket.send(str(number))
    socket.linger()


@sock.route("/race/<how>/<int:ticks>")
def race(socket: Socket, how: str, ticks: int) -> None:
    """Two greenlets send as fast as they can while the socket is closed in one of many ways, after some TICKS."""
    senders = [gevent.spawn(send_until_closed, socket) for _ in range(2)]
    gevent.spawn(end, socket, how, ticks)
    if how == "owner":
        gevent.sleep(0)
        socket.close(1012)
    socket.linger()
    gevent.joinall(senders, raise_error=True)
    TOLD["raced"] += 1


def send_until_closed(socket: Socket) -> None:
    while True:
        try:
            socket.send("x" * 100)
        except ConnectionClosed:
            return
        gevent.sleep(0)


def end(socket: Socket, how: str, ticks: int) -> None:
    for _ in range(ticks):
        gevent.sleep(0)
    if how == "server":
        socket.close(1012)
    elif how == "both":
        gevent.spawn(socket.close, 1012)
        socket.close(1013)
    elif how == "limit":
        socket.drop()


@app.post("/broadcast/<int:size>/<int:times>")
def broadcast(size: int, times: int) -> dict:
    """One shared frame of SIZE bytes to all, TIMES times; the milliseconds of CPU of each."""
    frame, costs = text_frame("x" * size), []
    for _ in range(times):
        begin = time.process_time()
        for page in [page for page in SOCKETS if page.connected]:
            try:
                page.send_frame(frame)
            except ConnectionClosed:
                TOLD["dropped"] += 1
            TOLD["most"] = max(TOLD["most"], page.waiting)
        costs.append(1000 * (time.process_time() - begin))
        gevent.sleep(0)
    return {"costs": costs}


@app.post("/goodbye")
def goodbye() -> dict:
    begin = time.monotonic()
    close_all()
    return {"seconds": time.monotonic() - begin, "left": len(SOCKETS)}


@app.get("/state")
def state() -> dict:
    resident = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return {"open": len(SOCKETS), "fds": len(os.listdir("/proc/self/fd")), "resident": resident, **TOLD}


@app.get("/alive")
def alive() -> dict:
    """What has not been freed, by kind."""
    gc.collect()
    found = gc.get_objects()
    kinds = {"sockets": Socket, "parsers": Connection, "handlers": Handler, "greenlets": greenlet.greenlet}
    return {name: sum(isinstance(x, kind) for x in found) for name, kind in kinds.items()} | {"all": len(found)}


if __name__ == "__main__":
    server = WSGIServer(("127.0.0.1", 0), app, log=None, handler_class=Handler)
    server.start()
    keep_alive(float(sys.argv[1]))
    print(server.server_port, flush=True)
    server.serve_forever()
