"""Experiments, and published results to compare them with."""
