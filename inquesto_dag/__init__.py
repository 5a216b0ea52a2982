"""Inquesto DAG: a reproducible pipeline for the Inquesto Score of voice agents."""

__version__ = "0.1.0"
