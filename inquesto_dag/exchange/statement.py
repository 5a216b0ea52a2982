"""An in-toto Statement about a crate's files, unsigned: what was measured, by what, with which digests.

It claims no SLSA level: nobody but the maker has seen the run. Who wants to vouch for it signs the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inquesto_dag.scoring.citation import citation

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:inquesto-dag:measurement:v1"


def make_statement(record: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """The Statement of a record over `digests`, SHA-256 by path: citation, parts, packages, revision."""
    return {
        "_type": TYPE,
        "subject": [{"name": path, "digest": {"sha256": digest}} for path, digest in sorted(digests.items())],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "citation": citation(record),
            "protocol": record["protocol"],
            "agent": record["agent"],
            "profile": record["profile"],
            "outputs": {
                out: digest
                for entry in record["lineage"]["stages"].values()
                for out, digest in entry["outputs"].items()
            },
            "packages": record["lineage"]["packages"],
            "revision": record["lineage"]["revision"],
        },
    }


def subjects_of(statement: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 by path; KeyError or TypeError for what is no Statement."""
    return {str(subject["name"]): str(subject["digest"]["sha256"]) for subject in statement["subject"]}
