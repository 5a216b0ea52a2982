"""Which calls of a population each probe takes, and with which set of wordings.

A probe that is not placed everywhere takes one call of each condition and group, with the styles in turn;
which, is drawn from a digest of probe and call, and so is the set of wordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inquesto_dag.files import sha256_bytes
from inquesto_dag.protocol.models import Protocol, Scenario
from inquesto_dag.validation.probes.catalogue import PROBES, Probe
from inquesto_dag.validation.probes.dialogue import turning_of
from inquesto_dag.validation.wordings import HELD_OUT, WordingSet, list_sets, load_wordings


@dataclass(frozen=True)
class PlannedProbe:
    """One call of one probe: the population's row, and the set that its words are of."""

    probe: Probe
    row: Mapping[str, Any]
    scenario: Scenario
    wordings: WordingSet


def open_sets() -> list[WordingSet]:
    """The sets but the held-out one, whose words nobody may meet while rules are changed."""
    return [load_wordings(name) for name in list_sets() if name != HELD_OUT]


def plan_probes(
    protocol: Protocol, population: Sequence[Mapping[str, Any]], sets: Sequence[WordingSet]
) -> list[PlannedProbe]:
    """Every call of every probe, probes in the order of the catalogue, calls in that of the population."""
    scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
    planned: list[PlannedProbe] = []
    for probe in PROBES:
        fitting = []
        for row in population:
            scenario = scenarios[str(row["scenario_id"])]
            words = _set_for(probe, scenario, row, sets) if probe.befalls(scenario) else None
            if words is not None:
                fitting.append(PlannedProbe(probe, row, scenario, words))
        planned += fitting if probe.everywhere else spread_over_cells(fitting)
    return planned


def spread_over_cells(fitting: Sequence[PlannedProbe]) -> list[PlannedProbe]:
    """One call of each condition and group, of a style that is rare so far."""
    cells: dict[tuple[str, str], list[PlannedProbe]] = {}
    for plan in fitting:
        cells.setdefault((plan.row["condition"], plan.row["group"]), []).append(plan)
    taken: list[PlannedProbe] = []
    styles: dict[str, int] = {}
    for cell in sorted(cells):
        chosen = min(cells[cell], key=lambda plan: (styles.get(plan.row["style"], 0), _drawn(plan)))
        styles[chosen.row["style"]] = styles.get(chosen.row["style"], 0) + 1
        taken.append(chosen)
    order = {str(plan.row["call_id"]): number for number, plan in enumerate(fitting)}
    return sorted(taken, key=lambda plan: order[str(plan.row["call_id"])])


def _drawn(plan: PlannedProbe) -> str:
    return sha256_bytes(f"{plan.probe.id}:{plan.row['call_id']}".encode())


def _set_for(
    probe: Probe, scenario: Scenario, row: Mapping[str, Any], sets: Sequence[WordingSet]
) -> WordingSet | None:
    """A set that has words for this call, drawn by its digest; None when none has."""
    able = [words for words in sets if turning_of(probe, scenario, words) is not None]
    if not able:
        return None
    return able[int(sha256_bytes(f"{row['call_id']}:{probe.id}".encode())[:8], 16) % len(able)]
