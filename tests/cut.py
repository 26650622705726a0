"""A network between a browser and the server that a test can cut: a TCP relay on loopback.

    wire = Wire(port)          # wire.port leads to port
    wire.cut()                 # open connections break, new ones are refused
    wire.mend()
    wire.hold()                # bytes stop without a word, as on a lost radio link; wire.mend() lets them go on
"""

import contextlib
import socket
import threading


class Wire:
    """Relays 127.0.0.1:port to 127.0.0.1:to."""

    def __init__(self, to: int) -> None:
        self.to = to  # may be set later, before the first connection
        self.open: set[socket.socket] = set()
        self.up, self.flows = True, threading.Event()
        self.flows.set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut(self) -> None:
        self.up = False
        for end in list(self.open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        self.flows.clear()

    def mend(self) -> None:
        self.up = True
        self.flows.set()

    def close(self) -> None:
        self.mend()
        self.cut()
        self.listener.close()

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if not self.up:
                    near.close()
                    continue
                threading.Thread(target=self.join, args=(near,), daemon=True).start()

    def join(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self.to))
        except OSError:
            near.close()
            return
        self.open |= {near, far}
        threading.Thread(target=self.relay, args=(far, near), daemon=True).start()
        self.relay(near, far)

    def relay(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                self.flows.wait()
                sink.sendall(piece)
        for end in (source, sink):
            self.open.discard(end)
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
