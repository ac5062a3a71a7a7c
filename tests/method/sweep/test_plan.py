"""Plans: what is refused and where the message points, names that stay, equal conditions, costs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shared_data import REPOSITORY
from sweep_cases import toy, write_plan

from method.sweep.lines import line_of
from method.sweep.plan import PlanError, read_plan
from method.sweep.session import Session, open_session

HEAD = """
[defaults]
model = "offline/perturb"
[grid]
task = ["cp26"]
"""


def opened(folder: Path, text: str, **options: object) -> Session:
    return open_session(write_plan(folder, text), folder / "out", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_costs = 3\n", "line 1: max_costs: unknown key; did you mean max_cost?"),
        ("max_cost = 'much'\n", "line 1: max_cost: "),
        ("max_cost = -1\n", "line 1: max_cost: "),
        ("kind = 'walks'\n", "line 1: kind: "),
        ("name = '../up'\n", "line 1: name: "),
        ("[usd_per_call]\n'a/b' = -1\n", "line 2: usd_per_call.a/b: "),
        (f"{HEAD}sead = [1]\n", "line 6: grid.sead: unknown key; did you mean seed?"),
        (f"{HEAD}seed = 1\n", "line 6: grid.seed: an axis is a list"),
        (f"{HEAD}seed = []\n", "line 6: grid.seed: an axis needs at least one value"),
        (f"{HEAD}seed = [1, 'two']\n", "line 6: grid.seed: "),
        (f"{HEAD}\n[[arms]]\nN = 1\n[[arms]]\nmethd = 'none'\n", "line 10: arms.2.methd: unknown"),
        (f"{HEAD}method = ['none', 'evo']\n", "line 6: grid.method: unknown method 'evo'"),
        (f"{HEAD}[[arms]]\ntask = 'cp32'\n", "line 7: arms.1.task: is an axis of the grid, too"),
        (f"{HEAD}model = ['x/y']\n", "line 3: defaults.model: is an axis of the grid, too"),
        ("[grid]\nseed = [1]\n", "line 1: grid: task: missing"),
        ("[grid]\ntask = ['cp62']\n", "line 2: grid.task: unknown task 'cp62': did you mean"),
        ("[grid]\ntask = [3]\n", "line 2: grid.task: expected a task's id or name, got 3"),
        ("[grid]\ntask = ['cp26']\n", "defaults.model: give PROVIDER/NAME"),
        (f"{HEAD}N = [1]\n[[arms]]\ncandidates = 1\n", "line 8: arms.1.candidates: is an axis"),
        ("[grid\n", "not TOML: .*line 1"),
        (
            f"{HEAD}cassette = ['calls.jsonl']\n",
            "line 6: grid.cassette: runs of a sweep cannot record into one file",
        ),
        (
            f"{HEAD}method = ['none', 'openevolve-native+none']\n",
            "are the same run",
        ),
    ],
)
def test_a_problem_names_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message) as caught:
        opened(tmp_path, text)
    assert str(tmp_path / "plan.toml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lines_of_keys() -> None:
    text = '# x = 1\n"a b" = 1\n[t.u]\nk.l = [\n  2,\n]\n[[v]]\nm = { n = 3 }\n[[v]]\nm = 4\n'
    assert line_of(text, ("a b",)) == 2
    assert line_of(text, ("t", "u", "k", "l")) == 4
    assert line_of(text, ("v", 0, "m", "n")) == 8
    assert line_of(text, ("v", 1, "m")) == 10
    assert line_of(text, ("v", 1, "missing")) == 9
    assert line_of(text, ("nothing",)) is None


def test_the_grid_is_every_combination_with_each_arm(tmp_path: Path) -> None:
    session = opened(
        tmp_path,
        """
[defaults]
model = "offline/perturb"
[grid]
task = ["cp26,sindy_2d", "cp32"]
seed = [1, 2]
N = [1, 8]
[[arms]]
method = "none"
[[arms]]
method = "evoduet"
gate = "random"
""",
    )
    assert len(session.cells) == 3 * 2 * 2 * 2
    assert {cell.config.gate for cell in session.cells if cell.config} == {"knowledge", "random"}
    assert len({cell.job.id for cell in session.cells}) == len(session.cells)
    assert session.cells[0].job.id.startswith("cp26/none-perturb-N1-s1-")
    assert Path(session.cells[0].job.spec["folder"]) == tmp_path / "out" / session.cells[0].job.id
    estimate = session.estimate(session.cells)
    assert estimate.jobs == 24
    assert estimate.cost_usd == 0
    assert not (tmp_path / "out").exists()


def names(session: Session) -> set[str]:
    return {cell.job.id for cell in session.cells}


def test_names_stay_when_a_plan_grows_and_change_with_what_decides_a_run(tmp_path: Path) -> None:
    first = names(opened(tmp_path, HEAD))
    grown = names(opened(tmp_path, f"{HEAD}seed = [42, 43]\nmethod = ['evoduet', 'none']\n"))
    assert first < grown
    for same in ("iterations = [100]", "workers = [2]", "max_cost = [3.0]", "presets = [['N8']]"):
        assert names(opened(tmp_path, f"{HEAD}{same}\n")) == first, same
    for other in ("iterations = [99]", "rules = ['robust']", "sampling = [{ temperature = 0.1 }]"):
        assert not names(opened(tmp_path, f"{HEAD}{other}\n")) & first, other


@pytest.mark.parametrize(
    ("field", "ours", "theirs"),
    [("edit", "'full'", "diff"), ("workers", "3", "1"), ("iterations", "7", "100"),
     ("eval_wall_s", "5.0", "task"), ("isolation", "'process'", "auto")],
)  # fmt: skip
def test_unequal_conditions_are_refused_unless_released(
    tmp_path: Path, field: str, ours: str, theirs: str
) -> None:
    text = f'{HEAD}[[arms]]\nmethod = "none"\n[[arms]]\nmethod = "evoduet"\n{field} = {ours}\n'
    with pytest.raises(PlanError, match=f"line 10: arms.2.{field}: unequal conditions") as caught:
        opened(tmp_path, text)
    assert f"{theirs} for the arm method=none" in str(caught.value)
    assert "for method=evoduet" in str(caught.value)
    session = opened(tmp_path, "as_released = true\n" + text)
    assert len(session.cells) == 2
    assert session.notes == opened(tmp_path, text, as_released=True).notes != ()


def test_two_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    one, two = toy(tmp_path / "a"), toy(tmp_path / "b")
    for text in (HEAD, HEAD.replace("[defaults]", "kind = 'evaluations'\n[defaults]")):
        if "evaluations" in text:
            text = text.replace('model = "offline/perturb"', 'program = "initial"')
        with pytest.raises(PlanError, match="two tasks of one name"):
            opened(tmp_path, text.replace('"cp26"', f'"{one}", "{two}"'))


def test_tasks_may_differ_in_iterations(tmp_path: Path) -> None:
    session = opened(tmp_path, HEAD.replace('["cp26"]', '["cp26", "sindy_2d"]'))
    assert session.notes == ()
    bounds = [cell.bound.iterations for cell in session.cells if cell.bound]
    assert bounds == [100, 20]


PAID = """
usd_per_call = 0.01
max_cost = 20.0
[defaults]
model = "openai/some"
iterations = 10
method = "none"
max_attempts = 1
candidates = 2
[grid]
task = ["cp26"]
"""


def test_a_plan_over_its_cap_is_refused(tmp_path: Path) -> None:
    session = opened(tmp_path, PAID)
    assert session.estimate(session.cells).cost_usd == pytest.approx(10 * 2 * 0.01)
    with pytest.raises(PlanError, match=r"line 3: max_cost: the plan may cost 0.20 USD"):
        opened(tmp_path, PAID, max_cost=0.19)
    assert opened(tmp_path, PAID, max_cost=0.21).max_cost == 0.21
    capped = PAID.replace('method = "none"', 'method = "none"\nmax_cost = 0.1')
    assert opened(tmp_path, capped, max_cost=0.19).estimate(session.cells) is not None
    unknown = opened(tmp_path, PAID.replace("usd_per_call = 0.01", ""), max_cost=0.01)
    assert unknown.estimate(unknown.cells).cost_usd is None
    by_model = PAID.replace("usd_per_call = 0.01\n", "") + '[usd_per_call]\n"openai/some" = 1.0\n'
    with pytest.raises(PlanError, match=r"may cost 20.00 USD"):
        opened(tmp_path, by_model, max_cost=19.0)


def test_evaluations_are_programs_times_tasks(tmp_path: Path) -> None:
    one, two = toy(tmp_path, "one"), toy(tmp_path, "two")
    programs = tmp_path / "programs"
    (programs / "toys").mkdir(parents=True)
    for name in ("a", "b", "one"):
        (programs / f"{name}.py").write_text(f"def run_code():\n    return [0.5]  # {name}\n")
    text = f"""
kind = "evaluations"
[grid]
task = ["{one}", "{two}"]
program = ["initial", "{programs}/[ab].py", "{programs}"]
"""
    session = opened(tmp_path, text)
    assert [cell.axes["program"].rpartition("/")[2] for cell in session.cells] == [
        *("initial.py", "a.py", "b.py", "one.py"),
        *("initial.py", "a.py", "b.py"),
    ]
    assert session.notes == (f"no program for two in {programs}",)
    with pytest.raises(PlanError, match=r"line 5: grid.program: .*none.py: no such file"):
        opened(tmp_path, text.replace("initial", f"{programs}/none.py"))
    with pytest.raises(PlanError, match=r"line 6: grid.stage"):
        opened(tmp_path, f"{text}stage = ['never']\n")
    with pytest.raises(PlanError, match=r"line 6: grid.options: --set bonos"):
        opened(tmp_path, f"{text}options = [{{ bonos = '1' }}]\n")
    with pytest.raises(PlanError, match=r"line 6: grid.method: unknown key"):
        opened(tmp_path, f"{text}method = ['none']\n")


def test_the_name_is_that_of_the_file(tmp_path: Path) -> None:
    assert read_plan(write_plan(tmp_path, HEAD, "my plan.toml")).name == "my-plan"
    assert read_plan(write_plan(tmp_path, 'name = "gates"\n' + HEAD)).name == "gates"


def test_the_plan_of_the_page_is_one(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "scaling.md").read_text()
    first, second = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    session = opened(tmp_path, first)
    assert len(session.cells) == 11 * 3 * 2 * 3
    assert session.plan.name == "gates"
    (tmp_path / "a.py").write_text("def run():\n    return 1\n")
    programs = opened(tmp_path, second.replace("candidates/*.py", f"{tmp_path}/*.py"))
    assert {cell.axes["program"].rpartition("/")[2] for cell in programs.cells} >= {"a.py"}
