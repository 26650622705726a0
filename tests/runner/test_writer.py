"""Growing texts are saved once and in order, whatever crosses a save."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("how", ["ended", "given up"])
def test_a_long_answer_is_kept_once_when_saves_of_it_meet(how: str, tmp_path: Path):
    program = [sys.executable, "-m", "tests.runner.saving", str(tmp_path / "parley.db"), how]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "whole", done.stdout + done.stderr
