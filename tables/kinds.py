"""What kind of file some bytes are. Only the bytes say so, never the name."""

import codecs
import re

PICTURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
LATER = {
    b"%PDF-": "PDFs cannot be read here yet.",
    b"PK\x03\x04": "Word, Excel and other packed files cannot be read here yet.",
    b"\xd0\xcf\x11\xe0": "Old Word and Excel files cannot be read here yet.",
}
NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
HEAD = 16  # bytes that say what a file is


class Unknown(Exception):
    """A file of a kind that is not taken; the text says which, in words."""


class Kind:
    """Feed it the bytes as they come; at the end `told()` is their media type and the coding of a text."""

    def __init__(self) -> None:
        self.head = b""
        self.utf8 = codecs.getincrementaldecoder("utf-8")()
        self.is_utf8 = self.is_plain = True

    def feed(self, piece: bytes) -> None:
        """Raises Unknown as soon as it is clear that this kind is not taken."""
        if len(self.head) < HEAD:
            self.head += piece[: HEAD - len(self.head)]
            self.refuse()
        if not picture(self.head):
            self.is_plain = self.is_plain and not NO_TEXT.search(piece)
            self.is_utf8 = self.is_utf8 and self.decodes(piece)

    def refuse(self) -> None:
        for mark, words in LATER.items():
            if self.head.startswith(mark):
                raise Unknown(words)

    def decodes(self, piece: bytes, final: bool = False) -> bool:
        try:
            self.utf8.decode(piece, final)
        except UnicodeDecodeError:
            return False
        return True

    def told(self) -> tuple[str, str]:
        """The media type and the coding. Raises Unknown for what is neither a picture we know nor text."""
        if not self.head:
            raise Unknown("This file is empty.")
        if found := picture(self.head):
            return found, ""
        if self.head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "text/plain", "utf-16"
        if self.is_plain:
            return "text/plain", "utf-8" if self.is_utf8 and self.decodes(b"", final=True) else "cp1252"
        raise Unknown("This is neither text nor a PNG, JPEG, GIF or WebP picture.")


def picture(head: bytes) -> str:
    """The media type of a picture that begins with HEAD; "" when it is none we know."""
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in PICTURES.items() if head.startswith(mark)), "")
