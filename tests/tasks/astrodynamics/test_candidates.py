"""Programs in the sandbox: initial programs, what they are given, what they cannot see."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark import evaluate
from benchmark.artifact import Artifact, ArtifactError, load, save
from benchmark.catalogue import find_task
from benchmark.provenance import sha256_file
from benchmark.task import Mirrored, Task
from tasks.astrodynamics.kernels import SHIPPED, SHIPPED_SHA256
from tasks.astrodynamics.tour import TOOLS

TASKS = ("cassini", "galileo", "mariner_10", "rosetta", "voyager_2")

DIRECT = """
from problem_config import load_problem_for_candidate
from tools_wrapper import Tools

problem = load_problem_for_candidate(__file__)
tools = Tools()


def node(kind, time, body, r, before, after):
    return {"type": kind, "time": time, "planet_id": body, "r": r,
            "v_before": before, "v_after": after}


def transfer(start=41989.0, end=42135.0):
    r0, u0 = tools.ephem("3", start)
    r1, u1 = tools.ephem("1", end)
    v0, v1 = tools.lambert(r0, r1, (end - start) * 86400.0, problem["mu_sun"])
    return [node("start", start, "3", r0, u0, v0), node("end", end, "1", r1, v1, u1)]
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("task", "grid", "lowest", "highest"),
    [
        ("mariner_10", 8.507945, 4.159, 4.163),
        ("voyager_2", 6.419315, 4.049, 4.053),
        ("galileo", 6.422420, 2.5, 2.65),
        ("cassini", 6.618032, 6.17, 6.19),
        ("rosetta", 9.991082, 8.957, 8.959),
    ],
)
def test_initial_program(task: str, grid: float, lowest: float, highest: float) -> None:
    found = find_task(task)
    result = evaluate(found, found.initial_program)
    assert result.status == "valid", result.reason
    notes = dict(line.split(": ") for line in result.attachments["diagnostics"].splitlines()[1:])
    assert float(notes["grid_dv_kms"]) == pytest.approx(grid, abs=1e-4)
    assert result.objective is not None
    assert lowest < result.objective < highest
    assert result.ndg == pytest.approx(0.0, abs=7.0)  # the anchor is fixed, not the day's score
    assert result.metrics["uses_tolerance"] == 0.0
    assert result.metrics["strict_dv"] == result.objective


def test_one_initial_program_serves_all_tasks() -> None:
    texts = {find_task(task).initial_program.read_bytes() for task in TASKS}
    assert len(texts) == 1
    (text,) = texts
    assert text.count(b"# EVOLVE-BLOCK-START") == text.count(b"# EVOLVE-BLOCK-END") == 1


def test_the_result_travels_as_an_artifact(program: Callable[[str], Path], tmp_path: Path) -> None:
    text = DIRECT + "\n\ndef run_code():\n    record.event('NaN')\n    return transfer()\n"
    result = evaluate("mariner_10", program(text))
    assert result.status == "valid", result.reason
    assert result.artifact is not None
    save(result.artifact, tmp_path / "tour.json")
    again = evaluate("mariner_10", artifact=tmp_path / "tour.json")
    assert again.objective == result.objective
    assert again.attachments == result.attachments
    assert again.artifact_sha256 == result.artifact_sha256
    bare = Artifact(json.loads((tmp_path / "tour.json").read_text())["trajectory"])
    assert evaluate("mariner_10", artifact=bare).objective == result.objective


def test_globals_are_bound_before_the_call(program: Callable[[str], Path]) -> None:
    text = DIRECT + (
        "\nproblem['mu_sun'] = 1.0\nfirst = problem\nrecord = None\n\n\n"
        "def run_code():\n"
        "    import os\n"
        "    import json\n"
        "    with open(os.environ['SIMPLETES_ASTRODYNAMICS_INSTANCE']) as file:\n"
        "        assert json.load(file) == problem\n"
        "    assert problem is not first\n"
        "    assert problem['id'] == 'mariner10_venus_mercury'\n"
        "    assert __name__ != '__main__'\n"
        "    record.set('start', 'planned')\n"
        "    record.event('no flyby')\n"
        "    record.set('start', 'flown')\n"
        "    return transfer()\n"
    )
    result = evaluate("mariner_10", program(text))
    assert result.status == "valid", (result.reason, result.stderr_tail)
    assert result.attachments["diagnostics"] == ("Notes of the program:\nstart: flown\nno flyby")


def test_published_imports_work(program: Callable[[str], Path]) -> None:
    text = DIRECT + (
        "\nfrom problem_config import MU, MU_SUN, RADIUS, default_flyby_altitude\n"
        "from TrajectoryToolKit.Ephs import planet_state\n"
        "from TrajectoryToolKit.OrbDyn.gravity import gravity_assists, ga_rp2delta\n"
        "from TrajectoryToolKit.OrbDyn.lambert import lambert, lambert_all_solutions\n"
        "from TrajectoryToolKit.OrbDyn.prop import farnocchia_rv\n\n\n"
        "def run_code():\n"
        "    nodes = transfer()\n"
        "    tof = 146.0 * 86400.0\n"
        "    nodes[0]['v_after'], nodes[1]['v_before'] = lambert(\n"
        "        MU_SUN, planet_state('3', 41989.0)[0], planet_state('1', 42135.0)[0], tof)\n"
        "    r, v = farnocchia_rv(MU_SUN, nodes[0]['r'], nodes[0]['v_after'], tof)\n"
        "    nodes[1].update(r=r, v_before=v)\n"
        "    assert default_flyby_altitude(problem, '2') == 1000.0\n"
        "    return nodes\n"
    )
    result = evaluate("mariner_10", program(text))
    assert result.status == "valid", (result.reason, result.stderr_tail)
    assert result.objective == pytest.approx(6.0214195, abs=1e-6)


SPY = """
import os

from tools_wrapper import Tools

TOOLS = os.path.dirname(__import__("tools_wrapper").__file__)
FORBIDDEN = ("evaluator.py", "task.toml", "flight.py", "tour.py", "problem.json", "initial.py")


def run_code():
    for name in ("benchmark", "tasks", "tasks.astrodynamics", "flight", "tour"):
        try:
            __import__(name)
            print("imported", name)
        except ImportError:
            pass
    for root in (os.path.dirname(TOOLS), os.path.dirname(os.path.dirname(TOOLS))):
        for folder, _, files in os.walk(root):
            print(*(os.path.join(folder, f) for f in files if f in FORBIDDEN))
    try:
        open(os.path.join(TOOLS, "tools_wrapper.py"), "a")
        print("writable")
    except OSError:
        pass
    print("end")
    return []
"""


def test_the_scorer_stays_out_of_sight(program: Callable[[str], Path]) -> None:
    result = evaluate("mariner_10", program(SPY))
    assert result.reason.startswith("schema: 0 nodes")
    assert result.stdout_tail.split() == ["end"]


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("def run_code():\n    return None", "invalid", "schema: run_code must return a list"),
        ("def run_code():\n    return tuple(transfer())", "invalid", "schema: .* not a tuple"),
        ("def run_code():\n    return [object(), object()]", "invalid", "schema: node 0 is a obj"),
        ("def run_code():\n    return 1 / 0", "crashed", r"ZeroDivisionError.*\(line 21\)"),
        ("def run_code():\n    raise SystemExit(0)", "crashed", "exited before returning"),
        ("run_code = 3", "invalid", r"the program defines no function run_code\(\)"),
        ("pass", "invalid", r"the program defines no function run_code\(\)"),
        ("def run_code(:", "crashed", r"SyntaxError.*\(line 20\)"),
        ("import tasks.astrodynamics.flight", "crashed", "ModuleNotFoundError"),
        (
            "def run_code():\n    a, b = transfer()\n    a['time'] = 1e999\n    return [a, b]",
            "invalid",
            "schema: node 0 has the time inf",
        ),
        (
            "def run_code():\n    a, b = transfer()\n    a['r'] = {1.0, 2.0}\n    return [a, b]",
            "invalid",
            "schema: node 0: r is or holds a set",
        ),
    ],
)
def test_broken_programs(
    program: Callable[[str], Path], body: str, status: str, reason: str
) -> None:
    result = evaluate("mariner_10", program(DIRECT.strip() + "\n\n\n" + body + "\n"))
    assert result.status == status
    assert re.search(reason, result.reason), result.reason
    assert result.objective is None


def test_notes_are_bounded_and_clean(program: Callable[[str], Path]) -> None:
    text = DIRECT + (
        "\n\ndef run_code():\n"
        "    for i in range(600):\n"
        "        record.set(f'k{i}', '\\x1b[31m')\n"
        "    record.event('x' * 4000)\n"
        "    record.event('NaN\\u2028\\x00')\n"
        "    return transfer()\n"
    )
    notes = evaluate("mariner_10", program(text)).attachments["diagnostics"]
    assert notes.startswith("Notes of the program:\nk0: [31m\nk1: [31m\n")
    assert "k250" in notes
    assert "x" * 10 not in notes
    assert len(notes) < 3050
    assert all(character == "\n" or character.isprintable() for character in notes)


@pytest.mark.parametrize(
    "answer",
    ["{}", "[]", "{'returned': [], 'diagnostics': 'x' * 10**6}", "{'diagnostics': ['a']}", "3"],
)
def test_a_forged_answer_is_only_an_answer(program: Callable[[str], Path], answer: str) -> None:
    """The code around the candidate runs in its process, so nothing that it says is trusted."""
    text = (
        "import candidate, flight_deck, sys\n"
        "for frame in sys._current_frames().values():\n"
        "    while frame:\n"
        "        if 'fly' in frame.f_globals:\n"
        f"            flight_deck.Record.to_string = lambda self: ({answer})\n"
        "        frame = frame.f_back\n\n\n"
        "def run_code():\n    return []\n"
    )
    result = evaluate("mariner_10", program(text))
    assert result.reason.startswith("schema: 0 nodes")
    assert len(result.attachments.get("diagnostics", "")) < 3050


def test_a_missing_official_kernel_is_explained() -> None:
    result = evaluate("cassini", artifact=Artifact([]), options={"ephemeris": "de430"})
    assert result.status == "unavailable"
    assert "de430.bsp" in result.reason
    assert "evoduet data fetch astrodynamics/cassini" in result.reason
    assert result.ndg is None


def with_official_kernel(sha256: str) -> Task:
    """The task to Mercury as if the official kernel had this checksum."""
    task = find_task("mariner_10")
    (file,) = task.declared.data
    mirrored = file.model_copy(
        update={"mirror": Mirrored(path="astrodynamics/de430.bsp", sha256=sha256), "source": None}
    )
    return replace(task, declared=task.declared.model_copy(update={"data": (mirrored,)}))


@pytest.fixture
def mirrored_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror whose official kernel is a copy of the shipped one."""
    path = tmp_path / "mirror" / "astrodynamics" / "de430.bsp"
    path.parent.mkdir(parents=True)
    path.write_bytes(SHIPPED.read_bytes())
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(tmp_path / "mirror"))
    return path


def test_another_kernel_serves_program_and_scorer(
    program: Callable[[str], Path], mirrored_kernel: Path
) -> None:
    text = DIRECT + (
        "\n\ndef run_code():\n"
        "    import os\n"
        "    record.set('kernel', os.path.basename(os.environ['EVODUET_EPHEMERIS']))\n"
        "    record.set('beside', os.listdir(os.path.dirname(os.environ['EVODUET_EPHEMERIS'])))\n"
        "    return transfer()\n"
    )
    (mirrored_kernel.parent / "held_out.json").write_text("{}")
    task = with_official_kernel(SHIPPED_SHA256)
    result = evaluate(task, program(text), options={"ephemeris": "de430"})
    assert result.status == "valid", (result.reason, result.stderr_tail)
    assert result.attachments["ephemeris"] == f"DE430: de430.bsp, sha256 {SHIPPED_SHA256}"
    assert "under DE430" in result.feedback
    assert result.attachments["diagnostics"].endswith("kernel: de430.bsp\nbeside: ['de430.bsp']")
    assert result.artifact is not None
    shipped = evaluate("mariner_10", artifact=result.artifact)
    assert shipped.objective == result.objective


def test_a_wrong_official_kernel_is_refused(mirrored_kernel: Path) -> None:
    task = find_task("mariner_10")
    result = evaluate(task, artifact=Artifact([]), options={"ephemeris": "de430"})
    assert result.status == "unavailable"
    assert "de430.bsp" in result.reason


def test_a_damaged_official_kernel_is_explained(mirrored_kernel: Path) -> None:
    mirrored_kernel.write_bytes(SHIPPED.read_bytes()[:30000])
    task = with_official_kernel(sha256_file(mirrored_kernel))
    result = evaluate(task, artifact=Artifact([]), options={"ephemeris": "de430"})
    assert result.status == "unavailable"
    assert result.reason.startswith("the ephemeris de430.bsp cannot be read: ")


def test_bad_files(tmp_path: Path) -> None:
    for content in (b"[{", b'[{"time": NaN}]', b"\xff\xfe", b""):
        (tmp_path / "tour.json").write_bytes(content)
        with pytest.raises(ArtifactError, match=r"tour\.json"):
            load(tmp_path / "tour.json")


def test_tools_need_nothing_but_their_folder() -> None:
    """The folder is shown to candidates, so it must not know how trajectories are scored."""
    for path in TOOLS.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "benchmark" not in text
        assert "tasks." not in text
        assert "olerance" not in text.replace("X_TOLERANCE", "")
