"""Who stays signed in when the clock jumps, or the server was away for long."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from database import database
from models import Person, Session, migrate
from tables.people import hashed

DAY = 86400


@pytest.fixture(autouse=True)
def file(tmp_path: Path) -> Iterator[None]:
    database.open(tmp_path / "parley.db")
    migrate()
    yield
    database.close()
    database.init(None)


@pytest.mark.parametrize("away", [0, 200 * DAY, 3653 * DAY, -3653 * DAY], ids=["not", "long", "ahead", "behind"])
def test_nobody_is_signed_out_by_the_clock(away: float):
    ada = Person.join("Ada").id
    for secret, ago in (("often", 0), ("seldom", 60 * DAY), ("never again", 100 * DAY)):
        Session.create(person=ada, hash=hashed(secret), seen=time.time() - away - ago)
    Session.carry_over()
    known = {secret for secret in ("often", "seldom", "never again") if Session.known(secret)}
    assert known == {"often", "seldom"}
    assert Session.known("often").seen <= time.time() + 1
