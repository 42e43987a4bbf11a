"""Benchmarks for asv (airspeed velocity), the guard, and the page made from results."""
