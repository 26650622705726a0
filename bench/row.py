"""A line of the table."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`met` is None where nothing could be decided."""

    what: str
    budget: str
    measured: str
    relay: str
    met: bool | None

    def __str__(self) -> str:
        verdict = {True: "met", False: "**missed**", None: "–"}[self.met]
        return f"| {self.what} | {self.budget} | {self.measured} | {self.relay} | {verdict} |"


def middle(values: list[float]) -> float:
    """The median (of an even number the upper one)."""
    return sorted(values)[len(values) // 2]


def spread(values: list[float], digits: int = 2) -> str:
    """The range of VALUES in brackets, "" when there is but one."""
    return f" ({min(values):.{digits}f}–{max(values):.{digits}f})" if len(values) > 1 else ""
