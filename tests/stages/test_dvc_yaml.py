"""`dvc.yaml` against the chain and against the code: names, order, dependencies that the imports demand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.load import PARTS
from inquesto_dag.provenance.code import PACKAGE, ROOT, imports_of, path_of, reachable
from inquesto_dag.provenance.dvc import resolve_stages
from inquesto_dag.provenance.params import load_params, load_yaml
from inquesto_dag.stages.chain import CHAIN, STAGES, Stage, find_stage, load_run

# These decide how a run is shown and what it cost, never what it gives.
DECIDE_NOTHING = frozenset({"inquesto_dag", "inquesto_dag.stages", "inquesto_dag.stages.progress",
                            "inquesto_dag.stages.report"})  # fmt: skip
POOL = "inquesto_dag.stages.parallel"  # `StageContext.map`, for stages with engines only


def needed_modules(stage: Stage) -> set[str]:
    stop = DECIDE_NOTHING if stage.engines else DECIDE_NOTHING | {POOL}
    return reachable(f"inquesto_dag.stages.{stage.name}", stop)


def covered(path: Path, deps: tuple[str, ...]) -> bool:
    relative = path.relative_to(ROOT).as_posix()
    return any(relative == dep or relative.startswith(f"{dep}/") for dep in deps)


def test_every_stage_of_the_chain_is_in_dvc_yaml_and_no_other() -> None:
    """One to one, with one part for each agent of params.yaml."""
    agents = load_params(ROOT).agents
    names = [name for stage in CHAIN for name in stage.targets(agents)]
    assert list(resolve_stages(ROOT)) == names
    assert len(STAGES) == len(CHAIN) == 12


@pytest.mark.parametrize("stage", CHAIN, ids=lambda stage: stage.name)
def test_a_stage_has_the_chains_command_and_output(stage: Stage) -> None:
    """`stage NAME [--agent X]`, `data/NAME[/X]`, and the chain's description."""
    agents = load_params(ROOT).agents
    stages = resolve_stages(ROOT)
    for name in stage.targets(agents):
        agent = name.partition("@")[2]
        assert stages[name].command == f"python -m inquesto_dag stage {stage.name}" + (
            f" --agent {agent}" if agent else ""
        )
        assert stages[name].outs == ("/".join(["data", stage.name, *([agent] if agent else [])]),)
    body = load_yaml(ROOT / "dvc.yaml")["stages"][stage.name]
    assert body.get("do", body)["desc"] == stage.description


@pytest.mark.parametrize("stage", CHAIN, ids=lambda stage: stage.name)
def test_a_stage_depends_on_the_code_that_it_imports(stage: Stage) -> None:
    """Code that can change an output is a dependency; packages that no import reaches are not."""
    name = stage.targets(load_params(ROOT).agents)[0]
    code = tuple(dep for dep in resolve_stages(ROOT)[name].deps if dep.startswith(PACKAGE))
    needed = {path_of(module) for module in needed_modules(stage)}
    # A data file of a module's name is part of it.
    needed |= {data for path in needed if (data := path.with_suffix(".json")).is_file()}
    missing = sorted(str(path.relative_to(ROOT)) for path in needed if not covered(path, code))
    assert missing == [], "add these to the stage's deps in dvc.yaml"
    idle = [dep for dep in code if not any(covered(path, (dep,)) for path in needed)]
    assert idle == [], "no import reaches these deps"


@pytest.mark.parametrize("stage", CHAIN, ids=lambda stage: stage.name)
def test_a_stage_depends_on_the_stages_that_it_reads(stage: Stage) -> None:
    """Outputs of others among the deps are those of `reads`, of the same agent where there is one."""
    agents = load_params(ROOT).agents
    stages = resolve_stages(ROOT)
    for name in stage.targets(agents):
        agent = name.partition("@")[2]
        wanted = {
            f"data/{read}" + (f"/{agent}" if STAGES[read].per_agent and agent else "") for read in stage.reads
        }
        data = [dep for dep in stages[name].deps if dep.startswith("data/")]
        outputs = {dep for dep in data if dep.split("/")[1] in STAGES}
        assert outputs == wanted


@pytest.mark.parametrize("stage", CHAIN, ids=lambda stage: stage.name)
def test_a_stage_names_the_folders_that_its_module_reads(stage: Stage) -> None:
    """What the source asks the context for (`ctx.rows(..., "calls", ...)`) is `reads` exactly."""
    source = path_of(f"inquesto_dag.stages.{stage.name}").read_text(encoding="utf-8")
    asked = {
        name for name in STAGES
        if re.search(rf'ctx\.folder\("{name}"|ctx\.(rows|read)\((\w+|"\w+"), "{name}"', source)
    }  # fmt: skip
    assert asked == set(stage.reads)


@pytest.mark.parametrize("stage", CHAIN, ids=lambda stage: stage.name)
def test_a_stage_names_the_parameters_and_inputs_that_its_module_reads(stage: Stage) -> None:
    """Files of the protocol, the agent's file, and what it takes of params.yaml are dependencies."""
    source = path_of(f"inquesto_dag.stages.{stage.name}").read_text(encoding="utf-8")
    agents = load_params(ROOT).agents
    name = stage.targets(agents)[0]
    resolved = resolve_stages(ROOT)[name]
    reads_protocol = "ctx.protocol" in source
    assert bool(stage.protocol) == reads_protocol
    folder = f"data/protocols/{load_params(ROOT).protocol}"
    whole = set(stage.protocol) == set(PARTS)
    files = [folder] if whole else [f"{folder}/{f}" for part in stage.protocol for f in PARTS[part].files]
    assert sorted(dep for dep in resolved.deps if dep.startswith(folder)) == sorted(files)
    assert ("protocol" in resolved.params) == reads_protocol
    assert (f"data/agents/{agents[0]}.yaml" in resolved.deps) == ("load_agent(" in source)
    # Engines are chosen by the profile, whether or not the source says so.
    assert ("profile" in resolved.params) == ("ctx.profile" in source or stage.engines)
    asked = set(re.findall(r"ctx\.params\.(\w+)", source))
    assert set(resolved.params) - {"protocol", "profile"} == asked - {"protocol", "profile"}


def test_the_walk_sees_lazy_imports_and_passes_over_types() -> None:
    """`parallel` imports the engines inside a function; `context` names them for types only."""
    assert "inquesto_dag.speech.engines" in imports_of("inquesto_dag.stages.parallel")
    assert "inquesto_dag.speech.engines" not in imports_of("inquesto_dag.stages.context")


def test_an_import_that_the_walk_cannot_follow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By star or relatively: what it brings cannot be read from it."""
    monkeypatch.setattr("inquesto_dag.provenance.code.ROOT", tmp_path)
    (tmp_path / PACKAGE).mkdir()
    for name, text in (("star", "from os import *"), ("relative", "from . import star")):
        (tmp_path / PACKAGE / f"{name}.py").write_text(text)
        with pytest.raises(InputError, match=rf"inquesto_dag\.{name}, line 1: imports relatively or by star"):
            imports_of(f"{PACKAGE}.{name}")


@pytest.mark.parametrize("stage", CHAIN, ids=lambda stage: stage.name)
def test_every_stage_has_a_module_that_runs(stage: Stage) -> None:
    """`inquesto_dag.stages.NAME.run`."""
    assert callable(load_run(stage))


def test_only_the_bridge_knows_dvc_and_nothing_in_the_package_knows_dagster() -> None:
    """assets -> inquesto_dag, never back (DESIGN, The house)."""
    wrong: list[str] = []
    for path in (ROOT / PACKAGE).rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        wrong += [
            f"{path}: {line}"
            for line in source.splitlines()
            if re.match(r"\s*(import|from) (dagster|dvc|assets)\b", line)
        ]
    assert wrong == []


def test_an_unknown_stage_lists_the_known_ones() -> None:
    """The remedy names them in the chain's order."""
    with pytest.raises(InputError, match=r"unknown stage 'score'\n.*population, caller_audio"):
        find_stage("score")
