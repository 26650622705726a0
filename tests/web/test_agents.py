"""Assistants: made, changed, copied, deleted and brought back; what they are told; whose they are."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from database import database
from models import Assistant, Conversation
from tests.place import Place, Visitor
from tests.scripted import END, Scripted, text


class World:
    """One server, the owner Olga, the members Ada and Ben."""

    def __init__(self, folder: Path) -> None:
        self.script = Scripted()
        self.script.always(lambda body: [text("Yes."), *END])
        self.place = Place(folder, self.script)
        self.olga = self.place.visitor("Olga", "owner")
        self.ada, self.ben = self.place.visitor("Ada"), self.place.visitor("Ben")

    def makes(self, who: Visitor, name: str, **form: str) -> Assistant:
        answer = who.client.post("/agents", data={"name": name, **form})
        assert answer.status_code == 303, answer.text
        return Assistant.get_by_id(re.search(r"/agents/(\w+)", answer.headers["Location"])[1])

    def asked(self) -> dict:
        """The last request for an answer."""
        return next(request.body for request in reversed(self.script.requests) if request.body.get("stream"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("agents"))
    yield found
    found.place.close()
    found.script.close()


def test_what_an_assistant_is_told_is_sent(world: World):
    form = {"instructions": "You are a gardener.", "temperature": "0,3", "max_tokens": "500", "effort": "low"}
    gardener = world.makes(world.ada, "  Gardener\n", **form)
    assert gardener.name == "Gardener" and gardener.person == world.ada.person.id
    page = world.ada.client.get(f"/agents/{gardener.id}").text
    assert 'value="0.3"' in page and 'value="500"' in page and 'value="low" selected' in page
    chat = world.ada.begins("When do roses need water?", agent=gardener.id)
    world.place.settled(chat)
    sent = world.asked()
    assert sent["messages"][0] == {"role": "system", "content": "You are a gardener."}
    assert (sent["temperature"], sent["max_tokens"], sent["reasoning_effort"]) == (0.3, 500, "low")
    assert f'href="/agents/{gardener.id}"' in world.ada.sees(chat), "the head says whom one talks to"


def test_what_a_server_does_not_take_is_left_out(world: World):
    thinker = world.makes(world.ada, "Thinker", temperature="0.4", effort="high")
    world.script.refuses(400, "Unsupported value: 'temperature' does not support 0.4 with this model.")
    world.script.refuses(400, "Unrecognized request argument supplied: reasoning_effort")
    world.script.says("As you wish.")
    chat = world.ada.begins("Think", agent=thinker.id)
    world.place.settled(chat)
    assert world.place.texts(chat) == ["As you wish."]
    assert {"temperature", "reasoning_effort"}.isdisjoint(world.asked())


def test_a_copy_is_ones_own_and_the_original_stays(world: World):
    everybodys = world.makes(world.olga, "Editor", instructions="Mend my text.", **{"for": "everybody"})
    assert everybodys.person == ""
    page = world.ada.client.get(f"/agents/{everybodys.id}").text
    assert "Mend my text." in page and "<textarea" not in page, "a member reads it"
    where = world.ada.client.post(f"/agents/{everybodys.id}/copy").headers["Location"]
    mine = Assistant.get_by_id(where.rsplit("/", 1)[1])
    assert (mine.name, mine.instructions) == ("Editor (copy)", "Mend my text.")
    assert mine.person == world.ada.person.id
    assert world.ada.client.post(where, data={"name": "Mine"}).status_code == 303
    assert Assistant.get_by_id(everybodys.id).name == "Editor"
    assert world.ben.client.get(where).status_code == 404, "and nobody else's"
    assert "Editor (copy)" not in world.ben.client.get("/agents").text
    assert world.ada.client.post("/agents", data={"name": "All", "for": "everybody"}).status_code == 403


def test_a_deleted_assistant_comes_back_or_leaves_its_name(world: World):
    cook = world.makes(world.ada, "Cook", instructions="Secret sauce")
    chat = world.ada.begins("What is for dinner?", agent=cook.id)
    world.place.settled(chat)
    assert "1 conversation was had with it" in world.ada.client.get(f"/agents/{cook.id}").text
    deleted = world.ada.client.post(f"/agents/{cook.id}/delete").headers["Location"]
    assert "Cook</bdi> was deleted" in world.ada.client.get(deleted).text
    assert world.ada.client.get(f"/agents/{cook.id}").status_code == 404
    assert world.ada.client.post("/conversations", data={"text": "x", "agent": cook.id}).status_code == 404
    assert "Cook</bdi> (deleted)" in world.ada.sees(chat)
    world.ada.asks(chat, "And now?")
    world.place.settled(chat)
    assert "Secret sauce" not in str(world.asked()), "the usual assistant goes on"

    assert world.ada.client.post(f"/agents/{cook.id}/restore").status_code == 303
    world.ada.asks(chat, "And now?")
    world.place.settled(chat)
    assert "Secret sauce" in str(world.asked())

    world.ada.client.post(f"/agents/{cook.id}/delete")
    other = world.makes(world.ada, "Nobody's")
    world.ada.client.post(f"/agents/{other.id}/delete")
    database.run(lambda: Assistant.sweep(before=time.time() + 1))
    assert Assistant.get_by_id(cook.id).instructions == "" and "Cook</bdi> (deleted)" in world.ada.sees(chat)
    assert Assistant.find(Assistant.id == other.id) is None


def test_there_is_always_one_for_everybody(world: World):
    everybodys = list(Assistant.seen_by("").where(Assistant.person == ""))
    answers = [world.olga.client.post(f"/agents/{agent.id}/delete") for agent in everybodys]
    assert [answer.status_code for answer in answers] == [*[303] * (len(everybodys) - 1), 400]
    assert "the only assistant that everybody has" in answers[-1].text
    for agent in everybodys[:-1]:
        world.olga.client.post(f"/agents/{agent.id}/restore")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"name": " \n "}, "needs a name"),
        ({"name": "x" * 81}, "at most 80 characters; this one has 81"),
        ({"temperature": "hot"}, "“hot” is none"),
        ({"temperature": "nan"}, "number from 0 to 2"),
        ({"temperature": "2.1"}, "number from 0 to 2"),
        ({"max_tokens": "0"}, "whole number from 1 to 1,000,000"),
        ({"max_tokens": "1.5"}, "whole number"),
        ({"max_tokens": "9" * 5000}, "whole number"),
        ({"effort": "heroic"}, "one of minimal, low"),
        ({"model": "gpt-none"}, "no model called “gpt-none”"),
        ({"instructions": "x" * 100_001}, "at most 100,000 characters"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_typed_is_lost(world: World, form: dict[str, str], words: str):
    before = Assistant.select().count()
    typed = {"name": "Fit", "instructions": "Long <thought> words"} | form
    answer = world.ada.client.post("/agents", data=typed)
    assert answer.status_code == 400 and words in answer.text
    if "instructions" not in form:
        assert "Long &lt;thought&gt; words" in answer.text
    told = world.ada.client.post("/agents", data=typed, headers={"Accept": "application/json"})
    assert told.status_code == 400 and words in told.json()["error"]["message"]
    assert Assistant.select().count() == before


def test_the_first_screen_offers_assistants_and_words(world: World):
    baker = world.makes(world.ben, "Baker", instructions="Bread only.")
    home = world.ben.client.get("/").text
    assert f'href="/?agent={baker.id}"' in home and "Bread only." in home
    assert "Going on now" in home and 'id="going-' not in home
    opener = re.search(r'href="(/\?agent=\w+&amp;text=[^"]+)"', home)[1].replace("&amp;", "&")
    assert "Explain how tides work, so that a child understands it.</textarea>" in world.ben.client.get(opener).text
    world.ben.client.post("/draft", data={"text": "Half a thought"})
    both = world.ben.client.get(f"/?agent={baker.id}&text=Bread").text
    assert "Half a thought\n\nBread</textarea>" in both, "a draft is never lost"
    assert re.search(rf'<option value="{baker.id}"[^>]* selected>Baker', both)
    assert world.ada.client.get(f"/?agent={baker.id}").status_code == 404

    gate = world.script.gate()
    world.script.when("dough").plays(text("Wait"), gate, *END)
    chat = world.ben.begins("Is the dough ready?")
    world.place.until(lambda: Conversation.get_by_id(chat).status == "working")
    assert f'id="going-{chat}"' in world.ben.client.get("/").text
    gate.open()
    world.place.settled(chat)
