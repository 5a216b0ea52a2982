"""`inquesto-dag measure`: a recording that nobody simulated, measured as the chain measures its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer

from inquesto_dag.audio.files import write_flac
from inquesto_dag.cli.project import refuse_data
from inquesto_dag.files import make_folder, write_json
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.provenance.memo import default_memo
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.profile import load_profile
from inquesto_dag.recordings.measure import Measured, measure
from inquesto_dag.recordings.read import Recording, read_recording
from inquesto_dag.recordings.trace import Trace, read_trace
from inquesto_dag.report.measured import MEASURED, RECORDING, write_measured_page
from inquesto_dag.units import Audio

FOLDER = "measured"


def measure_files(
    project: Path,
    call: Path,
    agent: Path | None,
    trace_path: Path | None,
    out: Path | None,
    *,
    swap: bool,
    words: bool,
) -> None:
    """Measure, print, write `measured.json`, page and sound; InputError for a file that is no call."""
    from inquesto_dag.speech.engines import Engines, EngineSpec
    from inquesto_dag.speech.fetch import models_folder

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", call.stem).strip("-.") or "call"
    folder = out or Path(FOLDER) / name
    refuse_data(project, folder)
    params = load_params(project)
    protocol = load_protocol(project / "data" / "protocols" / params.protocol)
    # What is wrong with the files, and with where to write, is said before any model is loaded.
    recording = read_recording(call, agent, swap=swap)
    trace = None if trace_path is None else read_trace(trace_path)
    make_folder(folder)
    roles = load_profile(params.profile).roles()
    engines = Engines(EngineSpec.for_roles(roles, models_folder(), default_memo(project).root))
    found = measure(recording, engines.vad, engines.recogniser() if words else None, protocol, trace)
    print_measured(found.result)
    page = write_measured(folder, recording, found, trace, protocol)
    typer.echo(f"\n{folder / 'measured.json'}\n{page}")


def write_measured(
    folder: Path, recording: Recording, found: Measured, trace: Trace | None, protocol: Protocol
) -> Path:
    """Write the page with its two FLAC files, and `measured.json` last; returns the page."""
    given = {"caller": recording.caller, "agent": recording.agent}
    write_flac(folder / RECORDING, _playable(np.stack(list(given.values()), axis=1)))
    write_flac(folder / MEASURED, _playable(found.prepared.stereo()))
    plain = None if trace is None else trace.model_dump(mode="json")
    page = write_measured_page(folder, found.result, given, plain, protocol=protocol)
    write_json(folder / "measured.json", found.result)
    return page


def print_measured(result: Mapping[str, Any]) -> None:
    """The measurement in plain lines."""
    for source in result["sources"]:
        tracks = "1 track" if source["channels"] == 1 else f"{source['channels']} tracks"
        typer.echo(
            f"{source['path']}: {source['format']}, {tracks}, {source['rate']} Hz, "
            f"{source['duration_s']:.2f} s"
        )
    for note in result["notes"]:
        typer.echo(f"  note: {note}")
    for name, track in result["tracks"].items():
        level = "no speech" if track["active_level_dbov"] is None else f"{track['active_level_dbov']} dBov"
        typer.echo(f"  {name}: {level}{''.join(f'; {step}' for step in track['done'])}")
        for warning in track["warnings"]:
            typer.echo(f"    warning: {warning}")
    typer.echo(f"\n  {'turn':>4} {'who':7} {'from':>8} {'to':>8} {'latency':>8}  words")
    for turn in result["turns"]:
        latency = "" if turn["latency_s"] is None else f"{turn['latency_s']:.2f}"
        typer.echo(
            f"  {turn['turn']:4} {turn['speaker']:7} {turn['start_s']:8.2f} {turn['end_s']:8.2f} "
            f"{latency:>8}  {turn['text']}".rstrip()
        )
    latency = result["latency"]
    if latency["replies"]:
        typer.echo(
            f"\n{latency['replies']} replies: median latency {latency['median_s']:.2f} s, from "
            f"{latency['min_s']:.2f} to {latency['max_s']:.2f} s"
        )
    else:
        typer.echo("\nno reply, so no latency")
    for overlap in result["overlaps"]:
        typer.echo(
            f"overlap {overlap['start_s']:.2f} to {overlap['end_s']:.2f} s: the {overlap['began']} came in"
        )
    for event in result["events"]:
        threshold = "" if event["threshold"] is None else f" (threshold {event['threshold']:g})"
        typer.echo(
            f"{event['severity']} {event['event']} at {event['time_s']:.2f} s: {event['value']:.3g} "
            f"{event['unit']}{threshold}"
        )
    if not result["events"]:
        typer.echo("no event")
    for what in result["not_measured"]:
        typer.echo(f"not measured: {what}")
    if against := result["against_trace"]:
        for edge, errors in against["errors_ms"].items():
            if errors["n"]:
                typer.echo(
                    f"against the trace, {edge.replace('_', ' ')}: n {errors['n']}, "
                    f"mean {errors['mean']:.0f} ms, 95 % within {errors['p95']:.0f} ms, "
                    f"worst {errors['worst']:.0f} ms"
                )
        typer.echo(
            f"turns of the trace not found: {against['missed']}; found and not in it: {against['extra']}"
        )


def _playable(stereo: Audio) -> Audio:
    return np.clip(stereo, -1.0, 1.0 - 2.0**-15).astype(np.float32)
