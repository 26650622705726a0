"""What people have typed and not sent."""

import time
from typing import Self

import peewee as pw

from database import Row, new_key, write
from tables.items import Item


class Draft(Row):
    """What PERSON has typed in CHAT ("" a new conversation) and not sent; "" when that is nothing.

    `client_id` is that of the message it would become: once that was sent, the draft is over, also one that comes late.
    """

    id = pw.CharField(20, primary_key=True, default=new_key)
    chat = pw.CharField(20)
    person = pw.CharField(20)
    text = pw.TextField(default="")
    client_id = pw.CharField(64, default="")
    changed = pw.FloatField(default=time.time)

    class Meta:
        indexes = ((("chat", "person"), True),)

    @classmethod
    def of(cls, chat: str, person: str) -> Self:
        """The draft of PERSON in CHAT; an empty one that is not saved where there is none."""
        return cls.find(cls.chat == chat, cls.person == person) or cls(chat=chat, person=person, changed=0)

    @classmethod
    @write
    def keep(cls, chat: str, person: str, text: str, client_id: str = "") -> None:
        """TEXT is the draft from now on, unless it was sent as the message CLIENT_ID meanwhile."""
        if client_id and Item.find(Item.person == person, Item.client_id == client_id):
            return
        mine = (cls.chat == chat) & (cls.person == person)
        if not cls.update(text=text, client_id=client_id, changed=time.time()).where(mine).execute() and text:
            cls.create(chat=chat, person=person, text=text, client_id=client_id)

    @classmethod
    @write
    def sent(cls, chat: str, person: str, text: str, client_id: str = "") -> None:
        """TEXT was sent as the message CLIENT_ID; a newer draft stays."""
        same = (cls.text == text) | ((cls.client_id == client_id) & (cls.client_id != ""))
        mine = (cls.chat == chat) & (cls.person == person)
        cls.update(text="", client_id="", changed=time.time()).where(mine, same, cls.text != "").execute()
