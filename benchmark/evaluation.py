"""The whole harness in one call: :func:`evaluate`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import math
import shutil
import statistics
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmark import provenance
from benchmark.artifact import Artifact, ArtifactError
from benchmark.artifact import load as load_artifact
from benchmark.catalogue import find_task
from benchmark.data import data_store
from benchmark.evaluator import (
    Evaluator,
    Failure,
    Score,
    Setup,
    Stage,
    Status,
    Unavailable,
)
from benchmark.harness import Harness, default_harness
from benchmark.ndg import ndg
from benchmark.sandbox.session import Account
from benchmark.scoring import score_in_process
from benchmark.task import Task, TaskError


@dataclass(frozen=True)
class Evaluation:
    """The verdict on one program or artifact, and what is needed to trust and repeat it.

    ``search`` steers a method, ``objective`` is the reporting metric, ``ndg`` its place on the
    common scale (percent; ``None`` where the objective is not known or not comparable). Times in
    seconds, memory in MB. ``artifact`` itself is kept for plots and storage, not serialised.
    """

    task: str
    status: Status
    stage: str
    search: float | None = None
    objective: float | None = None
    ndg: float | None = None
    ndg_raw: float | None = None
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    feedback: str = ""
    attachments: Mapping[str, str] = field(default_factory=dict)
    certificate: Mapping[str, str] = field(default_factory=dict)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    isolation: str = "none"
    threads: int = 1
    stdout_tail: str = ""
    stderr_tail: str = ""
    program: str | None = None
    program_sha256: str | None = None
    artifact_sha256: str | None = None
    repeats: tuple[Mapping[str, Any], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the harness measured about the artifact: status, CPU time or memory of each case."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    artifact: Artifact | None = field(default=None, repr=False, compare=False)

    @property
    def valid(self) -> bool:
        """True when there is a score."""
        return self.status == "valid"

    def to_json(self) -> dict[str, Any]:
        """All fields but the artifact, as JSON values."""
        record = asdict(replace(self, artifact=None))
        del record["artifact"]
        return record


def evaluate(
    task: str | Task,
    program: Path | str | None = None,
    stage: str = "search",
    *,
    artifact: Path | str | Artifact | None = None,
    variant: str | None = None,
    options: Mapping[str, str] | None = None,
    repeats: int = 1,
    wall_s: float | None = None,
    memory_mb: int | None = None,
    exact: bool = False,
    harness: Harness | None = None,
) -> Evaluation:
    """Score a program, or a stored artifact without any program.

    ``stage`` is ``search`` (the default, the only one that may steer a method), ``report`` or
    ``both``. ``variant`` picks the data (default: the first that is available), ``options`` are the
    task's own settings as text, ``repeats`` evaluates several times and reports the mean and each
    value. ``wall_s`` and ``memory_mb`` replace the task's limits, ``exact`` adds the exact
    certificate. A candidate's failure is a verdict, not an exception.

    Raises :class:`~benchmark.task.TaskError`, :class:`~benchmark.catalogue.UnknownTask`,
    :class:`~benchmark.artifact.ArtifactError`, ``OSError`` or ``ValueError`` for bad arguments.
    """
    if (program is None) == (artifact is None):
        raise ValueError("give either a program or an artifact")
    if repeats < 1 or (artifact is not None and repeats > 1):
        raise ValueError("repeats must be at least 1, and 1 for a stored artifact")
    setup = prepare(task, variant, options)
    job = _Job(
        task=setup.task,
        setup=setup,
        harness=harness or (default_harness() if program is not None else None),
        program=Path(program) if program is not None else None,
        artifact=artifact
        if isinstance(artifact, Artifact | None)
        else load_artifact(Path(artifact)),
        wall_s=wall_s,
        memory_mb=memory_mb,
        exact=exact,
    )
    if job.program is not None and not job.program.is_file():
        what = "is a folder, name a program" if job.program.is_dir() else "there is no such file"
        raise FileNotFoundError(f"{job.program}: {what}")
    results = [job.stages(stage) for _ in range(repeats)]
    return results[0] if repeats == 1 else _summary(results, setup)


def prepare(
    task: str | Task, variant: str | None = None, options: Mapping[str, str] | None = None
) -> Setup:
    """Resolve a task, its data variant and its options (texts); raises as :func:`evaluate`."""
    found = find_task(task) if isinstance(task, str) else task
    return Setup(found, choose_variant(found, variant), found.options(options or {}))


def _score(evaluator: Evaluator, artifact: Artifact, stage: Stage) -> Score:
    """Score in this process, or in a limited one of its own where the evaluator asks for it."""
    score = score_in_process if evaluator.score_in_process else type(evaluator).score
    return score(evaluator, artifact, stage)


def load_evaluator(setup: Setup, *, for_programs: bool = False) -> Evaluator:
    """The task's evaluator. Raises :class:`Unavailable` when a library is missing.

    ``for_programs``: also when a compiler is, which stored artifacts do not need.
    """
    task = setup.task
    for module in task.declared.requires:
        if importlib.util.find_spec(module) is None:
            raise Unavailable(f"{task.id} needs the library {module}: pip install 'evoduet[all]'")
    for command in task.declared.toolchain if for_programs else ():
        if shutil.which(command) is None:
            raise Unavailable(f"{task.id} needs {command} on the PATH: see `evoduet doctor`")
    module = _evaluator_module(task)
    maker = getattr(module, "EVALUATOR", None)
    if not callable(maker):
        raise TaskError(f"{task.folder / 'evaluator.py'}: defines no EVALUATOR")
    evaluator = maker(setup)
    if not isinstance(evaluator, Evaluator):
        raise TaskError(f"{task.folder / 'evaluator.py'}: EVALUATOR makes no benchmark.Evaluator")
    return evaluator


def _evaluator_module(task: Task) -> Any:
    if task.package is not None:
        return importlib.import_module(f"{task.package}.evaluator")
    name = "evoduet_task_" + hashlib.sha256(str(task.folder).encode()).hexdigest()[:16]
    with _loading:  # threads must not see a module that is half loaded
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, task.folder / "evaluator.py")
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]


_loading = threading.Lock()


def choose_variant(task: Task, wanted: str | None) -> str:
    """The data variant to use. Raises :class:`TaskError` for one that the task does not have."""
    variants = task.declared.variants
    if wanted is not None and wanted not in variants:
        raise TaskError(f"--variant {wanted}: {task.id} has {', '.join(variants)}")
    return wanted or data_store().first_available(task)


@dataclass(frozen=True)
class _Job:
    """One request to evaluate, resolved."""

    task: Task
    setup: Setup
    harness: Harness | None
    """``None`` for a stored artifact: scoring one needs no sandbox."""
    program: Path | None
    artifact: Artifact | None
    wall_s: float | None
    memory_mb: int | None
    exact: bool

    def stages(self, wanted: str) -> Evaluation:
        if wanted not in ("search", "report", "both"):
            raise ValueError(f"stage {wanted!r}: use search, report or both")
        try:
            evaluator = load_evaluator(self.setup, for_programs=self.program is not None)
        except Failure as failure:
            return self._failed("search", failure, Account())
        if wanted == "search" or "report" not in evaluator.stages:
            return self._stage(evaluator, "search")
        if wanted == "report":
            return self._stage(evaluator, "report")
        search = self._stage(evaluator, "search")
        return _joined(search, self._stage(evaluator, "report")) if search.valid else search

    def _stage(self, evaluator: Evaluator, stage: Stage) -> Evaluation:
        limits = self.task.limits.changed(wall_s=self.wall_s, memory_mb=self.memory_mb)
        account = Account()
        produced = self.artifact
        try:
            if produced is None:
                assert self.program is not None
                assert self.harness is not None
                session = self.harness.session(limits)
                account = session.account
                produced = evaluator.produce(self.program, session, stage)
            score = _score(evaluator, produced, stage)
            certificate = evaluator.certify(produced) if self.exact else {}
            return self._scored(stage, score, certificate, account, produced)
        except Failure as failure:
            return self._failed(stage, failure, account, produced)
        except (TaskError, ArtifactError, MemoryError, KeyboardInterrupt):
            raise
        except Exception as error:
            reason = f"infrastructure: {type(error).__name__}: {error}"
            return self._failed(stage, Unavailable(reason), account, produced)

    def _scored(
        self,
        stage: Stage,
        score: Score,
        certificate: Mapping[str, str],
        account: Account,
        artifact: Artifact,
    ) -> Evaluation:
        anchors = self.task.declared.anchors
        comparable = (
            self.setup.variant == "official" and score.comparable and score.objective is not None
        )
        gain = ndg(score.objective, anchors.initial.value, anchors.sota.value)
        return replace(
            self._record(stage, "valid", account, artifact),
            search=score.search,
            objective=score.objective,
            ndg=gain.value if comparable else None,
            ndg_raw=gain.raw if comparable else None,
            metrics=dict(score.metrics),
            feedback=score.feedback,
            attachments=dict(score.attachments),
            certificate=dict(certificate),
        )

    def _failed(
        self, stage: Stage, failure: Failure, account: Account, artifact: Artifact | None = None
    ) -> Evaluation:
        return replace(
            self._record(stage, failure.status, account, artifact),
            ndg=0.0 if failure.status != "unavailable" else None,
            reason=str(failure),
            attachments=failure.attachments,
        )

    def _record(
        self, stage: Stage, status: Status, account: Account, artifact: Artifact | None
    ) -> Evaluation:
        return Evaluation(
            task=self.task.id,
            status=status,
            stage=stage,
            wall_s=account.wall_s,
            cpu_s=account.cpu_s,
            peak_mb=account.peak_mb,
            isolation=self.harness.isolation if self.program and self.harness else "none",
            threads=self.harness.threads if self.program and self.harness else 1,
            stdout_tail=account.stdout_tail,
            stderr_tail=account.stderr_tail,
            program=str(self.program) if self.program is not None else None,
            program_sha256=provenance.sha256_file(self.program) if self.program else None,
            artifact_sha256=artifact.digest() if artifact is not None else None,
            artifact=artifact,
            facts=dict(artifact.facts) if artifact is not None else {},
            provenance={
                "task_version": self.task.declared.version,
                "evaluator_digest": provenance.evaluator_digest(self.task),
                "variant": self.setup.variant,
                "data": self._data_digests(),
                "options": {name: _text(value) for name, value in self.setup.options.items()},
                "limits": asdict(
                    self.task.limits.changed(wall_s=self.wall_s, memory_mb=self.memory_mb)
                ),
                "versions": provenance.versions(self.task.declared.requires),
                "machine": provenance.machine(),
            },
        )

    def _data_digests(self) -> dict[str, str]:
        try:
            return data_store().digests(self.task, self.setup.variant)
        except Unavailable:
            return {}


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def _joined(search: Evaluation, report: Evaluation) -> Evaluation:
    """Search score and metrics of one stage, objective of the other, costs of both."""
    known = report if report.objective is not None or not report.valid else search
    return replace(
        report,
        stage="both",
        search=search.search,
        objective=known.objective,
        ndg=known.ndg,
        ndg_raw=known.ndg_raw,
        metrics={**search.metrics, **report.metrics},
        feedback="\n".join(filter(None, (search.feedback, report.feedback))),
        wall_s=search.wall_s + report.wall_s,
        cpu_s=search.cpu_s + report.cpu_s,
        peak_mb=max(search.peak_mb, report.peak_mb),
    )


def _summary(results: list[Evaluation], setup: Setup) -> Evaluation:
    """Mean over repeats, each value kept; the first failure is the verdict of all.

    Unless the evaluator gives failed repeats a value: then they count with it, and the repeats fail
    together only when every one did.
    """
    rows = tuple(
        {"status": r.status, "search": r.search, "objective": r.objective, "ndg": r.ndg}
        for r in results
    )
    counted = [result for result in results if result.valid]
    failed = [result for result in results if not result.valid]
    if failed:
        value = load_evaluator(setup).failed_repeat if counted else None
        if value is None or any(result.status == "unavailable" for result in failed):
            return replace(failed[0], repeats=rows)
        counted += [replace(counted[0], search=value, objective=value) for _ in failed]
    objective = _mean(counted, "objective")
    anchors = setup.task.declared.anchors
    gain = ndg(objective, anchors.initial.value, anchors.sota.value)
    defined = objective is not None and counted[0].ndg is not None
    spread = statistics.stdev([result.search or 0.0 for result in counted])
    return replace(
        counted[0],
        search=_mean(counted, "search"),
        objective=objective,
        ndg=gain.value if defined else None,
        ndg_raw=gain.raw if defined else None,
        metrics={**counted[0].metrics, "search_stdev": spread},
        reason=failed[0].reason if failed else "",
        wall_s=math.fsum(result.wall_s for result in results),
        cpu_s=math.fsum(result.cpu_s for result in results),
        peak_mb=max(result.peak_mb for result in results),
        repeats=rows,
    )


def _mean(results: list[Evaluation], name: str) -> float | None:
    values = [getattr(result, name) for result in results]
    return None if None in values else math.fsum(values) / len(values)
