from gevent import monkey

monkey.patch_all()

import logging  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
from urllib.parse import urlsplit  # noqa: E402

import flask_sock  # noqa: E402
import gevent  # noqa: E402
from flask import Flask  # noqa: E402
from gevent.pywsgi import WSGIServer  # noqa: E402
from peewee import DatabaseError  # noqa: E402

import feed  # noqa: E402
from database import Locked, database, new_key  # noqa: E402
from live import bodies, route  # noqa: E402
from live.follow import Follower  # noqa: E402
from live.fragments import Drawing  # noqa: E402
from live.socket import Handler, Socket, close_all, keep_alive  # noqa: E402
from models import Assistant, File, Person, Session, TooNew, migrate, removal, search  # noqa: E402
from runner.serve import Runner  # noqa: E402
from settings import BadSettings, Settings  # noqa: E402
from web import DOORS, auth, headers  # noqa: E402
from web.assets import ASSETS  # noqa: E402


def create_app(settings: Settings) -> tuple[Flask, Follower]:
    """The web application and the follower that feeds its open pages."""
    app = Flask(__name__, static_folder=None)
    base = urlsplit(settings.public_url).path.rstrip("/")
    app.config.update(SETTINGS=settings, BASE=base, COOKIE="parley")
    app.config.update(MAX_CONTENT_LENGTH=8 << 20, MAX_FORM_MEMORY_SIZE=8 << 20)
    parts = app.jinja_env.get_template("_parts.html").module
    app.jinja_env.globals.update(base=base, assets=ASSETS, body=bodies.body, client_id=new_key)
    app.jinja_env.globals.update(icon=parts.icon, switch=parts.switch, dots=parts.dots)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    follower = Follower(Drawing(app.jinja_env))
    app.config.update(NEWS=follower.news_since)
    for door in DOORS:
        app.register_blueprint(door)
    app.before_request(auth.check)
    flask_sock.Server = Socket
    route.install(app, follower)
    app.after_request(headers.finish)
    return app, follower


def prepare(settings: Settings) -> Person:
    """The database, its owner and the first agent."""
    database.open(settings.database, threaded=True)
    migrate()
    Session.carry_over()
    if not Assistant.first():
        database.run(lambda: Assistant.create(name="Assistant"))
    return Person.find(Person.role == "owner") or Person.join("Owner", "owner")


def serve(settings: Settings) -> None:
    """Serve until a signal says stop; then save, tell the pages to come back, and end."""
    sys.setswitchinterval(0.0005)  # seconds: the write thread gets its turn beside a busy hub
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    owner = prepare(settings)
    database.serve_alone()
    database.committed = feed.ring
    app, follower = create_app(settings)
    runner = Runner(settings)
    server = WSGIServer((settings.host, settings.port), app, log=None, handler_class=Handler)
    server.start()
    url = settings.url(server.server_port)
    print(f"Parley is at {url} (port {server.server_port})", flush=True)
    print(f"Sign in, once, with {url}/enter?key={owner.invite()}", flush=True)
    runner.start()
    for work in (bodies.warm, follower.serve, follower.beat, search.catch_up, removal.serve, tidy, keep_alive):
        gevent.spawn(work)
    ended = gevent.event.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        gevent.signal_handler(number, ended.set)
    ended.wait()
    server.stop_accepting()
    runner.stop()
    close_all(1012)
    server.stop(timeout=2)


def tidy() -> None:
    """Forget old deletions, every hour."""
    while True:
        gevent.sleep(3600)
        for table in (feed, Assistant, File):
            table.sweep()


def link(settings: Settings, name: str = "") -> None:
    """Print a sign-in link for NAME, who is let in as a member when new; "" is the owner."""
    owner = prepare(settings)
    person = (Person.find(Person.name == name) or Person.join(name)) if name else owner
    print(f"{person.name} signs in, once, with {settings.url(settings.port)}/enter?key={person.invite()}")


def main(command: str = "", *names: str) -> None:
    settings = Settings.from_environ()
    if command == "link":
        link(settings, *names[:1])
    elif command:
        sys.exit("Parley knows `link [NAME]`, which prints a sign-in link, and no argument at all, which serves.")
    else:
        serve(settings)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (BadSettings, TooNew, Locked) as why:
        sys.exit(str(why))
    except (OSError, DatabaseError) as why:
        sys.exit(f"Parley cannot start or go on: {why}. Look at CHAT_DATA, CHAT_HOST and CHAT_PORT.")
