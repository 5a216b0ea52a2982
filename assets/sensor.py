"""A sensor that keeps Dagster level with `dvc.lock`: `dvc repro`, a merge or an edit shows unasked."""

from collections.abc import Mapping
from pathlib import Path

import dagster as dg

from assets.bridge import code_version
from assets.reconcile import reconcile
from inquesto_dag.errors import InquestoError
from inquesto_dag.provenance.digests import Digests
from inquesto_dag.stages.chain import CHAIN

EVERY_S = 30


def lock_sensor(project: Path) -> dg.SensorDefinition:
    """The sensor; it starts no run, reports what changed, and says when the definitions need a reload."""
    loaded = code_versions(project)

    @dg.sensor(
        name="follow_dvc_lock",
        minimum_interval_seconds=EVERY_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Reports to Dagster what dvc.lock and the agents' files say; computes nothing.",
    )
    def follow(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        try:
            told = reconcile(project, context.instance)
            now = code_versions(project)
        except InquestoError as error:
            return dg.SkipReason(str(error))
        for line in told:
            context.log.info(line)
        changed = sorted(name for name in now if now[name] != loaded.get(name))
        if changed:
            return dg.SkipReason(
                f"what decides {', '.join(changed)} changed on disk: reload the definitions to see it"
            )
        return dg.SkipReason(f"{len(told)} reported" if told else "level with dvc.lock")

    return follow


def code_versions(project: Path) -> Mapping[str, str]:
    """The code version of every stage as its files stand now."""
    digests = Digests(project)
    found = {stage.name: code_version(project, stage, digests) for stage in CHAIN}
    digests.save()
    return found
