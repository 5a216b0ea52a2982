"""Measuring the measurer: planted failures, what a judge finds of them, judges against each other."""
