"""Numbers about a selection. This room knows no selector."""

from ufselect.evaluation.clustering import (
    clustering_accuracy,
    judge_by_k_means,
    mutual_information,
)

__all__ = ["clustering_accuracy", "judge_by_k_means", "mutual_information"]
