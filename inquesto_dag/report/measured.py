"""The page of one recording that nobody simulated: sound, timeline, turns, events, and what was done to it.

`index.html` beside `recording.flac` (as it was given, at 16 kHz) and `measured.flac` (as it was measured):
both play, and the waveforms are those of the recording as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inquesto_dag.files import write_bytes
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.report.call import replies
from inquesto_dag.report.figures import DASH, number_text, words
from inquesto_dag.report.overview import limits_of
from inquesto_dag.report.page import render
from inquesto_dag.report.rows import Row
from inquesto_dag.report.waveform import draw_waveform
from inquesto_dag.units import Audio

SCRIPTS = ("dom.js", "timeline.js", "call.js", "measured.js")
RECORDING, MEASURED = "recording.flac", "measured.flac"


def write_measured_page(
    folder_out: Path,
    result: Mapping[str, Any],
    tracks: Mapping[str, Audio],
    trace: Mapping[str, Any] | None,
    *,
    protocol: Protocol,
) -> Path:
    """Write `index.html` of a measurement (`recordings.measure`); the same input, the same bytes.

    `tracks` are caller and agent as given, (n,) float32 at 16 kHz; `trace` is plain data. Whoever calls
    writes the two FLAC files. Returns the page.
    """
    name = " and ".join(Path(source["path"]).name for source in result["sources"])
    latency, against = result["latency"], result["against_trace"]
    text = render(
        "measured.html.j2",
        scripts=SCRIPTS,
        title=f"{name}, measured",
        name=name,
        form=", ".join(
            f"{source['format']} of {source['channels']} track{'s' if source['channels'] != 1 else ''}, "
            f"{source['rate']} Hz"
            for source in result["sources"]
        ),
        version=result["protocol"],
        facts=[
            ("length", f"{number_text(result['duration_s'], 1)} s"),
            ("replies", str(latency["replies"])),
            ("median latency", f"{number_text(latency['median_s'], 2)} s"),
            ("slowest", f"{number_text(latency['max_s'], 2)} s"),
            ("overlaps", str(len(result["overlaps"]))),
            ("events", ", ".join(words(event["event"]) for event in result["events"]) or "none"),
        ],
        notes=[*result["notes"], *result["not_measured"]],
        warnings=[
            (track, warning) for track, found in result["tracks"].items() for warning in found["warnings"]
        ],
        tracks=[_track(track, found) for track, found in result["tracks"].items()],
        overlaps=[
            (
                number_text(row["start_s"], 2),
                number_text(row["end_s"], 2),
                number_text(row["end_s"] - row["start_s"], 2),
                row["began"],
            )
            for row in result["overlaps"]
        ],
        errors=[]
        if against is None
        else [_error(edge, found) for edge, found in against["errors_ms"].items()],
        missed=0 if against is None else against["missed"],
        extra=0 if against is None else against["extra"],
        index={
            "call": _call(result, tracks, trace, protocol),
            "limits": limits_of(protocol),
            "events": [{"name": kind.name, "severity": kind.severity} for kind in protocol.events],
        },
    )
    write_bytes(folder_out / "index.html", text.encode())
    return folder_out / "index.html"


def _call(
    result: Mapping[str, Any],
    tracks: Mapping[str, Audio],
    trace: Mapping[str, Any] | None,
    protocol: Protocol,
) -> Row:
    """The recording in the form in which a call's page takes a call (`report.call.describe_call`)."""
    from inquesto_dag.report.call import transcript

    kinds = {kind.name: kind for kind in protocol.events}
    own = [
        {
            **{name: None for name in ("endpoint_s", "recognition_s", "brain_s", "synthesis_s")},
            **turn,
            "turn": number,
            "move": turn.get("move") or "by the trace",
            "said": turn.get("said") or "",
        }
        for number, turn in enumerate((trace or {}).get("turns", ()))
    ]
    tools = (trace or {}).get("tool_calls", ())
    return {
        "id": "recording",
        "duration": result["duration_s"],
        "words": result["recogniser"] is not None,
        "without": ["line"] if tools else ["line", "tools"],
        "audio": {"call": RECORDING, "line": MEASURED},
        "result": {"status": "scored"},  # what the events' card says when there are none
        "tracks": {name: draw_waveform(audio).encoded() for name, audio in tracks.items()},
        "segments": result["segments"],
        "replies": replies(result["turns"]),
        "turns": transcript(result["turns"], own),
        "tools": [
            {
                "index": number,
                "turn": None,
                "time_s": tool["time_s"],
                "tool": tool["tool"],
                "ok": tool["ok"],
                "arguments": tool["arguments"],
                "result": tool["result"],
                "versions": [0, 0],
            }
            for number, tool in enumerate(tools)
        ],
        "events": [
            {**event, "definition": kinds[event["event"]].definition, "clause": kinds[event["event"]].id}
            for event in result["events"]
        ],
        "verdicts": [],
        "changes": None,
    }


def _track(name: str, found: Mapping[str, Any]) -> dict[str, str]:
    leak = found["leak"]
    return {
        "name": name,
        "level": number_text(found["active_level_dbov"]),
        "noise": number_text(found["noise_dbov"]),
        "peak": number_text(found["peak"], 3),
        "clipped": number_text(100 * found["clipped_share"], 2),
        "leak": DASH if leak is None else number_text(leak["level_db"], 0),
        "done": "; ".join(found["done"]) or "nothing: measured as it is",
    }


def _error(edge: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        words(edge),
        str(found["n"]),
        *(number_text(found[name]) for name in ("mean", "p95", "worst")),
    )
