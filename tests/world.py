"""The demo world: two people, two roles, and conversations in each state. `bin/seed` fills a data folder with it."""

import sys

from database import database
from models import Conversation, Item, Membership, Person, migrate
from settings import Settings

ANSWER = """The roses need water in the morning, **before** the sun is high.

1. Loosen the soil a little.
2. Give each plant about 5 litres.
3. Cover the ground with straw.

| Bed | Litres | Days |
|---|---:|---|
| north | 40 | Monday, Thursday |
| south | 25 | Friday |

```python
def litres(plants: int, each: float = 5.0) -> float:
    return plants * each
```
"""


def fill() -> dict[str, str]:
    """Make the world in the open database; the sign-in secret of each person by name."""
    ada = Person.find(Person.role == "owner") or Person.join("Ada", "owner")
    ben = Person.find(Person.name == "Ben") or Person.join("Ben", "member")
    garden = Conversation.begin(ada.id)
    Membership.create(chat=garden.id, person=ben.id, role="writer")
    told(garden, ada.id, "How do I water the garden?", ANSWER)
    told(garden, ben.id, "And the south bed?", "Less: it is in the shade until noon.")
    taxes = Conversation.begin(ada.id)
    told(taxes, ada.id, "What may I deduct?", "That depends on the coun", status="stopped", outcome="stopped")
    long = Conversation.begin(ben.id)
    for number in range(1, 61):
        told(long, ben.id, f"Question {number}", f"Answer {number}: {ANSWER if number % 10 == 0 else 'yes.'}")
    return {person.name: person.invite() for person in (ada, ben)}


def told(chat: Conversation, person: str, question: str, answer: str, status: str = "idle", outcome: str = "") -> None:
    """A question with its answer, as a run would have written it."""
    chat.fresh().ask(person, question)
    wish = chat.open_wish()
    chat.claim(wish)
    item = chat.fresh().add(wish, "text", text=answer, model="demo")
    Item.get_by_id(item.id).seal(outcome)
    chat.finish(wish, status)


if __name__ == "__main__":
    settings = Settings.from_environ()
    database.open(settings.database)
    migrate()
    for name, secret in fill().items():
        sys.stdout.write(f"{name}: http://{settings.host}:{settings.port}/enter?key={secret}\n")
