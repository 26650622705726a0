"""When to try a server again by itself."""

import math
import random
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

TRIES = 3
LONGEST = 60.0  # seconds; a server that asks for more leaves the choice to the person


def retry_after(headers: Mapping[str, str], body: object, now: float) -> float | None:
    """The seconds a server asked us to wait: retry-after-ms, Retry-After (RFC 9110: seconds or a date), or its JSON.

    NOW is the time of day in seconds since 1970. None where it says nothing that makes sense.
    """
    asked = milliseconds(headers.get("retry-after-ms")), after(headers.get("retry-after"), now), *told(body)
    return next((seconds for seconds in asked if seconds is not None), None)


def delay(attempt: int, asked: float | None) -> float | None:
    """Seconds to wait before try ATTEMPT (0 is the first repeat); None: do not try again by yourself."""
    if attempt >= TRIES or (asked is not None and asked > LONGEST):
        return None
    return 0.5 * 2**attempt * random.uniform(0.5, 1.5) if asked is None else asked


def milliseconds(value: object) -> float | None:
    found = seconds(value)
    return None if found is None else found / 1000


def after(value: object, now: float) -> float | None:
    """A Retry-After header; a date that has passed means at once."""
    found = seconds(value)
    if found is not None or not isinstance(value, str):
        return found
    try:
        when = parsedate_to_datetime(value.strip())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now)


def told(body: object) -> list[float | None]:
    """What an error's JSON says, in the places that are in use: retry_after, retry_after_ms, retryDelay ("7s")."""
    if isinstance(body, list):
        return [found for part in body for found in told(part)]
    if not isinstance(body, Mapping):
        return []
    here = [seconds(body.get("retry_after")), milliseconds(body.get("retry_after_ms")), seconds(body.get("retryDelay"))]
    return here + [found for key in ("error", "details", "metadata", "parameters") for found in told(body.get(key))]


def seconds(value: object) -> float | None:
    """VALUE as seconds, or None where it is no number of them (negative, "abc", infinite)."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value.strip().removesuffix("s") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None
