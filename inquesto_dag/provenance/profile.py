"""Profiles: which component fills each role of the set-up (PROTOCOL S1, T14, I1; DESIGN, Profiles).

A profile says what was *specified*. What *ran* is read from the loaded components' own identities, so the
two can be compared in a record (PROTOCOL D16).
"""

from __future__ import annotations

from collections.abc import Mapping

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import Frozen

SCRIPTED_CALLER = "scripted"  # chooses its lines by rule, from what it heard; needs no model
ROLES = ("caller", "tts", "asr", "vad", "verifier", "judge")


class Profile(Frozen):
    """One component name per role; those of engines are names in `speech.catalogue`."""

    id: str
    caller: str
    tts: str
    asr: str
    vad: str
    verifier: str
    judge: str

    def roles(self) -> dict[str, str]:
        """Component name by role, in the order of ROLES."""
        return {role: str(getattr(self, role)) for role in ROLES}


PROFILES: Mapping[str, Profile] = {
    profile.id: profile
    for profile in (
        Profile(
            id="pinned",
            caller="qwen2.5-7b-instruct",
            tts="kokoro-fp32",
            asr="whisper-base",
            vad="silero-vad",
            verifier="wespeaker-resnet34-lm",
            judge="gemma-2-9b-instruct",
        ),
        Profile(
            id="embedded",
            caller=SCRIPTED_CALLER,
            tts="kokoro-int8",
            asr="whisper-base",
            vad="silero-vad",
            verifier="ge2e",
            judge="rules",
        ),
    )
}


def load_profile(profile_id: str) -> Profile:
    """The profile of that name; InputError lists the known ones."""
    try:
        return PROFILES[profile_id]
    except KeyError:
        raise InputError(
            f"unknown profile {profile_id!r}",
            where="params.yaml",
            field="profile",
            remedy=f"use one of {', '.join(sorted(PROFILES))}",
        ) from None
