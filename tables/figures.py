"""The numbers of an answer in words: how long it took, what it read and wrote."""

UNREAD_FROM = 1_000  # tokens: below, an estimate of them tells nothing


def lasted(seconds: float, *, whole: bool = False) -> str:
    """SECONDS as one says them, a few of them with a tenth unless WHOLE: "0.4 s", "12 s", "2 min 5 s"."""
    if seconds < 9.95 and not whole:
        return f"{max(seconds, 0.1):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def thought(used: dict, *, over: bool) -> str:
    """What a fold of reasoning says of it; OVER, it does not grow any more."""
    if not over:
        return "Thinking…"
    if "took" not in used:
        return "Thought"
    seconds = round(used["took"])
    return f"Thought for {lasted(seconds, whole=True) if seconds else 'a moment'}"


def figures(used: dict) -> tuple[str, str]:
    """A line of numbers for USED (tokens `read`, `wrote`, `cached`, `reasoning`; seconds `first`, `took`), and all of
    them for who wants to know. "" where nothing is known."""
    wrote, took, first = (used.get(name) or 0 for name in ("wrote", "took", "first"))
    speed = wrote / (took - first) if wrote and took - first >= 0.1 else 0
    line = [f"{wrote:,} token{'s' * (wrote != 1)}" if wrote else "", lasted(took) if took else ""]
    line.append(f"{speed:.0f} tokens/s" if speed else "")
    return " · ".join(filter(None, line)), ", ".join(filter(None, details(used, wrote, took, first)))


def details(used: dict, wrote: int, took: float, first: float) -> list[str]:
    read, cached, reasoning = (used.get(name) or 0 for name in ("read", "cached", "reasoning"))
    return [
        f"{read:,} tokens read" + (f" ({cached:,} of them kept from before)" if cached else "") if read else "",
        f"{wrote:,} written" + (f" ({reasoning:,} of them thought)" if reasoning else "") if wrote else "",
        f"the first after {lasted(first)}" if first else "",
        f"all in {lasted(took)}" if took else "",
    ]


def unread(used: dict) -> str:
    """Words for a server that READ far less than was SAID to it: some cut the front off without a word."""
    read, said = used.get("read") or 0, used.get("said") or 0
    if said < UNREAD_FROM or not 0 < read < said / 2:
        return ""
    return f"The server read only {read:,} of about {said:,} tokens: it knows the end of this conversation alone."
