"""The process that answers with a model on this computer: llama.cpp's server on a free loopback port.

    python local_server.py FILE NAME IDLE

The key that callers must show is the first line of standard input, so no list of processes has it. Once the server
listens, its address is the first line of standard output. The process ends when standard input closes.
"""

import ctypes
import os
import select
import signal
import sys

import xllamacpp

CONTEXT = 8192  # tokens of prompt and answer together
LONGEST = 1024  # tokens of an answer when the caller names no limit; small models can repeat themselves for ever
CACHE = 64  # MiB of old prompts kept; llama.cpp's own default is 8192
PR_SET_PDEATHSIG = 1  # prctl(2)


def main(path: str, name: str, idle: int) -> None:
    """Serve the model of the file PATH as NAME; after IDLE seconds without a question its memory is given back."""
    end_with_the_parent(signal.SIGKILL)
    key = sys.stdin.readline().strip()
    if orphaned():
        os._exit(0)
    server = xllamacpp.Server(parameters(path, name, idle, key))
    end_with_the_parent(0)
    try:
        print(server.listening_address, flush=True)
        sys.stdin.read()
    finally:
        os._exit(0)  # at once: llama.cpp's threads would keep the process


def end_with_the_parent(signal_number: int) -> None:
    """Be sent SIGNAL_NUMBER when the thread that started this process ends; 0 for no more.

    Loading holds the interpreter, so a closed standard input would be seen only after it. From the greeting on that
    alone counts: the thread that waited for it may end and its process go on.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)


def orphaned() -> bool:
    """Whether the parent ended before it could be heard of: nobody holds the other end of standard input."""
    poll = select.poll()
    poll.register(sys.stdin, select.POLLHUP)
    return bool(poll.poll(0))


def parameters(path: str, name: str, idle: int, key: str) -> xllamacpp.CommonParams:
    """What llama.cpp is told."""
    told = xllamacpp.CommonParams()
    told.model.path, told.model_alias = path, {name}
    told.hostnames, told.port, told.api_keys = ["127.0.0.1"], 0, [key]
    told.n_ctx, told.n_predict, told.n_parallel = CONTEXT, LONGEST, 1
    told.cache_ram_mib, told.sleep_idle_seconds = CACHE, idle
    for threads in (told.cpuparams, told.cpuparams_batch):
        threads.n_threads = max(1, len(os.sched_getaffinity(0)) - 1)  # one core is the app's
        threads.poll = 0  # a waiting thread sleeps
    told.ui, told.offline, told.verbosity = False, True, 1
    return told


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
