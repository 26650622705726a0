"""What a person sees of an answer in Markdown."""

import pytest

from live.blocks import keyed
from tests.live.dom import Node, tree


def shown(text: str) -> Node:
    return tree(keyed(text, "item-1"))


def all_of(text: str, tag: str) -> list[str]:
    """The texts of the elements TAG that TEXT becomes."""
    return [node.text for node in shown(text).walk() if node.tag == tag]


def outline(text: str) -> list[str]:
    """The tags of the blocks, in order."""
    return [block.elements[0].tag for block in shown(text).elements]


def test_blocks_have_keys_from_zero_and_the_direction_of_their_text():
    blocks = shown("One\n\n[there]: https://a.test\n\n- two\n\n---").elements
    assert [dict(block.attributes) for block in blocks] == [
        {"class": "block", "id": f"item-1-{number}", "dir": "auto"} for number in range(3)
    ]
    assert keyed("", "item-1") == keyed("\n \n", "item-1") == ""


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("Total\n---\na | b\n--|--\n1 | 2", ["h3", "div"]),
        ("- a\n\n\n- c", ["ul"]),
        ("1) x\n2) y", ["ol"]),
        ("***", ["hr"]),
        ("Text\n- item", ["p", "ul"]),
        ("# a | b\n--|--", ["h3", "p"]),
        ("> q\n\ntext", ["blockquote", "p"]),
    ],
)
def test_blocks_are_what_they_look_like(text: str, tags: list[str]):
    assert outline(text) == tags


@pytest.mark.parametrize(
    "text",
    [
        "unclosed **bold",
        "unclosed `code",
        "half a \\[ formula",
        "half [a link](htt",
        "half <https:",
        "~~gone",
        "| a | b",
    ],
)
def test_what_is_not_closed_is_shown(text: str):
    assert shown(text).text == text.replace("\\[", "[")


# Code


def test_markdown_source_holds_its_inner_fences():
    text = "```markdown\n# T\n```py\nprint(1)\n```\nafter inner\n```\nout"
    assert all_of(text, "code") == ["# T\n```py\nprint(1)\n```\nafter inner\n"]
    assert all_of(text, "figcaption") == ["markdown"]
    assert [dict(node.attributes).get("data-lines") for node in shown(text).walk() if node.tag == "code"] == ["5 lines"]
    assert all_of(text, "p") == ["out"]


@pytest.mark.parametrize(
    ("fence", "language"),
    [
        ("```", None),
        ("``` \t ", None),
        ("```{.py}", None),
        ('```c++ title="a b"', "c++"),
        ("```<script>", None),
        ('```"><script>alert(1)</script>', None),
        ("```py onmouseover=alert(1) x", "py"),
        ("~~~objective-c", "objective-c"),
        ("```" + "x" * 33, None),
    ],
)
def test_a_fence_names_its_language_or_none(fence: str, language: str | None):
    (code,) = [node for node in shown(f"{fence}\na = 1\n{fence[:3]}").walk() if node.tag == "code"]
    assert code.attributes == ([("class", f"language-{language}")] if language else []) + [("data-lines", "1 line")]
    assert code.text == "a = 1\n"


@pytest.mark.parametrize("indent", ["  ", "   ", "    "])
def test_code_in_a_list_stays_in_its_item(indent: str):
    text = f'1. Do\n\n{indent}```bash\n{indent}k exec <pod> -- sh && echo "&"\n{indent}```\n\n2. Next'
    if indent == "  ":
        text = text.replace("1. Do", "- Do").replace("2. Next", "- Next")
    (listing,) = shown(text).elements[0].elements
    first, second = listing.elements
    assert [node.text for node in first.walk() if node.tag == "code"] == ['k exec <pod> -- sh && echo "&"\n']
    assert second.text == "Next"


@pytest.mark.parametrize(
    "text",
    ["- ```sh\n  x\n  ```\n- b", "- Do\n  ```sh\n  x\n  ```\n- b", "1) Do\n   ~~~sh\n   x\n   ~~~\n2) b"],
)
def test_code_begins_an_item_or_follows_it_at_once(text: str):
    (listing,) = shown(text).elements[0].elements
    first, second = listing.elements
    assert [node.text for node in first.walk() if node.tag in ("figcaption", "code")] == ["sh", "x\n"]
    assert second.text == "b"


def test_code_shows_exactly_what_was_written():
    source = '<img src=x onerror=alert(1)> & &amp; <b> "q"\n\ttab\n'
    assert all_of(f"```html\n{source}```", "code") == [source]
    assert all_of(f"```\n{source}", "code") == [source]
    assert all_of("`<b> &amp;`", "code") == ["<b> &amp;"]


def test_code_has_colours_once_it_is_closed_and_when_its_language_is_known():
    assert all_of("```python\nreturn 1\n```\n", "span") == ["return", "1"]
    assert all_of("```nosuchlanguage\nreturn 1\n```\n", "span") == []
    assert all_of("```python\n" + "x = 1\n" * 10_000 + "```\n", "span") == []


def test_a_drawing_in_mermaid_shows_its_source():
    source = 'graph TD\nclick A "javascript:alert(1)"\nA--[\n'
    assert all_of(f"```mermaid\n{source}```", "code") == [source]


def test_characters_that_reorder_others_are_visible_in_code_and_links():
    assert all_of("`a\u202eb`", "code") == ["a‹U+202E›b"]
    assert all_of("```\na\u2066b\n```", "code") == ["a‹U+2066›b\n"]
    assert all_of("[x\u202egnp.exe](https://a.test)", "a") == ["x‹U+202E›gnp.exe"]


# Lists, tables, footnotes


def test_tasks_have_glyphs_before_their_words():
    assert all_of("- [ ] a\n- [x] b\n- [X] **c**\n- [y] d\n- [ ]e", "li") == ["☐ a", "☑ b", "☑ c", "[y] d", "[ ]e"]
    assert all_of("- [ ] a", "input") == []
    kinds = [node.attributes for node in shown("- [ ] a\n- b").walk() if node.tag == "li"]
    assert kinds == [[("class", "task")], []]


def test_cells_keep_their_side():
    text = "| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 |"
    cells = [node for node in shown(text).walk() if node.tag == "td"]
    assert [dict(cell.attributes) for cell in cells] == [{"align": "left"}, {"align": "right"}, {"align": "center"}]
    assert [cell.text for cell in cells] == ["1", "2", ""]


def test_a_footnote_stays_where_it_is_and_nothing_links():
    text = "Water[^n] and[^none].\n\n[^n]: It is *wet*.\n\n    Very.\n\n[^unused]: Kept."
    assert all_of(text, "sup") == ["[n]", "[n]", "[unused]"]
    assert all_of(text, "a") == []
    assert all_of(text, "p") == ["Water[n] and[^none].", "[n] It is wet.", "Very.", "[unused] Kept."]


# Formulas and money


@pytest.mark.parametrize(
    "text",
    [
        "It went from $2bn to at least $4bn; $1.50 each, R$ 12,29 vs R$ 15,83; $AAPL and $PATH; $5-$10; cost: $8",
        "US$5 + US$10, $a to b$, $ x$, $x $ and $$",
        "costs $$ or $$$ a plate",
        "from $5 to the $10 one, x^2 and so on",
        "`$x^2$` and `\\[a-z\\]`",
    ],
)
def test_money_and_code_are_no_formulas(text: str):
    assert all_of(text, "math") == []
    assert shown(text).text == text.replace("`", "")


def test_bold_money_stays_bold():
    assert all_of("It is **$1.50** each, R$ 12,29 vs R$ 15,83; cost: $8**", "strong") == ["$1.50"]


@pytest.mark.parametrize(
    ("text", "display"),
    [
        ("so $x^2$.", "inline"),
        ("so $n$ times", "inline"),
        ("so \\(a+b\\).", "inline"),
        ("so $$a^2+b^2$$ is", "block"),
        ("\\[\nE=mc^2\n\\]", "block"),
        ("The law:\n\\[\nE\n= mc^2\n\\]\nholds", "block"),
        ("- first\n  \\[\n  E=mc^2\n  \\]", "block"),
        ("$$\n\\begin{matrix} a & b \\\\[2mm] c & d \\end{matrix}\n$$", "block"),
    ],
)
def test_formulas_are_drawn(text: str, display: str):
    (formula,) = [node for node in shown(text).walk() if node.tag == "math"]
    assert formula.attributes == [("display", display)] + [("tabindex", "0")] * (display == "block")
    assert "$" not in shown(text).text and "\\" not in shown(text).text


@pytest.mark.parametrize("source", ["\\frac{", "{" * 60 + "x^2" + "}" * 60, "x_1_2_3^", "\\left("])
def test_a_formula_that_cannot_be_drawn_shows_its_source(source: str):
    assert all_of(f"\\({source}\\)", "math") + all_of(f"\\({source}\\)", "code") != []


# Limits: nothing takes long, and nothing is swallowed

LONG = 65_536


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "![",
        "*a **a ",
        "`",
        ">",
        "<a ",
        "&",
        "|",
        "[^",
        "_",
        "\\",
        "$",
        "\\(",
        "~~a",
        "`` ` ",
        "[a](",
        "](",
        "](<",
        "#",
        "*",
    ]
    + ["http://a.test/(", ")", "{{", "<$", "@", "<!--", "&#x", "![a](https://a.test)", "x"],
)
@pytest.mark.timeout(30)
def test_a_long_line_of_anything_is_shown_whole(unit: str):
    text = (unit * LONG)[:LONG] + "x"
    plain = shown(text).text
    assert plain.count(unit[0]) + plain.count("[x]") >= text.count(unit[0]) or unit == ">"


@pytest.mark.parametrize("unit", ["> ", "- ", "* ", "1. ", ">"])
def test_what_is_nested_too_deep_is_shown_as_text(unit: str):
    tree_ = shown(unit * 200 + "end")
    depth, node = 0, next(node for node in tree_.walk() if node.tag == "p" or (node.tag == "li" and not node.elements))
    while node.parent:
        depth, node = depth + 1, node.parent
    assert tree_.text.endswith("end")
    assert tree_.text.count(unit.strip()) >= 100
    assert depth < 50


def test_a_line_without_end_is_plain_text():
    assert shown("*a* " * 10_000).text == ("*a* " * 10_000).strip()
    assert shown("- x\n" * 5_000).text == "x" * 5_000
    assert outline("*" * 100_000) in (["hr"], ["p"])
