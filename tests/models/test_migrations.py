"""An older database becomes one like a new one; `version-1.sql` is the oldest there is."""

from pathlib import Path

import pytest

from database import database
from models import LIVE, MIGRATIONS, TABLES, migrate

OLDEST = Path(__file__).parent / "version-1.sql"


@pytest.fixture
def shape_of(tmp_path: Path):
    """The shape of a database made by some SQL and migrated."""

    def shape(name: str, sql: str) -> dict[str, object]:
        database.open(tmp_path / name)
        database.connection().executescript(sql)
        migrate()
        columns = {name: columns_of(name) for name in tables()}
        rest = database.execute_sql("select type, name from sqlite_master where type <> 'table'").fetchall()
        version = database.pragma("user_version")
        database.close()
        return {"columns": columns, "rest": set(rest), "version": version}

    yield shape
    database.init(None)


def tables() -> list[str]:
    return [table._meta.table_name for table in TABLES]


def columns_of(table: str) -> set[tuple]:
    return {(c.name, c.data_type.lower(), c.null, c.primary_key) for c in database.get_columns(table)}


def test_an_old_database_becomes_as_a_new_one(shape_of):
    new, old = shape_of("new.db", ""), shape_of("old.db", OLDEST.read_text())
    assert old == new
    assert new["version"] == len(MIGRATIONS)
    followed = {name.removesuffix("_born") for kind, name in new["rest"] if kind == "trigger" and "_born" in name}
    assert followed == {table._meta.table_name for table, _ in LIVE}
