"""The models on this computer, with the real one that comes with Parley."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import psutil
import pytest

from runner.local import PROGRAM, LocalFailure, LocalModel, LocalServer, embedded, models

pytestmark = pytest.mark.real


@pytest.fixture
def demo() -> LocalModel:
    (model,) = embedded()
    return model


@pytest.fixture
def server():
    server = LocalServer()
    yield server
    server.stop()


QUESTION = "What is the capital of France? Answer in one sentence."


def ask(address: tuple[str, str], text: str = QUESTION, **parameters: object) -> list[dict]:
    """The events of a streamed answer."""
    url, key = address
    wish = {"messages": [{"role": "user", "content": text}], "stream": True, "temperature": 0, "max_tokens": 40}
    wish |= parameters
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(wish).encode())
    request.add_header("Authorization", f"Bearer {key}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def said(events: list[dict]) -> str:
    return "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if str(PROGRAM) in child.cmdline()]


def test_the_demo_model_comes_with_parley_and_is_the_last_choice(tmp_path, demo):
    (tmp_path / "models").mkdir()
    for name in ("Qwen-7B.gguf", "big-00001-of-00002.gguf", "big-00002-of-00002.gguf", "mmproj-Qwen.gguf", "notes.txt"):
        (tmp_path / "models" / name).touch()

    found = models(str(tmp_path), "/elsewhere/Mine.gguf")

    assert [model.id for model in found] == ["local:Mine", "local:Qwen-7B", "local:big", "local:smollm2-135m"]
    assert [model.demo for model in found] == [False, False, False, True]
    assert (found[0].name, found[-1].name) == ("Mine", "Demo model (SmolLM2 135M)")
    assert found[-1] == demo


def test_a_file_named_at_the_start_stands_for_one_of_the_same_name(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "Mine.gguf").touch()
    assert [model.path for model in models(str(tmp_path), "/elsewhere/Mine.gguf")][:-1] == ["/elsewhere/Mine.gguf"]


def test_the_demo_model_answers_piece_by_piece(server, demo):
    events = ask(server.address(demo))
    assert "Paris" in said(events)
    assert len(events) > 5


def test_a_wrong_key_is_refused(server, demo):
    url, key = server.address(demo)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask((url, key[::-1]))
    assert key not in " ".join(server.child.args)


def test_only_this_computer_can_reach_it(server, demo):
    server.address(demo)
    listening = [c.laddr.ip for c in psutil.Process(server.child.pid).net_connections() if c.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


def test_two_who_ask_at_once_get_one_child(server, demo):
    answers = []
    askers = [threading.Thread(target=lambda: answers.append(server.address(demo))) for _ in range(2)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert len(answers) == 2 and answers[0] == answers[1]
    assert [child.pid for child in children()] == [server.child.pid]
    assert said(ask(answers[0])), "it outlives the thread that started it"


def test_a_child_that_was_killed_comes_back(server, demo):
    first = server.address(demo)
    server.child.kill()
    server.child.wait()

    second = server.address(demo)
    assert second != first
    assert "Paris" in said(ask(second))


def test_another_model_takes_the_place_of_the_first(server, demo, tmp_path):
    other = tmp_path / "Other.gguf"
    other.symlink_to(demo.path)
    server.address(demo)

    server.address(models(str(tmp_path), str(other))[0])
    assert {event["model"] for event in ask(server.address(server.model))} == {"Other"}
    assert len(children()) == 1


def test_an_answer_ends_before_another_model_takes_its_place(server, demo, tmp_path):
    other = tmp_path / "Other.gguf"
    other.symlink_to(demo.path)
    address, answers = server.address(demo), []
    long = {"max_tokens": 150, "ignore_eos": True}
    asker = threading.Thread(target=lambda: answers.append(ask(address, "Tell a story.", **long)))
    asker.start()
    wait(server._answering)

    server.address(models(str(tmp_path), str(other))[0])
    asker.join()
    assert answers[0][-1]["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "There is no file"),
        (b"hello", "llama.cpp could not load it: .*failed to load model"),
        (b"GGUF" + bytes(60), "llama.cpp could not load it: "),
    ],
    ids=["missing", "text", "empty model"],
)
def test_a_file_that_is_no_model_is_refused_in_words(server, tmp_path, content, words):
    path = tmp_path / "Bad.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LocalFailure, match=words):
        server.address(models(str(tmp_path), str(path))[0])
    assert children() == []


def test_unused_it_gives_its_memory_back_and_wakes_for_the_next_question(demo):
    server = LocalServer(idle=1)
    address = server.address(demo)
    ask(address)
    process = psutil.Process(server.child.pid)
    awake = process.memory_info().rss

    wait(lambda: process.memory_info().rss < awake / 3)
    assert "Paris" in said(ask(address))
    server.stop()
    assert not process.is_running()


PARENT = """
import sys
from gevent import monkey
monkey.patch_all()
import gevent
from runner.local import LocalServer, embedded
gaps, server = [], LocalServer()
def watch():
    import time
    while True:
        before = time.monotonic()
        gevent.sleep(0.005)
        gaps.append(time.monotonic() - before)
gevent.spawn(watch)
gevent.sleep(0.05)
askers = [gevent.spawn(server.address, embedded()[0]) for _ in range(2)]
if "loading" not in sys.argv:
    gevent.joinall(askers, raise_error=True)
else:
    gevent.sleep(0.1)
print(server.child.pid, max(gaps), flush=True)
gevent.sleep(60)
"""


@pytest.mark.parametrize("moment", ["listening", "loading"])
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM])
def test_no_child_is_left_when_its_parent_is_killed(moment, blow):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, moment], stdout=subprocess.PIPE, text=True)
    child, _ = parent.stdout.readline().split()
    child = psutil.Process(int(child))
    assert child.is_running()

    os.kill(parent.pid, blow)
    parent.communicate()
    wait(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_child_whose_parent_ended_before_it_woke_ends_too():
    program = [sys.executable, "-I", str(PROGRAM), embedded()[0].path, "name", "600"]
    ended = subprocess.run(program, input="key\n", capture_output=True, text=True, timeout=15)
    assert (ended.returncode, ended.stdout) == (0, ""), "it did not even load"


def test_the_pages_go_on_while_it_loads():
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    _, gap = parent.stdout.readline().split()
    parent.kill()
    parent.communicate()
    assert float(gap) < 0.25, "loading takes 0.5 s and more; none of it may stop the hub"


def wait(condition, within: float = 15.0) -> None:
    """Return once CONDITION holds; other processes ring no bell."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
