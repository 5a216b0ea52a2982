"""Stage `validation`: probe agents commit known failures in real calls, and what is found is counted.

The measurer is measured as it runs: the same lines, annotator, detectors and judge as for every agent
(T1-T11, D2). Recordings are kept of the calls in which something was missed, or seen where nothing is.
"""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.calls.bank import read_lines
from inquesto_dag.events.detect import detect_events
from inquesto_dag.files import read_json, write_json
from inquesto_dag.judging.interfaces import JudgedCall
from inquesto_dag.judging.outcomes import judged_events, merge_events
from inquesto_dag.protocol.models import Account
from inquesto_dag.report.validation import write_validation_page
from inquesto_dag.stages.annotations import Recorded, annotate_recording
from inquesto_dag.stages.context import StageContext
from inquesto_dag.stages.verdicts import judge_calls
from inquesto_dag.tables import PROBES
from inquesto_dag.validation.probes.dialogue import planted_events, turning_of
from inquesto_dag.validation.probes.place import ProbeJob, run_probe
from inquesto_dag.validation.probes.plan import open_sets, plan_probes
from inquesto_dag.validation.probes.results import summarise, wrong_of
from inquesto_dag.validation.timing import TimeErrors, time_errors
from inquesto_dag.validation.transcripts import wanted_action

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

Probed = tuple[ProbeJob, Path, str]  # the call, where its files lie, the recogniser that reads it


def run(ctx: StageContext) -> None:
    """Write `probes`, `validation.json`, the page, and recordings of the calls that were not read right."""
    jobs = plan_jobs(ctx)
    with ctx.output() as folder:
        recordings = folder / "recordings"
        work: list[Probed] = [(job, recordings / job.probe.id / job.call_id, ctx.profile.asr) for job in jobs]
        placed = ctx.map(try_probe, work, "probes")
        verdicts: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for verdict in judge_calls(
            ctx, [judged_call(ctx, job, call) for job, call in zip(jobs, placed, strict=True)]
        ):
            verdicts[str(verdict["call_id"])].append(verdict)
        rows, times = [], {}
        for job, call in zip(jobs, placed, strict=True):
            row = result_row(ctx, job, call, verdicts[name_of(job)])
            rows.append(row)
            times[name_of(job)] = times_of(call)
            if not wrong_of(ctx.protocol, row)["events"] and row["realised"]:
                shutil.rmtree(recordings / job.probe.id / job.call_id)
        ctx.write(folder, PROBES, rows)
        report = {"judge": ctx.profile.judge, **summarise(ctx.protocol, rows, times)}
        write_json(folder / "validation.json", report)
        write_validation_page(folder / "page", report)


def plan_jobs(ctx: StageContext) -> list[ProbeJob]:
    """The calls of every probe, over the lines and voices of the population."""
    lines = read_lines(ctx.folder("caller_audio"), ctx.folder("line_audio"), ctx.protocol.conditions)
    verifier = read_json(ctx.folder("verifier") / "verifier.json")
    jobs = []
    for plan in plan_probes(ctx.protocol, ctx.rows("population", "population"), open_sets()):
        bed_path, bed_sha256 = lines.bed(plan.row)
        job = ProbeJob(
            row=plan.row,
            scenario=plan.scenario,
            account=ctx.protocol.account,
            action=wanted_action(ctx.protocol, plan.scenario),
            probe=plan.probe,
            wordings=plan.wordings,
            bank=lines.bank(plan.row),
            bed_path=bed_path,
            bed_sha256=bed_sha256,
            verifier=verifier,
        )
        jobs.append(job)
    return jobs


def name_of(job: ProbeJob) -> str:
    """`PROBE/CALL`: a call of the population is placed to many probes."""
    return f"{job.probe.id}/{job.call_id}"


def try_probe(item: Probed, engines: Engines) -> dict[str, Any]:
    """Place one call and annotate its recording: its trace, and `transcripts` as the annotator has them."""
    job, folder, recogniser = item
    files = run_probe(job, engines)
    files.write(folder)
    trace = files.trace
    recorded = Recorded(job.call_id, folder / "call.flac", trace["call"]["call_sha256"], recogniser)
    notes = annotate_recording(recorded, engines)
    return {**trace, "transcripts": [{"call_id": job.call_id, **row} for row in notes["transcripts"]]}


def judged_call(ctx: StageContext, job: ProbeJob, call: Mapping[str, Any]) -> JudgedCall:
    """What the judge is given of it."""
    return JudgedCall(
        population={**job.row, "call_id": name_of(job)},
        turns=call["turns"],
        tool_calls=call["tool_calls"],
        account_before=ctx.protocol.account,
        account_after=Account.model_validate_json(call["call"]["account_after"]),
    )


def result_row(
    ctx: StageContext, job: ProbeJob, call: Mapping[str, Any], verdicts: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One row of `tables.PROBES`."""
    turning = turning_of(job.probe, job.scenario, job.wordings)
    assert turning is not None  # as it was planned
    planted, left_open = planted_events(job.probe, turning)
    measured = detect_events(ctx.protocol, call["call"], call["transcripts"], call["tool_calls"])
    judged = judged_events(ctx.protocol, job.scenario, job.call_id, verdicts, call["tool_calls"])
    faults = [*call["agent"]["faults"]]
    if any(verdict["answer"] is None for verdict in verdicts):
        faults.append("the judge gave no answer")
    return {
        "probe": job.probe.id,
        "call_id": job.call_id,
        **{name: job.row[name] for name in ("condition", "group", "style", "role")},
        "wordings": job.wordings.name,
        "near": job.probe.near,
        "realised": not faults,
        "fault": "; ".join(faults) or None,
        "planted": json.dumps(sorted(planted)),
        "open": json.dumps(sorted(left_open)),
        "found": json.dumps(sorted(event["event"] for event in merge_events(measured, judged))),
        "call_sha256": call["call"]["call_sha256"],
    }


def times_of(call: Mapping[str, Any]) -> TimeErrors:
    """Errors of the annotator's times in one call."""
    return time_errors(call["turns"], call["transcripts"])
