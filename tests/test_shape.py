"""Nothing grows past a screen unseen: the sizes of modules, functions, templates, styles and scripts."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIMITS = {"templates/**/*.html": 80, "static/css/*.css": 250, "static/js/*.js": 200}
MODULE, FUNCTION, USUAL = 300, 40, 20
OWN = {  # file: its own limit, and why
    "app.py": 120,  # wiring only
    "models.py": 400,  # the table of contents of the tables
}
NAMES = {"manager", "service", "handler", "helper", "util", "utils", "common", "data", "info", "process", "misc"}
OUTSIDE = {"tests", "bench", ".venv", "data"}


def files(pattern: str) -> list[Path]:
    return [p for p in sorted(ROOT.glob(pattern)) if not OUTSIDE & set(p.relative_to(ROOT).parts)]


SIZED = [(path, OWN.get(str(path.relative_to(ROOT)), MODULE)) for path in files("**/*.py")]
SIZED += [(path, limit) for pattern, limit in LIMITS.items() for path in files(pattern)]


@pytest.mark.parametrize(("path", "limit"), SIZED, ids=lambda value: str(value).removeprefix(f"{ROOT}/"))
def test_a_file_fits_its_limit(path: Path, limit: int):
    assert len(path.read_text().splitlines()) <= limit


def functions() -> list[tuple[str, int]]:
    """(where, lines of the body without its docstring) of every function."""
    found = []
    for path in files("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                found.append((f"{path.relative_to(ROOT)}:{node.name}", node.body[-1].end_lineno - first.lineno + 1))
    return found


def test_functions_fit_on_a_screen():
    sizes = functions()
    assert len(sizes) > 100
    assert [where for where, lines in sizes if lines > FUNCTION] == []
    assert sum(lines > USUAL for _, lines in sizes) <= len(sizes) / 10


def test_modules_are_called_what_they_are():
    assert [path for path in files("**/*.py") if path.stem in NAMES] == []
