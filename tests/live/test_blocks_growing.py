"""A text grows on a page: whatever the pieces, the page shows the same, and only what is new is sent."""

import json
import random
import re
from pathlib import Path

import pytest

from live.blocks import Growing, keyed
from tests.live.dom import Page, tree

SPEC = json.loads((Path(__file__).parent / "commonmark.json").read_text(encoding="utf-8"))
FINISHED = re.compile(r"(<pre[^>]*><code[^>]*?)(?: data-lines=\"[^\"]*\")?(>.*?)(</code></pre>)", re.DOTALL)
PIECES = (
    [
        "a",
        "b c",
        " ",
        "  ",
        "    ",
        "\n",
        "\n\n",
        "\t",
        "word ",
        "Words of prose, and more. ",
        "é",
        "日本",
        "\u202e",
        "\0",
    ]
    + [
        "- ",
        "* ",
        "1. ",
        "2) ",
        "> ",
        "#",
        "# ",
        "\n### ",
        "\n## a\n",
        "---\n",
        "===\n",
        "- a\n- b\n",
        "1. x\n\n",
        "  - n\n",
        "> q\n",
        "\n\n\n",
    ]
    + [
        "```",
        "~~~",
        "```py\n",
        "```markdown\n",
        "`",
        "    code\n",
        "*",
        "**",
        "_",
        "~",
        "~~",
        "\\",
        "<b>",
        "&amp;",
        "&",
    ]
    + [
        "[",
        "]",
        "(",
        "](https://x.test)",
        "![",
        "http://a.test",
        " // ",
        "<https://a.test>",
        "www.a.test",
        ";",
        ":",
        "!",
    ]
    + ["|", "|-|-|\n", "a|b\n-|-\n", "| c | d |\n", "$", "$$", "\\(", "\\)", "\\[", "\\]", "x^2", "\r\n", "\r", "[ ] "]
)
PARAGRAPHS = [
    "A plain paragraph of some words, which goes on for a while: it is (mostly) prose; nothing else.\n\n",
    "With **bold**, `code`, [a link](https://a.test/x), ~~gone~~ and https://b.test/y_z. A * star.\nA second line.\n\n",
    "- one\n- two **bold** thing\n- three\n  more of it\n  - nested a\n  - nested b\n- [ ] to do\n- [x] done\n\n",
    "- loose\n\n- items\n\n  with a paragraph\n\n- and more\n",
    '3. three\n\n   ```bash\n   k <pod> && echo "&"\n\n     indented\n   ```\n\n4. four\n5. five\n\n',
    "| Name | Count |\n| :--- | ---: |\n| a b | 1 |\n| **c** | `2` |\n| d | \n|| x |\n\n",
    "```python\ndef f(x):\n    return x  # `tick`\n\n\n\tif x: pass\n```\n",
    "~~~\nplain ``` code\n~~~\n",
    "> quoted *words*\n> more\n> - and a list\n\n",
    "# A heading\n\nTotal\n---\n***\n",
    "#### Deep\n\n> ## Quoted\n\n- # In an item\n- x\n\n## Less\n",
    "\\[\nE = mc^2\n\\]\n\nand $x^2$ for $5 or $6.\n\n$$\n\\frac{a}{b}\n$$\n",
    "```markdown\n# T\n```py\nprint(1)\n```\nafter\n```\n",
    "    indented code\n\n    more of it\n\n",
    "سلام دنیا، این یک متن است.\n\n你好，世界。🌍 नमस्ते\n\n",
]
OUTLINED = [
    "a",
    "word **bold** and more",
    "`code` and more",
    "text [a](https://a.test) text",
    "b\n",
    "",
    "[ ] to do",
    "$x^2$",
] + ["# h", "### h", "```py", "```", "---", "| a | b |", "|-|-|", "\\[", "\\]", "\tafter a tab", "- c"]


def cuts(text: str, chance: random.Random) -> list[str]:
    """TEXT in pieces of a random length, small or large."""
    longest = chance.choice([1, 2, 5, 10, 30])
    pieces = []
    while text:
        length = chance.randint(1, longest)
        pieces.append(text[:length])
        text = text[length:]
    return pieces


def uncoloured(html: str) -> str:
    """HTML without what code gets at its end: colours, and the number of its lines."""
    return FINISHED.sub(lambda found: found[1] + re.sub(r"</?span[^>]*>", "", found[2]) + found[3], html)


def played(pieces: list[str], every_prefix: bool = True) -> Page:
    """A page on which the pieces came one by one; it is right after each of them, and at the end."""
    growing, page, text = Growing("item-1", "body"), Page(), ""
    # What crosses blocks comes at the end only.
    crosses = re.search(r"\]\r?\n?:|\[\^", "".join(pieces))
    for piece in pieces:
        text += piece
        page.take(growing.grow(piece))
        if every_prefix:
            assert page.html == tree(growing.html).inner, text
            if not crosses and text[-1] not in "\r\ud83d":
                assert uncoloured(growing.html) == uncoloured(keyed(text, "item-1")), text
    page.take(growing.finish())
    assert growing.html == keyed(text, "item-1"), text
    assert page.html == tree(growing.html).inner, text
    assert growing.text == text
    return page


def test_every_example_of_commonmark_comes_letter_by_letter():
    assert len(SPEC["examples"]) == 652
    for example in SPEC["examples"]:
        played(list(example))


@pytest.mark.parametrize("seed", range(6))
def test_odd_texts_show_the_same_in_any_pieces(seed: int):
    chance = random.Random(seed)
    for _ in range(25):
        played(cuts("".join(chance.choices(PIECES, k=chance.randint(2, 30))), chance))


@pytest.mark.parametrize("seed", range(6))
def test_answers_show_the_same_in_any_pieces(seed: int):
    chance = random.Random(seed)
    for _ in range(6):
        played(cuts("".join(chance.choices(PARAGRAPHS, k=chance.randint(2, 6))), chance))


@pytest.mark.parametrize("seed", range(4))
def test_examples_after_one_another_show_the_same_in_any_pieces(seed: int):
    chance = random.Random(seed)
    for _ in range(30):
        played(cuts(chance.choice(["", "\n", "\n\n"]).join(chance.choices(SPEC["examples"], k=3)), chance))


def outline(chance: random.Random) -> str:
    """A list of lists, more or less neat."""
    lines, level = [], 0
    for _ in range(chance.randint(2, 20)):
        level = max(0, min(3, level + chance.choice([-1, 0, 0, 0, 1, 1])))
        indent = chance.choice(["   ", "   ", "   ", "  ", " "]) * level
        marker = chance.choice(
            ["- ", "- ", "1. ", "2. ", "* ", "", "> "] if chance.random() < 0.3 else [("1. ", "- ")[level > 0]]
        )
        lines.append(indent + marker + chance.choice(OUTLINED))
    return "\n".join(lines) + chance.choice(["", "\n", "\n\nThe end."])


@pytest.mark.parametrize("seed", range(4))
def test_lists_of_lists_show_the_same_in_any_pieces(seed: int):
    chance = random.Random(seed)
    for _ in range(25):
        played(cuts(outline(chance), chance))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_odd_texts_show_the_same_in_any_pieces(seed: int):
    chance = random.Random(seed)
    for _ in range(150):
        played(cuts("".join(chance.choices(PIECES, k=chance.randint(2, 40))), chance))
        played(cuts(outline(chance), chance))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (["one\r", "\ntwo"], "one\ntwo"),
        (["one\r", "two"], "one\ntwo"),
        (["a\ud83d", "\ude00b"], "a😀b"),
        (["a\ud83d"], "a\ufffd"),
        (["\ude00b"], "\ufffdb"),
        (["a\0b\x1b[2J"], "a\ufffdb␛[2J"),
    ],
)
def test_line_ends_and_characters_cut_in_two_are_one(text: list[str], shown: str):
    assert played(text).container.text == shown


def test_a_link_that_is_defined_later_becomes_one_at_the_end():
    page = played(list("see [here] and[^n]\n\nmore\n\n[here]: https://a.test\n[^n]: a note\n"))
    assert [node.tag for node in page.container.walk() if node.tag in ("a", "sup")] == ["a", "sup", "sup"]


# What is sent


def rows(count: int) -> str:
    head = "| Name | Count | Share | Note |\n| --- | ---: | ---: | --- |\n"
    return head + "".join(f"| item {n} | {n * 7} | {n / 3:.2f} % | some note {n} |\n" for n in range(count))


def lines(count: int) -> str:
    body = "".join(f'    total += weigh(rows[{n}], "grams") * {n}  # and so on\n' for n in range(count))
    return f"```python\n{body}```\nThat is all."


def items(count: int) -> str:
    return "".join(f"- item {n} is **here** and `code{n}` follows\n" for n in range(count))


def points(count: int) -> str:
    point = "   - **Point {}**: some text about `thing` that goes on, with (details) and more words.\n"
    return "".join(f"{n}. **Topic**\n" + "".join(point.format(p) for p in range(count)) for n in range(1, 3))


def prose(count: int) -> str:
    sentence = "A keeper wrote down what he saw, in ink, before he slept, and left no line empty; "
    return "".join(sentence * 6 + f"that was rule {n}.\n\n" for n in range(count))


def mixed(count: int) -> str:
    return "".join("".join(PARAGRAPHS) for _ in range(count))


def ratio(text: str) -> float:
    """Bytes sent for TEXT, in pieces of about ten characters, over those of what it becomes (and 100 a frame)."""
    chance = random.Random(7)
    pieces = []
    while text:
        length = chance.randint(7, 13)
        pieces.append(text[:length])
        text = text[length:]
    page = played(pieces, every_prefix=False)
    return (page.bytes + 100 * page.frames) / (len(page.html) + 100 * page.frames)


@pytest.mark.parametrize(
    ("kind", "count"),
    [(prose, 6), (mixed, 2), (lines, 300), (rows, 100), (items, 100), (points, 20)],
    ids=lambda value: str(value)[:16],
)
def test_only_what_is_new_is_sent(kind, count: int):
    short, long = ratio(kind(count)), ratio(kind(2 * count))
    assert long <= 2.5
    assert long <= 1.05 * short


def tails(text: str, size: int = 10) -> int:
    """The longest text that had to be looked at again while TEXT grew."""
    growing, longest = Growing("item-1", "body"), 0
    for at in range(0, len(text), size):
        growing.grow(text[at : at + size])
        longest = max(longest, len(growing.tail))
    return longest


@pytest.mark.parametrize("kind", [prose, mixed, rows, items, points])
def test_what_is_settled_is_not_looked_at_again(kind):
    assert tails(kind(40)) < 1_000


@pytest.mark.parametrize("line", ["one more line of words\n", "> a line of a quote\n", "[a{0}]: https://a.test/{0}\n"])
def test_a_block_without_end_is_looked_at_in_parts(line: str):
    assert tails("".join(line.format(n) for n in range(3_000)), size=500) < 20_000


def test_new_words_alone_are_sent():
    growing = Growing("item-1", "body")
    growing.grow("# Title\n\n- first\n- second **bold** wor")
    (patch,) = growing.grow("ds & <more")
    assert (patch.how, patch.html) == ("beforeend", "ds &amp; &lt;more")
    assert patch.where == "#item-1-1>:first-child>:nth-last-child(1)"


def test_a_word_that_becomes_bold_replaces_its_item_only():
    growing = Growing("item-1", "body")
    growing.grow("- first\n- second\n- third **bold*")
    (patch,) = growing.grow("*")
    assert (patch.how, patch.html) == ("outerHTML", "<li>third <strong>bold</strong></li>")


def test_new_items_and_rows_are_appended():
    growing = Growing("item-1", "body")
    growing.grow("- one\n- two\n")
    assert [(patch.how, patch.html) for patch in growing.grow("- three")] == [("beforeend", "<li>three</li>")]
    growing = Growing("item-1", "body")
    growing.grow("|a|b|\n|-|-|\n|1|2|\n")
    assert [patch.html for patch in growing.grow("|3|4|\n")] == ["<tr><td>3</td><td>4</td></tr>"]


def test_lines_of_code_are_appended_as_they_are():
    growing = Growing("item-1", "body")
    growing.grow("1. Do\n\n   ```bash\n   one\n")
    (patch,) = growing.grow("   two <x>\n     three")
    assert (patch.how, patch.html) == ("beforeend", "two &lt;x&gt;\n  three")


def test_a_chosen_word_in_an_earlier_block_keeps_its_node():
    growing, page = Growing("item-1", "body"), Page()
    page.take(growing.grow("First paragraph.\n\nSecond "))
    first = page.container.elements[0]
    for piece in ("**para", "graph**", "\n\n- a\n", "- b\n\n", "```py\nx = 1\n", "```\n", "end"):
        page.take(growing.grow(piece))
    page.take(growing.finish())
    assert page.container.elements[0] is first


def test_a_fence_takes_its_characters_in_from_its_first_line_on():
    growing, page = Growing("item-1", "body"), Page()
    for piece in ("Here:\n``", "`py"):
        page.take(growing.grow(piece))
    for piece, code in (("thon\ndef", "def"), (" f():\n", "def f():\n"), ("  return 1", "def f():\n  return 1")):
        page.take(growing.grow(piece))
        (found,) = [node for node in page.container.walk() if node.tag == "code"]
        assert (found.text.rstrip("\n"), found.attributes) == (code.rstrip("\n"), [("class", "language-python")])
        assert "`" not in page.container.text


def test_the_end_of_a_fence_changes_its_code_and_nothing_around_it():
    """What is above stays: the switch that wraps lines, the focus, how far it was scrolled."""
    growing, page = Growing("item-1", "body"), Page()
    page.take(growing.grow("```py\nx = 1\n"))
    (pre,) = [node for node in page.container.walk() if node.tag == "pre"]
    (patch,) = growing.grow("```\n")
    assert patch.where == "#item-1-0>:nth-child(1)>:nth-child(4)>:nth-child(1)"
    page.take([patch])
    assert pre in page.container.walk() and pre.elements[0].attributes[1] == ("data-lines", "1 line")


def test_an_info_string_of_blanks_that_comes_in_pieces_is_no_language():
    page = played(["```", " ", " \na = 1\n```"])
    (code,) = [node for node in page.container.walk() if node.tag == "code"]
    assert (code.text, code.attributes) == ("a = 1\n", [("data-lines", "1 line")])


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("# A\n\n## B\n\n### C\n\n# D", "3453"),
        ("### A\n\n# B\n\n#### C\n\n###### D\n\n## E", "33454"),
        ("## A\n\n> # Q\n\n- ### I\n\n#### B", "3444"),
        ("# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6", "345666"),
    ],
)
def test_headings_have_their_places_below_those_of_the_page(text: str, levels: str):
    page = played(list(text))
    assert "".join(node.tag[1] for node in page.container.walk() if re.fullmatch("h[1-6]", node.tag)) == levels
