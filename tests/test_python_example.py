"""docs/python.md: its code runs as it stands, and what it draws is the trace."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import environment
from tests.serving import serving

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "python.md").read_text()
ADDRESS = "http://localhost:8000/"

# What a reader of the figure would see, beside the answer that it was drawn from.
READ = """
import json
drawn = {
    "bars": [float(bar.get_height()) for bar in axes.patches],
    "dots": list(map(float, axes.lines[0].get_ydata())),
    "labels": [label.get_text() for label in axes.get_xticklabels()],
    "legend": [text.get_text() for text in axes.get_legend().get_texts()],
}
figure.canvas.draw()
print(json.dumps({"drawn": drawn, "trace": answer.json()}))
"""


def code():
    (found,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    return found


def test_the_code_is_ten_lines_of_two_packages():
    lines = [line for line in code().splitlines() if line]
    imports = [line for line in lines if line.startswith("import ")]
    assert imports == ["import httpx", "import matplotlib.pyplot as plt"]
    assert len(lines) - len(imports) <= 10


@pytest.mark.real_model
def test_the_figure_is_the_trace(tmp_path):
    assert ADDRESS in code()
    with serving(tmp_path / "data", "--model", "smollm2-135m") as server:
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", code().replace(ADDRESS, f"{server.url}/") + READ],
            env=environment(MPLBACKEND="Agg", MPLCONFIGDIR=str(tmp_path)),
            capture_output=True,
            text=True,
        )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    steps = told["trace"]["steps"]
    assert len(steps) == 8
    assert told["drawn"] == {
        "bars": [step["selected_probability"] for step in steps],
        "dots": [step["alternatives"][0]["probability"] for step in steps],
        "labels": [repr(step["selected_token"]) for step in steps],
        "legend": ["best other", "chosen"],
    }
