"""Experiments, their reports, and published results to compare them with."""
