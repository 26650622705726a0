"""What cannot be granted now."""


class Refused(Exception):
    """A wish that cannot be granted now: why, and what to do."""
