"""The map of DESIGN: who may import whom, held by reading the imports."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CENTRE = {"settings", "database", "models", "tables", "feed", "guard"}
SIDES = {"web", "runner", "live"}
ONLY = {
    "openai": {"runner/client.py"},
    "mcp": {"runner/plugins.py"},
    "asyncio": {"runner/plugins.py"},
    "markdown_it": {f"live/{name}.py" for name in ("markdown", "renderer", "outline", "syntax", "leaf")},
    "mdit_py_plugins": {"live/markdown.py", "live/syntax.py"},
    "markdown": {"web/help.py"},
    "app": set(),
}
MODULES = [
    path
    for path in sorted(ROOT.glob("**/*.py"))
    if not {"tests", "bench", ".venv", "data"} & set(path.relative_to(ROOT).parts)
]


def imported(path: Path) -> set[str]:
    """The top-level names PATH imports, and two levels for our own sides ("live.blocks")."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name.split(".")[0] for name in found}


def side(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")


def test_there_is_something_to_check():
    assert {"app", "database", *SIDES} <= {side(path) for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_sides_meet_only_in_rows(path: Path):
    names, own = imported(path), side(path)
    if own in SIDES:
        assert not names & (SIDES - {own}), f"{own} imports another side"
    if own in CENTRE:
        assert not names & SIDES, "the centre imports a side"
    for package, homes in ONLY.items():
        if str(path.relative_to(ROOT)) not in homes:
            assert package not in names, f"only {homes or 'nobody'} imports {package}"


def test_the_app_patches_before_it_imports_anything():
    lines = [line for line in (ROOT / "app.py").read_text().splitlines() if line.strip()]
    assert lines[:2] == ["from gevent import monkey", "monkey.patch_all()"]
