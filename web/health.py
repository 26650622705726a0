"""Whether the server is up."""

from flask import Blueprint

from database import database
from web.auth import open_to_all

door = Blueprint("health", __name__)


@door.get("/healthz")
@open_to_all
def up() -> dict[str, str]:
    database.execute_sql("select 1")
    return {"status": "ok"}
