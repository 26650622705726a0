"""The page the relay serves: nothing but a place to show the answer."""


def page() -> bytes:
    return b"<!doctype html><title>relay</title><pre id=a></pre>"
