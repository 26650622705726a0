"""What content may become on the page: the allowed tags, the links one may follow, and where these really lead."""

import re

import nh3

CODE_CLASS = re.compile(r"language-[A-Za-z0-9_+#.-]{1,32}")
OWN_CLASSES = {"a": {"outside-image"}, "span": {"outside-image", "host"}, "li": {"task"}}
WEB = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#][^\\\x00-\x20]*)?", re.IGNORECASE)
MAIL = re.compile(r"mailto:([a-z0-9.!#$'*+=^_`{|}~-]+@[a-z0-9.-]+)(?:\?[^\\\x00-\x20]*)?", re.IGNORECASE)
AUTHORITY = re.compile(r"\s*[a-z][a-z0-9+.-]*://([^/?#\s]*)", re.IGNORECASE)
BIDI = {code: f"‹U+{code:04X}›" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
TAGS = (
    "p br hr h1 h2 h3 h4 h5 h6 strong em s del code pre blockquote ul ol li table thead tbody tr th td a sup sub span"
)


def cleaned(html: str) -> str:
    """HTML with nothing but the allowed tags and attributes. The place of a drawing (`slot`) stays."""
    return CLEANER.clean(html)


def destination(url: str) -> str:
    """The host (or the mail address) that URL leads to; "" when it may not be a link.

    Only absolute http, https and mailto without user-info pass (ASVS 1.2.2). URL is percent-encoded already.
    """
    found = WEB.fullmatch(url) or MAIL.fullmatch(url)
    return found[1].lower() if found else ""


def disguised(text: str, url: str) -> str:
    """The destination of URL when TEXT names another one; "" when they agree or TEXT names none."""
    real = destination(url)
    named = AUTHORITY.match(text)
    hosts = {named[1].lower()} if named else {word for word in re.split(r"[^\w.@-]+", text.lower()) if hostlike(word)}
    return real if any(bare(host) != bare(real) for host in hosts) else ""


def hostlike(word: str) -> bool:
    first, _, last = word.strip(".-").rpartition(".")
    return bool(first) and len(last) > 1 and last.isalpha()


def bare(host: str) -> str:
    return host.removeprefix("www.").strip(".")


def visible(text: str) -> str:
    """TEXT with the characters that reorder others made visible (CVE-2021-42574)."""
    return text.translate(BIDI)


def allowed(tag: str, attribute: str, value: str) -> str | None:
    """The value of an attribute of the allow-list, or None to drop it."""
    if attribute == "href":
        return value if destination(value) else None
    if attribute == "class":
        fits = CODE_CLASS.fullmatch(value) if tag == "code" else value in OWN_CLASSES[tag]
        return value if fits else None
    return value


CLEANER = nh3.Cleaner(
    tags={*TAGS.split(), "slot"},
    attributes={
        "a": {"href", "title", "class"},
        "li": {"class"},
        "code": {"class"},
        "th": {"align"},
        "td": {"align"},
        "ol": {"start"},
        "span": {"class"},
        "slot": {"name"},
    },
    attribute_filter=allowed,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)
