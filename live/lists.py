"""The lists of conversations on open pages: a row stands where a page loaded afresh would have it.

Pages show some of the lists, and of each the newest rows and those that were asked for. So a row is taken out of every
list but its own, put behind the row that is above it there, and drawn; what finds no place on a page is dropped by it.
"""

import feed
from live.fragments import MANY, Drawing, swap
from models import LISTED, LISTS, Conversation, Membership

KINDS = ("conversation", "membership", "left")


def concerned(changes: list[feed.Change], people: set[str]) -> dict[str, set[str]]:
    """The conversations that CHANGES may have moved in the lists of each of PEOPLE."""
    chats = {change.chat for change in changes if change.kind == "conversation"}
    places = {change.row for change in changes if change.kind == "membership"}
    found: dict[str, set[str]] = {}
    if chats or places:
        its = Membership.chat.in_(list(chats)) | Membership.id.in_(list(places))
        for place in Membership.select().where(its, Membership.person.in_(list(people))):
            found.setdefault(place.person, set()).add(place.chat)
    for change in changes:
        if change.kind == "left" and change.row in people:
            found.setdefault(change.row, set()).add(change.chat)
    return found


def since(drawing: Drawing, person: str, cursor: int) -> str:
    """What the lists on a page of PERSON that shows the state CURSOR lack."""
    if not cursor or feed.forgotten(cursor):
        return whole(drawing, person)
    keys = concerned(feed.since(cursor), {person}).get(person, set())
    return moved(drawing, person, keys) if len(keys) <= MANY else whole(drawing, person)


def whole(drawing: Drawing, person: str) -> str:
    """All lists anew."""
    parts = []
    for where in LISTS:
        rows = Conversation.listed(person, where, 0 if where == "pinned" else LISTED)
        parts.append(swap("innerMorph", f"#{where}", drawing.rows(rows, where)))
    return "".join(parts)


def moved(drawing: Drawing, person: str, keys: set[str]) -> str:
    """The conversations KEYS as PERSON has them filed now; from above, so that each is put behind one in its place."""
    standing = Conversation.filed(person, keys)
    gone = keys - {row.id for row, _ in standing}
    return "".join([*map(taken, sorted(gone)), *(placed(drawing, person, row, where) for row, where in standing)])


def taken(key: str) -> str:
    """The conversation stands in no list any more."""
    return swap("delete", f"#conversation-{key}") + swap("delete", f"#going-{key}")


def placed(drawing: Drawing, person: str, row: Conversation, where: str) -> str:
    """ROW stands in the list WHERE: a node that is there is moved as it is (`hx-preserve`), then drawn."""
    here, above = f"#conversation-{row.id}", row.above(person, where)
    out = swap("delete", f"{here}:not(#{where} > *)")
    node = f'<li id="conversation-{row.id}" hx-preserve></li>'
    if above:
        put = swap("afterend", f"#{where} > #conversation-{above}:not(:has(+ {here}))", node)
    else:
        put = swap("afterbegin", f"#{where}:not(:has(> {here}:first-child))", node)
    return out + put + swap("outerMorph", here, drawing.row(row, where)) + drawing.going(row)
