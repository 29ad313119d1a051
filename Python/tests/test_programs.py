"""The programs of docs/python.md print what their comments promise."""
import pathlib
import subprocess
import sys

import pytest
from support import LIMIT

PROGRAMS = sorted(
    (pathlib.Path(__file__).parents[2] / "Examples" / "python").glob("*.py"),
    key=lambda path: path.stem)
NEED_A_BUS = {"service", "errors", "workers"}


def test_there_are_programs():
    assert len(PROGRAMS) >= 10


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_what_it_promises(bus, program):
    if bus.kind == "none" and program.stem in NEED_A_BUS:
        pytest.skip("it needs a bus")
    promised = [line.removeprefix("# prints: ") for line in program.read_text().splitlines()
                if line.startswith("# prints: ")]
    ended = subprocess.run([sys.executable, str(program)], text=True, capture_output=True,
                           timeout=LIMIT)
    assert (ended.returncode, ended.stdout.splitlines(), ended.stderr) == (0, promised, "")
