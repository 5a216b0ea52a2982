"""A crate held to Process Run Crate by roc-validator, without a network.

The validator reads RO-Crate's JSON-LD context through its HTTP cache, which is filled with the copy that the
`rocrate` library brings.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import requests
from requests_cache import CachedSession
from rocrate_validator import services
from rocrate_validator.models import Severity, ValidationSettings
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
PROFILE = "process-run-crate"


def fill_cache(folder: Path) -> Path:
    """The path of an HTTP cache that holds the context as its server would give it."""
    body = files("rocrate").joinpath("data", "ro-crate.jsonld").read_bytes()
    assert "@context" in json.loads(body)
    path = folder / "http"
    with CachedSession(str(path)) as session:
        response = requests.Response()
        response.status_code, response.url = 200, CONTEXT
        response.headers["Content-Type"] = "application/ld+json"
        response.raw = HTTPResponse(body, status=200, preload_content=False)
        response._content = body
        response.request = session.prepare_request(requests.Request("GET", CONTEXT))
        session.cache.save_response(response)
    return path


def problems(crate: Path, cache: Path) -> list[str]:
    """What the profile requires and the crate does not have."""
    settings = ValidationSettings(
        rocrate_uri=str(crate),
        profile_identifier=PROFILE,
        requirement_severity=Severity.REQUIRED,
        offline=True,
        cache_path=cache,
    )
    result = services.validate(settings)
    return [f"{issue.check.identifier}: {issue.message}" for issue in result.get_issues(Severity.REQUIRED)]
