"""The headings of an answer as headings of the page, which has a first and a second level of its own."""

from markdown_it.token import Token

FIRST, LAST = 3, 6

Outline = tuple[int, ...]  # the levels, as they were written, of the headings that the text stands under


def below(outline: Outline, level: int) -> Outline:
    """The outline behind a heading of LEVEL: no level of the page is left out, whatever the text leaves out."""
    return (*(above for above in outline if above < level), level)


def shift(tokens: list[Token], outline: Outline) -> None:
    """Give the headings among TOKENS, which come behind OUTLINE, their places on the page.

    One in a list or a quotation is below the last one outside of it, and nothing is below it.
    """
    tag = ""
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            token.meta = {"level": level}
            within = below(outline, level) if token.level == 0 else (*outline, level)
            outline = outline if token.level else within
            tag = f"h{min(FIRST - 1 + len(within), LAST)}"
            token.tag = tag
        elif token.type == "heading_close":
            token.tag = tag
