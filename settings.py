"""What this installation is told: read once from the environment, frozen afterwards."""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit


class BadSettings(Exception):
    """The environment says something Parley does not understand; the text says what and what to do."""

MOST = 10**9


class Address(str):
    """A web address with its origin as browsers write it (RFC 6454, 6.2), without a slash at its end; or ""."""

    def __new__(cls, value: str) -> Self:
        parts = urlsplit(value)
        if value and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError(value)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = "" if parts.port in (None, usual) else f":{parts.port}"
        return super().__new__(cls, f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}" if value else "")


@dataclass(frozen=True)
class Settings:
    """Each field is the environment variable of its name in capitals, `CHAT_` before it unless it starts with AI."""

    data: Path = Path("data")  # the folder of the database, uploads and models
    host: str = "127.0.0.1"  # the address the server listens on
    port: int = 8100  # the port it listens on; 0 picks a free one
    public_url: Address = Address("")  # how browsers reach it, when that is not http://HOST:PORT
    runs: int = 200  # answers written at once, in all
    runs_person: int = 20  # answers written at once for one person
    pages_person: int = 20  # open pages of one person
    file_size: int = 25  # megabytes of an attached file
    files_message: int = 10  # files of a message
    files_person: int = 1000  # megabytes of all files of one person
    model_file: str = ""  # a GGUF file to answer with on this computer
    first_byte: float = 60.0  # seconds a model server may take to begin an answer
    silence: float = 60.0  # seconds it may be silent within an answer
    longest: float = 600.0  # seconds a whole answer may take
    private_plugins: str = ""  # "1" lets plugins reach private addresses
    ai_url: Address = Address("")  # an OpenAI-compatible server, its address with /v1
    ai_key: str = ""  # its key
    ai_model: str = ""  # the model it answers with by default
    ai_sees: str = ""  # "1" its models see pictures, "0" they do not; "" their names tell

    @classmethod
    def from_environ(cls, environ: dict[str, str] = os.environ) -> "Settings":
        """The settings of ENVIRON. Raises BadSettings for an unknown CHAT_ name or a value of the wrong kind."""
        known = {variable(f.name): f for f in fields(cls)}
        unknown = sorted(name for name in environ if name.startswith("CHAT_") and name not in known)
        if unknown:
            raise BadSettings(f"There is no setting called {unknown[0]}. Known are: {', '.join(sorted(known))}.")
        told = {name for name in known.keys() & environ.keys() if environ[name].strip()}
        return cls(**{known[name].name: parsed(known[name].type, name, environ[name]) for name in told})

    def __post_init__(self) -> None:
        """Raises BadSettings for a value that nothing can be done with."""
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name == "port" else 1
            if isinstance(value, (int, float)) and not least <= value <= (65535 if field.name == "port" else MOST):
                raise BadSettings(f"{variable(field.name)} is {value}; it must be at least {least} and not that big.")
        if self.ai_sees not in ("", "0", "1"):
            raise BadSettings(f"AI_SEES is {self.ai_sees!r}; it is 1, 0 or empty.")

    def url(self, port: int) -> str:
        """How a browser reaches the server that listens on PORT."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{port}"

    @property
    def database(self) -> Path:
        return self.data / "parley.db"


KINDS = {int: "whole number", float: "number", Address: "web address such as https://example.org", Path: "path"}


def variable(field: str) -> str:
    """The environment variable of a field: AI_URL for ai_url, CHAT_PORT for port."""
    return field.upper() if field.startswith("ai_") else f"CHAT_{field.upper()}"


def parsed(kind: type, name: str, value: str) -> object:
    """VALUE as KIND. Raises BadSettings in words."""
    try:
        return kind(value.strip())
    except ValueError:
        raise BadSettings(f"{name} is {value!r}, which is no {KINDS[kind]}.") from None
