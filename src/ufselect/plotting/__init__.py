"""Figures of selections and of experiments, drawn with Matplotlib."""
