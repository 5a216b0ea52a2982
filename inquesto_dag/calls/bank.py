"""What a scripted caller can say, as audio: its utterances, and each as a condition carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from inquesto_dag.audio.files import read_flac
from inquesto_dag.errors import InputError
from inquesto_dag.files import read_table
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
