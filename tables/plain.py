"""Names as they may be shown: titles, files, assistants."""

import re

# Controls, line separators, and what turns the direction of the text behind it (UAX #9, explicit formatting).
HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """TEXT in one line, without what cannot be seen."""
    return " ".join(HIDDEN.sub("", text).split())
