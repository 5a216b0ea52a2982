"""Measuring the measurer: planted failures, what a judge finds of them, and judges held against each other."""
