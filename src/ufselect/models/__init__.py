"""Fitted selectors in files that hold numbers and text, and nothing that can run."""

from ufselect.models.files import ModelError, load_selector, save_selector

__all__ = ["ModelError", "load_selector", "save_selector"]
