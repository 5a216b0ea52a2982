"""What a scripted caller can say, as audio: its utterances, and each as a condition carries it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.audio.files import read_flac
from inquesto_dag.errors import InputError
from inquesto_dag.files import read_table, sha256_file
from inquesto_dag.protocol.models import Condition
from inquesto_dag.units import Audio, Seconds


@dataclass(frozen=True)
class SpokenLine:
    """One utterance: clean, as the condition carries it, and where its speech lies (s, in the file)."""

    utterance_id: str
    text: str
    clean: Audio
    carried: Audio
    onset_s: Seconds
    offset_s: Seconds


@dataclass(frozen=True)
class BankEntry:
    """Where an utterance lies, and the digests that decide what it sounds like."""

    utterance_id: str
    text: str
    clean_path: Path
    clean_sha256: str
    carried_path: Path
    carried_sha256: str
    onset_s: Seconds
    offset_s: Seconds

    def digests(self) -> list[str | float]:
        """What decides the utterance in a call's key."""
        # The words stand in the trace, and other words may sound the same.
        return [self.text, self.clean_sha256, self.carried_sha256, self.onset_s, self.offset_s]

    def load(self) -> SpokenLine:
        """Read both files; InputError names one that is missing, truncated or at a wrong rate."""
        clean, carried = read_flac(self.clean_path), read_flac(self.carried_path)
        if clean.shape != carried.shape:
            raise InputError(
                f"holds {len(carried)} samples where the utterance has {len(clean)}",
                where=self.carried_path,
                remedy="run the stage line_audio again",
            )
        return SpokenLine(self.utterance_id, self.text, clean, carried, self.onset_s, self.offset_s)


@dataclass(frozen=True)
class CallerLines:
    """What all callers of a population can say, and the noise bed of the lines that have one."""

    banks: Mapping[tuple[str, str, str], Mapping[str, BankEntry]]  # by scenario id, voice, condition; by move
    noisy: frozenset[str]  # conditions with a bed
    bed_path: Path
    bed_sha256: str | None  # None where no line has one

    def bank(self, row: Mapping[str, Any]) -> Mapping[str, BankEntry]:
        """The moves of the caller of a row of `tables.POPULATION`; none for one that was not spoken."""
        return self.banks.get((row["scenario_id"], row["voice"], row["condition"]), {})

    def bed(self, row: Mapping[str, Any]) -> tuple[Path | None, str | None]:
        """The bed under that caller's call and its digest; None and None without one."""
        return (self.bed_path, self.bed_sha256) if row["condition"] in self.noisy else (None, None)


def read_lines(caller_audio: Path, line_audio: Path, conditions: Iterable[Condition]) -> CallerLines:
    """The callers' lines as the stages caller_audio and line_audio left them."""
    banks: dict[tuple[str, str, str], dict[str, BankEntry]] = defaultdict(dict)
    for (scenario, move, voice, condition), entry in read_bank(caller_audio, line_audio).items():
        banks[scenario, voice, condition][move] = entry
    bed_path = line_audio / "bed.flac"
    return CallerLines(
        banks,
        frozenset(condition.id for condition in conditions if condition.snr_db is not None),
        bed_path,
        sha256_file(bed_path) if bed_path.exists() else None,
    )


def read_bank(caller_audio: Path, line_audio: Path) -> Mapping[tuple[str, str, str, str], BankEntry]:
    """The entries by (scenario id, move, voice, condition)."""
    utterances = read_table(caller_audio / "utterances.parquet").set_index("utterance_id")
    bank = {}
    for line in read_table(line_audio / "lines.parquet").to_dict("records"):
        try:
            said = utterances.loc[line["utterance_id"]]
        except KeyError as error:
            raise InputError(
                f"names the utterance {line['utterance_id']}, which caller_audio does not hold",
                where=line_audio / "lines.parquet",
                remedy="run the stage line_audio again",
            ) from error
        bank[(said["scenario_id"], said["move"], said["voice"], line["condition"])] = BankEntry(
            utterance_id=line["utterance_id"],
            text=said["text"],
            clean_path=caller_audio / said["path"],
            clean_sha256=said["sha256"],
            carried_path=line_audio / line["path"],
            carried_sha256=line["sha256"],
            onset_s=float(said["onset_s"]),
            offset_s=float(said["offset_s"]),
        )
    return bank
