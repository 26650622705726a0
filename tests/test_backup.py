"""bin/backup: a copy of a database that is being written."""

import os
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

BACKUP = Path(__file__).parent.parent / "bin" / "backup"


@pytest.fixture
def ledger(tmp_path: Path):
    """A database in which each transaction writes a number and its opposite; gives the numbers on disk."""
    written, ended = [], threading.Event()
    database = sqlite3.connect(tmp_path / "parley.db", check_same_thread=False, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    database.execute("create table entry (amount integer, words text)")

    def write():
        while not ended.is_set():
            n = len(written) + 1
            database.execute("begin immediate")
            database.executemany("insert into entry values (?, ?)", [(n, "x" * 2000), (-n, "x" * 2000)])
            database.execute("commit")
            written.append(n)

    writer = threading.Thread(target=write)
    writer.start()
    yield written
    ended.set()
    writer.join()
    database.close()


def backup(data: Path, *arguments: str) -> subprocess.CompletedProcess:
    environ = os.environ | {"CHAT_DATA": str(data)}
    return subprocess.run([BACKUP, *arguments], env=environ, capture_output=True, text=True)


def test_a_copy_made_while_the_server_writes_holds_whole_transactions_only(tmp_path, ledger):
    before = len(ledger)
    told = backup(tmp_path)
    after = len(ledger)

    copy = Path(told.stdout.strip())
    assert copy.parent == tmp_path / "backups" and os.listdir(copy.parent) == [copy.name], told.stderr
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as database:
        count, balance = database.execute("select count(*), sum(amount) from entry").fetchone()
    assert balance == 0 and before <= count / 2 <= after
    assert before < after, "it was written meanwhile"


def test_the_attached_files_come_along(tmp_path, ledger):
    files = tmp_path / "files"
    files.mkdir()
    (files / "001abc").write_bytes(b"bytes")
    (files / "001abd.part").write_bytes(b"on its way")
    copy = Path(backup(tmp_path).stdout.strip())
    kept = copy.with_name(copy.name + ".files")
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == {"001abc": b"bytes"}
    (files / "001abc").unlink()
    assert (kept / "001abc").read_bytes() == b"bytes", "a backup keeps what is removed later"


def test_a_backup_never_writes_over_another(tmp_path, ledger):
    (tmp_path / "kept.db").write_text("precious")
    told = backup(tmp_path, str(tmp_path / "kept.db"))
    assert told.returncode and "exists already" in told.stderr
    assert (tmp_path / "kept.db").read_text() == "precious"


def test_a_wrong_folder_is_told(tmp_path):
    told = backup(tmp_path)
    assert told.returncode and f"There is no database at {tmp_path}" in told.stderr
    assert os.listdir(tmp_path) == []
