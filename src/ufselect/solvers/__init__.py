"""Solvers of the methods: functions of arrays and data matrices."""
