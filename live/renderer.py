"""The HTML of Markdown's tokens: what the text says through the sanitiser, our own drawings after it."""

import re
from html import escape

from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from live.formula import mathml
from live.highlight import coloured
from live.safe import CODE_CLASS, cleaned, destination, disguised, visible

TABLE = '<div class="table" tabindex="0" role="group" aria-label="Table"><table>'
WRAP = '<input class="code__wrap" type="checkbox" aria-label="Wrap">'
COPY = '<button class="code__copy" type="button" data-action="copy-code">Copy</button>'
SLOT = re.compile(r'<slot name="(\d+)"></slot>')


def safe(tokens: list[Token], env: dict, md: MarkdownIt) -> str:
    """The HTML of TOKENS, sanitised; then our own drawings (code, formulas) come into their places."""
    env["drawings"] = []
    html = cleaned(md.renderer.render(tokens, md.options, env))
    html = html.replace("<table>", TABLE).replace("</table>", "</table></div>")
    drawings = env["drawings"]
    return SLOT.sub(lambda slot: drawings[int(slot[1])], html) if drawings else html


def slot(env: dict, drawing: str) -> str:
    """A place in the HTML that DRAWING takes after the sanitiser."""
    env["drawings"].append(drawing)
    return f'<slot name="{len(env["drawings"]) - 1}"></slot>'


def figure(code: str, info: str, ended: bool) -> str:
    """Code as it shows, below its language and what one can do with it; in colours, and counted, once it has ENDED."""
    name, code = (unescapeAll(info).split() or [""])[0], visible(code)
    language = name if CODE_CLASS.fullmatch(f"language-{name}") else ""
    text = coloured(code, language.lower()) if ended else escape(code, quote=False)
    named = f' class="language-{language}"' if language else ""
    long = f' data-lines="{counted(code)}"' if ended else ""
    pre = f'<pre tabindex="0" role="group" aria-label="Code"><code{named}{long}>{text}</code></pre>'
    return f'<figure class="code"><figcaption>{language}</figcaption>{WRAP}{COPY}{pre}</figure>'


def counted(code: str) -> str:
    lines = len(code.removesuffix("\n").split("\n")) if code else 0
    return "1 line" if lines == 1 else f"{lines:,} lines"


class Drawing(RendererHTML):
    """markdown-it's renderer without line ends between tags, and with our figures, formulas, images and links."""

    def renderToken(self, tokens, idx, options, env):
        token = tokens[idx]
        if token.hidden:
            return ""
        if align := token.attrs.get("style"):
            token.attrs = {"align": align.removeprefix("text-align:")}
        return ("</" if token.nesting == -1 else "<") + token.tag + self.renderAttrs(token) + ">"

    def list_item_open(self, tokens, idx, options, env):
        return '<li class="task">' if tokens[idx].meta.get("task") else "<li>"

    def fence(self, tokens, idx, options, env):
        token = tokens[idx]
        ended = token.map[1] <= env["complete"] if token.meta["closed"] else token.map[1] < env["lines"]
        return slot(env, figure(token.content, token.info, env["final"] or ended))

    def code_block(self, tokens, idx, options, env):
        return slot(env, figure(tokens[idx].content, "", ended=False))

    def code_inline(self, tokens, idx, options, env):
        return f"<code>{escape(visible(tokens[idx].content))}</code>"

    def formula(self, tokens, idx, options, env):
        token = tokens[idx]
        return slot(env, mathml(token.content, token.meta["display"]))

    def hardbreak(self, tokens, idx, options, env):
        return "<br>"

    def link_open(self, tokens, idx, options, env):
        for token in tokens[idx + 1 :]:
            if token.type == "link_close":
                break
            token.content = visible(token.content)
        return self.renderToken(tokens, idx, options, env) if tokens[idx].attrs["href"] else ""

    def link_close(self, tokens, idx, options, env):
        start = idx
        while tokens[start].type != "link_open":
            start -= 1
        url = tokens[start].attrs["href"]
        if not url:
            return ""
        named = disguised(self.renderInlineAsText(tokens[start + 1 : idx], options, env), url)
        return f'</a><span class="host"> ({escape(named)})</span>' if named else "</a>"

    def image(self, tokens, idx, options, env):
        """An image is never fetched: a link to it that says where it leads, or its words where a link may not be."""
        token = tokens[idx]
        words, url = visible(self.renderInlineAsText(token.children, options, env)), token.attrs["src"]
        host, open_links = destination(url), sum(t.nesting for t in tokens[:idx] if t.type.startswith("link_"))
        if not host:
            return escape(words)
        said = f"Outside image from {escape(host)}" + (f": {escape(words)}" if words.strip() else "")
        if open_links or "@" in host:
            return f'<span class="outside-image">{said}</span>'
        return f'<a class="outside-image" href="{escape(url)}">{said}</a>'

    def footnote_ref(self, tokens, idx, options, env):
        return f"<sup>[{escape(tokens[idx].meta['label'])}]</sup>"

    def footnote_label(self, tokens, idx, options, env):
        return f"<sup>[{escape(tokens[idx].content)}]</sup>"

    def footnote_reference_open(self, tokens, idx, options, env):
        return f"<p>{self.renderInline(tokens[idx].children or [], options, env)}</p>" if tokens[idx].children else ""

    def footnote_reference_close(self, tokens, idx, options, env):
        return ""
