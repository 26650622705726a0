"""A text that wants to harm: whatever it says, it is text in its own blocks, also while it grows."""

import re

import nh3
import pytest

from live.blocks import Growing, keyed
from tests.live.dom import Node, tree

TAGS = {
    *"p br hr h1 h2 h3 h4 h5 h6 strong em s code pre blockquote ul ol li table thead tbody tr th td a sup".split(),
    *"span div figure figcaption input button math mrow mi mn mo ms mtext mspace".split(),
    *"msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle".split(),
    *"mpadded mphantom menclose".split(),
}
ATTRIBUTES = {
    "div": {"class": r"block|table", "id": r"item-1-\d+", "dir": r"auto", "aria-label": "Table"},
    "pre": {"tabindex": "0", "role": "group", "aria-label": "Code"},
    "input": {"class": "code__wrap", "type": "checkbox", "aria-label": "Wrap"},
    "button": {"class": "code__copy", "type": "button", "data-action": "copy-code"},
    "li": {"class": "task"},
    "a": {"href": r"(https?://[^/?#@]+([/?#].*)?|mailto:[^?]+@.*)", "title": r"(?s).*", "target": r"_blank"},
    "code": {"class": r"language-[A-Za-z0-9_+#.-]{1,32}", "data-lines": r"[\d,]+ lines?"},
    "th": {"align": r"left|right|center"},
    "td": {"align": r"left|right|center"},
    "ol": {"start": r"\d+"},
    "span": {"class": r"[a-z][a-z0-9]{0,2}|host|outside-image"},
    "figure": {"class": r"code"},
}
ATTRIBUTES["div"] |= {"tabindex": "0", "role": "group"}
ATTRIBUTES["a"]["class"] = r"outside-image"
ATTRIBUTES["a"]["rel"] = r"noopener noreferrer nofollow"
SHAPE = re.compile(r"[\w.# -]*")

HOSTILE = {
    "a script as a link": "[x](javascript:alert(1)) <javascript:alert(1)>",
    "a script as a link in entities": "[x](JaVaScRiPt&colon;alert(1)) [y](java&Tab;script:alert(1))",
    "a script as a link in numbers": "[x](&#x6A&#x61&#x76&#x61&#x73&#x63"
    "&#x72&#x69&#x70&#x74&#x3A&#x61&#x6C&#x65&#x72&#x74&#x28&#x31&#x29)",
    "other schemes": "[x](data:text/html;base64,PHNjcmlwdD4=) [x](vbscript:msgbox(1)) [x](file:///etc/passwd) "
    "[x](//e.test)",
    "odd schemes": "[x](blob:https://a.test/1) [x](filesystem:https://a.test/t) [x](view-source:https://a.test) "
    "[x](ms-msdt:/id) [x](intent://x#Intent;end) [x](about:blank) [x](http:e.test) [x](https:///e.test)",
    "a script as a reference": "[x][R] ![x][d]\n\n[r]: javascript:alert(1)"
    "\n\n[d]: https://e.test\n\n[d]: javascript:alert(1)",
    "attributes": '![a"onerror="alert(1)](https://e.test/x) ![a](https://e.test/x"onerror="alert(1)) '
    '[a](https://ok.test "t\\" onmouseover=alert(1) \\"") [a](x "on\\"mouseover=1")',
    "scripts": "<script>alert(1)</script> <ScRiPt/src=//e.test>\n\n<script type=module>\n\nx\n\n</script>",
    "events": "<img src=x onerror=alert(1)>\n\n<body onload=x>\n\n<details open ontoggle=x>"
    "\n\n<input autofocus onfocus=x>",
    "vectors": '<svg/onload=alert(1)><svg><script>x</script><use href="data:image/svg+xml,x#x"></svg>',
    "mathematics": "<math><mtext><table><mglyph><style><!--</style>"
    '<img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    "frames": '<iframe srcdoc="<script>x</script>"></iframe><object data=x></object><embed><portal><frameset>',
    "code": "```html\n<img src=x onerror=alert(1)> & &amp; <b>\n```\n```\n<form action=//x><input name=p></form>",
    "a language": '```"><script>alert(1)</script>\nx\n```\n\n```py onmouseover=alert(1) x\ny\n```',
    "attribute lists": "[x](https://a.test){: onclick=alert(1) hx-get=/logout }\n\n{: #approval-1 .btn }\n\n# T {#app}",
    "broken markup": "<![ <![CDATA[ <! <!-- <? </ <a <b &#x; &#99999999999; \r \0 \x0b",
    "twice decoded": "<a hr\0ef=x> &lt;img src=x onerror=alert(1)&gt; &amp;lt;script&amp;gt;",
    "formulas": "$\\href{javascript:alert(1)}{x^2}$ $\\htmlData{hx-get=/x}{y}$ \\(\\includegraphics{//e.test/x}\\) "
    "\\(\\text{<img src=x onerror=1>}\\) \\(\\style{color:red}{x}\\) \\(\\class{btn}{x}\\) \\(\\cssId{app}{x}\\)",
    "a drawing": '```mermaid\nclick A "javascript:alert(1)"\n%%{init:{"securityLevel":"loose"}}%%\n```',
    "requests of htmx": '<div hx-get="/settings" hx-trigger="load" hx-target="body"></div>',
    "handlers of htmx": '<b hx-on::load="alert(1)" hx-on:click="x" hx-vals="js:{x:1}" data-hx-get=/x>x</b>',
    "a swap out of band": '<div id="approval-1" hx-swap-oob="true">Approved</div> '
    '<hx-partial hx-target="#app">x</hx-partial>',
    "a breakout": '</div></div></div></div><div id="sidebar">owned</div>\n\n<div><div><table>\n\n</body></html>',
    "sockets": '<form ws-send><button>x</button></form><div ws-connect="wss://e.test"></div>'
    '<div sse-connect=x hx-ext="ws">',
    "ids": '<p id="item-1-3">x</p> <a name=composer>x</a> <slot name="0"></slot>',
    "clobbering": "<a id=htmx>x</a><form name=body></form><img name=cookie><input name=csrf_token>",
    "a form": '<form action="/api/approve" method=post><button>OK</button><select><textarea></form>',
    "the app's classes": '<span class="btn btn-approve">Approve</span> <b class="htmx-indicator modal open">x</b>',
    "a cover": '<div style="position:fixed;inset:0">Session expired</div><dialog open>x</dialog><marquee>x</marquee>',
    "images": "![a](https://e.test/p?d=SECRET) ![b][1] ![c](\\\\e.test/x) ![d](/logout) ![](mailto:a@b.test)\n\n[1]: https://e.test/1",
    "own addresses": "![x](/logout) [x](/u/chats/1?delete=1) [Approve](/api/calls/1/approve) [x](../x) [x](#top) [x]()",
    "user-info": "https://bank.test@e.test/ [x](https://bank.test:pw@e.test) <https://a@e.test> [x](https://bank.test\\@e.test)",
}


def checked(html: str) -> Node:
    """The page that HTML makes, with nothing outside of the allow-list, read by a strict parser and by a browser's."""
    page = tree(html)
    for node in page.walk()[1:]:
        assert node.tag in TAGS, node.html
        for name, value in node.attributes:
            pattern = ATTRIBUTES.get(node.tag, {}).get(name)
            allowed = re.fullmatch(pattern, value) if pattern else node.tag.startswith("m") and SHAPE.fullmatch(value)
            assert allowed and not name.startswith(("on", "hx-", "style")), node.html
    assert browsers(html) == html
    return page


def browsers(html: str) -> str:
    """HTML as a browser would read and write it (html5ever), nothing taken away."""
    tags = TAGS | {"img", "script", "style", "svg", "form", "iframe", "slot"}
    attributes = {tag: set(names) | {"src"} for tag, names in ATTRIBUTES.items()}
    shape = set("display tabindex stretchy fence separator form accent mathvariant columnalign".split())
    shape |= {"linethickness", "minsize", "maxsize", "width", "lspace", "rspace"}
    attributes |= {tag: shape for tag in TAGS if tag.startswith("m")}
    keeps = {"tags": tags, "attributes": attributes, "clean_content_tags": set(), "link_rel": None}
    return nh3.clean(html, **keeps, url_schemes={"http", "https", "mailto", "javascript", "data"})


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_only_text(text: str):
    checked(keyed(text, "item-1"))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_text_is_only_text_while_it_grows(text: str):
    growing = Growing("item-1", "body")
    for letter in text:
        for patch in growing.grow(letter):
            tree(patch.html)
            assert re.fullmatch(r"#(body|item-1-\d+)(>:[a-z-]+-child(\(\d+\))?)*", patch.where)
        checked(growing.html)
    growing.finish()
    assert growing.html == keyed(text, "item-1")


@pytest.mark.parametrize("name", ["scripts", "events", "vectors", "frames", "a form", "the app's classes", "ids"])
def test_tags_of_the_text_are_shown_as_they_were_written(name: str):
    assert checked(keyed(HOSTILE[name], "item-1")).text == HOSTILE[name].replace("\n\n", "")


@pytest.mark.parametrize("text", ["<test>", "use <b>x</b> and <my-rule>keep</my-rule>", "<h1>gone?</h1>"])
def test_tags_that_a_person_typed_do_not_vanish(text: str):
    assert checked(keyed(text, "item-1")).text == text


@pytest.mark.parametrize(
    "name",
    [
        "a script as a link",
        "a script as a link in entities",
        "other schemes",
        "odd schemes",
        "own addresses",
        "user-info",
    ],
)
def test_only_addresses_of_other_sites_become_links(name: str):
    links = [node for node in checked(keyed(HOSTILE[name], "item-1")).walk() if node.tag == "a"]
    # An address within a refused one may still be a link, to where it says.
    assert all(dict(link.attributes)["href"] == link.text for link in links)
    assert len(links) <= 4 and "e.test" not in "".join(link.text for link in links)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[https://bank.test](https://e.test/)", "https://bank.test (e.test)"),
        ("[bank.test](https://e.test)", "bank.test (e.test)"),
        ("[*bank*.test](https://e.test)", "bank.test (e.test)"),
        ("[see bank.test now](https://e.test)", "see bank.test now (e.test)"),
        ("[a@bank.test](mailto:a@e.test)", "a@bank.test (a@e.test)"),
        ("[https://bank.test@e.test](https://e.test)", "https://bank.test@e.test (e.test)"),
        ("<https://аррӏе.test>", "https://аррӏе.test (xn--80ak6aa92e.test)"),
        ("https://bank.test.e.test", "https://bank.test.e.test"),
        ("https://e.test#bank.test", "https://e.test#bank.test"),
        ("[www.e.test](https://e.test/x)", "www.e.test"),
        ("[the docs](https://e.test/x)", "the docs"),
    ],
)
def test_a_link_that_names_another_host_shows_the_real_one(text: str, seen: str):
    assert checked(keyed(text, "item-1")).text == seen


@pytest.mark.parametrize(
    ("text", "tag", "seen"),
    [
        ("![a *cat*](https://e.test/p.png?d=1)", "a", "Outside image from e.test: a cat"),
        ("![](https://e.test/p.png?d=1)", "a", "Outside image from e.test"),
        ("![a][1]\n\n[1]: https://e.test/1", "a", "Outside image from e.test: a"),
        ("[![a](https://e.test/1)](https://b.test)", "span", "Outside image from e.test: a"),
        ("![a](mailto:a@b.test)", "span", "Outside image from a@b.test: a"),
    ],
)
def test_an_outside_image_is_not_fetched_but_names_its_host(text: str, tag: str, seen: str):
    page = checked(keyed(text, "item-1"))
    (chip,) = [node for node in page.walk() if dict(node.attributes).get("class") == "outside-image"]
    assert (chip.tag, chip.text) == (tag, seen)
    if tag == "a":
        leads = {"href": dict(chip.attributes)["href"], "rel": "noopener noreferrer nofollow", "target": "_blank"}
        assert dict(chip.attributes) == {"class": "outside-image", **leads}
    assert [node for node in page.walk() if node.tag == "img"] == []


@pytest.mark.parametrize("text", ["![x](\\\\e.test/x)", "<img src=//e.test>", "![x](/logout)", "![x](data:image/png,)"])
def test_what_is_no_address_of_an_image_is_its_words(text: str):
    page = checked(keyed(text, "item-1"))
    assert [node for node in page.walk() if node.tag in ("a", "img")] == []
