"""The write thread: many writes at once, and another program that holds the lock."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import gevent
import pytest

from database import Database, Locked


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database()
    database.open(tmp_path / "parley.db", threaded=True)
    database.run(lambda: database.execute_sql("create table said(word text)"))
    yield database
    database.writer.kill()
    database.close()


def many(database: Database, seconds: float) -> tuple[list[gevent.Greenlet], float]:
    """Ten writes of SECONDS each that begin at once and wait 0.1 s for a lock; seconds until all have ended."""

    def one() -> None:
        time.sleep(seconds)  # in the write thread: a slow write
        database.execute_sql("insert into said values ('hello')")

    began = time.monotonic()
    writes = [gevent.spawn(database.run, one, patience=0.1) for _ in range(10)]
    gevent.joinall(writes)
    return writes, time.monotonic() - began


def test_a_write_waits_for_those_in_front_however_many_they_are(database: Database):
    writes, took = many(database, 0.03)
    assert took > 0.2, "they did not wait for one another"
    assert [write.exception for write in writes] == [None] * 10
    assert database.execute_sql("select count(*) from said").fetchone() == (10,)


def test_a_lock_of_another_program_is_waited_for_once(database: Database):
    other = sqlite3.connect(database.database, isolation_level=None)
    other.execute("begin immediate")
    writes, took = many(database, 0)
    assert [type(write.exception) for write in writes] == [Locked] * 10
    assert took < 0.5, "each of them waited by itself"
    other.execute("commit")
    other.close()
    database.run(lambda: database.execute_sql("insert into said values ('again')"))
