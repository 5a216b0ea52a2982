"""Inquesto DAG: a reproducible pipeline for the Inquesto Score of voice agents."""

import time

__version__ = "0.1.0"
# When this process began to load the package: code that was edited later is not what runs here.
LOADED_NS = time.time_ns()
