"""People: who they are, and how their browsers are known again."""

import hashlib
import secrets
import time

import peewee as pw

from database import Row, new_key, write

SESSION_LASTS = 90 * 86400  # seconds without a visit
AWAY = 30 * 86400  # seconds without any visit after which the server was away, or its clock was wrong
ENTRY_LASTS = 7 * 86400  # seconds until a sign-in link is void
BEGUN = time.time() - time.monotonic()


def now() -> float:
    """Seconds since 1970 by the clock as it was when this process began: a jump of it later ends nobody's session."""
    return BEGUN + time.monotonic()


class Person(Row):
    """Somebody who may sign in. Roles: owner, admin, member, guest."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    name = pw.CharField(80)
    role = pw.CharField(10, default="member")
    created = pw.FloatField(default=time.time)

    @classmethod
    @write
    def join(cls, name: str, role: str = "member") -> "Person":
        """A new person."""
        return cls.create(name=name[:80], role=role)

    @property
    def leads(self) -> bool:
        """Whether what belongs to the installation is theirs to change."""
        return self.role in ("owner", "admin")

    @write
    def invite(self) -> str:
        """The secret of a new link that signs this person in, once."""
        secret = secrets.token_urlsafe(24)
        Token.create(person=self.id, kind="entry", hash=hashed(secret), ends=time.time() + ENTRY_LASTS)
        return secret


class Token(Row):
    """A secret that lets one in, kept as its hash: kind `entry` is a sign-in link, good once."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    person = pw.CharField(20, index=True)
    kind = pw.CharField(10)
    hash = pw.CharField(64, unique=True)
    ends = pw.FloatField()
    used = pw.FloatField(default=0)

    @classmethod
    def open_entry(cls, secret: str) -> "Token | None":
        """The unused sign-in link with SECRET."""
        return cls.find(cls.hash == hashed(secret), cls.kind == "entry", cls.used == 0, cls.ends > time.time())

    @write
    def enter(self, device: str) -> str | None:
        """Use the link up and give the secret of a new session; None when somebody was faster."""
        if not Token.update(used=time.time()).where(Token.id == self.id, Token.used == 0).execute():
            return None
        secret = secrets.token_urlsafe(32)
        Session.create(person=self.person, hash=hashed(secret), device=device[:200])
        return secret


class Session(Row):
    """A browser that is signed in; its secret is only in the browser's cookie."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    person = pw.CharField(20, index=True)
    hash = pw.CharField(64, unique=True)
    device = pw.CharField(200, default="")
    created = pw.FloatField(default=time.time)
    seen = pw.FloatField(default=time.time)

    @classmethod
    def known(cls, secret: str) -> "Session | None":
        """The living session of a cookie's SECRET."""
        return cls.find(cls.hash == hashed(secret), cls.seen > now() - SESSION_LASTS) if secret else None

    @classmethod
    def living(cls, person: str) -> pw.ModelSelect:
        """The living sessions of PERSON, the last used first."""
        alive = cls.seen > now() - SESSION_LASTS
        return cls.select().where(cls.person == person, alive).order_by(cls.seen.desc())

    @classmethod
    @write
    def carry_over(cls) -> None:
        """The server begins: no session grew old while it was away or its clock was wrong, none is from tomorrow."""
        newest = cls.select(pw.fn.max(cls.seen)).scalar() or now()
        if abs(now() - newest) > AWAY:
            cls.update(seen=cls.seen + (now() - newest)).execute()

    @write
    def visited(self) -> None:
        Session.update(seen=now()).where(Session.id == self.id).execute()

    @write
    def end(self) -> None:
        Session.delete().where(Session.id == self.id).execute()


class Membership(Row):
    """PERSON is in the conversation CHAT, as its owner, a writer or a reader; since when it is pinned or archived."""

    id = pw.CharField(20, primary_key=True, default=new_key)
    chat = pw.CharField(20)
    person = pw.CharField(20, index=True)
    role = pw.CharField(10, default="owner")
    pinned = pw.FloatField(default=0)
    archived = pw.FloatField(default=0)

    class Meta:
        indexes = ((("chat", "person"), True),)

    @property
    def writes(self) -> bool:
        return self.role in ("owner", "writer")

    @property
    def owns(self) -> bool:
        return self.role == "owner"


def hashed(secret: str) -> str:
    """A random secret as it is kept: SHA-256 (it has 192 bits or more, so no slow hash is needed)."""
    return hashlib.sha256(secret.encode()).hexdigest()
