"""Which model answers, and where it runs."""

import re

from database import write
from models import Assistant, Choice
from runner.client import Limits
from runner.local import LocalFailure, LocalModel, LocalServer, models
from runner.pieces import Failure, Server
from settings import Settings

LOCAL_GROUP = "On this computer"
LOCAL_PARAMETERS = {"max_tokens": 1024, "temperature": 0.2}
SENT_AS = {"effort": "reasoning_effort"}  # a parameter's name in the chat completions interface
LOCAL_FIRST = 300.0  # seconds a local model may take to begin: it reads slowly and answers one at a time
LOCAL_ROOM = 8000  # characters of history that a small local model is given
CHARACTERS = 4  # of a token, about
SEEING = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|\bo[134]\b(?!-mini)|o4-mini|claude|gemini|pixtral|llava|gemma-?[34]|llama-?4"
    r"|grok-[4-9]|mistral-(small|medium)-3|internvl|minicpm-v|kimi-vl|glm-4\.[15]v|\bvl\b|vision|-vl-|\d-?vl"
)  # models that are known to take pictures
DEMO_NOTE = "A small model that shows how Parley works. Set AI_URL to add a better one."


class Models:
    """The models of this installation: those on this computer and those of AI_URL."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.local: dict[str, LocalModel] = {m.id: m for m in models(str(settings.data), settings.model_file)}
        self.child = LocalServer()
        self.far = Limits(settings.first_byte, settings.silence, settings.longest)
        self.near = self.far._replace(first=max(LOCAL_FIRST, settings.first_byte))

    @write
    def list(self) -> None:
        """Write the table of choices."""
        Choice.delete().execute()
        if self.settings.ai_url:
            name = self.default
            Choice.create(id=name, name=name, group=self.host, sees=self.sees(name))
        for model in self.local.values():
            note = DEMO_NOTE if model.demo else ""
            room = self.room(model.id) // CHARACTERS
            Choice.create(id=model.id, name=model.name, group=LOCAL_GROUP, note=note, room=room)

    @property
    def host(self) -> str:
        return self.settings.ai_url.split("//")[-1].split("/")[0]

    def chosen(self, model: str, agent: str) -> str:
        """The model that answers when the person chose MODEL ("" none) and talks to AGENT ("" the default)."""
        assistant = Assistant.answering(agent)
        return model or (assistant.model if assistant else "") or self.default

    @property
    def default(self) -> str:
        if self.settings.ai_url:
            return self.settings.ai_model or "default"
        return next(iter(self.local), "")

    def there(self, model: str) -> bool:
        """Whether somebody may answer as MODEL: the far server is asked for any name."""
        return model in self.local or bool(self.settings.ai_url and not model.startswith("local:"))

    def server(self, model: str) -> Server:
        """Where MODEL answers; a local one is started. Raises Failure when there is none."""
        if model in self.local:
            return self._local(self.local[model])
        if model and self.there(model):
            return Server(self.host, self.settings.ai_url, self.settings.ai_key, model)
        raise Failure(
            who="Parley",
            why=f"There is no model called {model}." if model else "There is no model to answer with.",
            advice="Set AI_URL and AI_MODEL, or put a GGUF file into the data folder's models folder.",
        )

    def _local(self, model: LocalModel) -> Server:
        try:
            address, key = self.child.address(model)
        except LocalFailure as why:
            raise Failure(who=model.name, why=str(why), advice="Choose another model, or look at the log.") from why
        return Server(model.name, address, key, model.id.removeprefix("local:"))

    def limits(self, model: str) -> Limits:
        """How long MODEL may take."""
        return self.near if model in self.local else self.far

    def room(self, model: str) -> int:
        """Characters of history MODEL is given; 0 is all."""
        return LOCAL_ROOM if model in self.local else 0

    def sees(self, model: str) -> bool:
        """Whether MODEL takes pictures: as the settings say, else by its name."""
        if self.settings.ai_sees or model in self.local:
            return self.settings.ai_sees == "1" and model not in self.local
        return bool(SEEING.search(model.lower()))

    def parameters(self, model: str, agent: str) -> dict[str, float | int | str]:
        """What is sent with a request to MODEL: what suits a local one, then what AGENT wants."""
        assistant = Assistant.answering(agent)
        wanted = assistant.settings if assistant else {}
        usual = LOCAL_PARAMETERS if model in self.local else {}
        return usual | {SENT_AS.get(name, name): value for name, value in wanted.items()}

    def titles(self, model: str) -> bool:
        """Whether MODEL may name conversations; the demo model cannot."""
        return not (model in self.local and self.local[model].demo)

    def instructions(self, agent: str) -> str:
        assistant = Assistant.answering(agent)
        return assistant.instructions if assistant else ""
