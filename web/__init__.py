"""The person's side: a request becomes rows. Each module is one noun: find, tell the row, answer."""

from web import (
    agents,
    assets,
    conversations,
    drafts,
    entry,
    errors,
    filed,
    files,
    health,
    installable,
    items,
    palette,
    preferences,
    search,
    signed_in,
)
from web import help as handbook

DOORS = [
    *(agents.door, assets.door, conversations.door, drafts.door, entry.door),
    *(palette.door, errors.door, filed.door, health.door, items.door, search.door),
    *(files.door, preferences.door, signed_in.door, handbook.door, installable.door),
]
