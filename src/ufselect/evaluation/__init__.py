"""Numbers about a selection. This room knows no selector."""

from ufselect.evaluation.agreement import (
    adjusted_rand,
    agreement,
    clustering_accuracy,
    mutual_information,
    purity,
)
from ufselect.evaluation.comparison import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.evaluation.criteria import (
    clustering_agreement,
    neighbourhood_agreement,
    redundancy,
)
from ufselect.evaluation.judging import (
    judge_by_classification,
    judge_by_k_means,
    judge_ranking,
)
from ufselect.evaluation.k_means import repeated_k_means
from ufselect.evaluation.reconstruction import (
    held_out_reconstruction_error,
    reconstruction_error,
)
from ufselect.evaluation.stability import selection_stability, stability_difference
from ufselect.evaluation.stand_ins import skip_near_duplicates, stand_ins
from ufselect.evaluation.structure_found import StructureTest, structure_test
from ufselect.evaluation.verdict import Verdict, verdict, verdicts
from ufselect.evaluation.view import View, sample_view

__all__ = [
    "StructureTest",
    "Verdict",
    "View",
    "adjusted_rand",
    "agreement",
    "average_ranks",
    "clustering_accuracy",
    "clustering_agreement",
    "friedman",
    "held_out_reconstruction_error",
    "indistinguishable_groups",
    "judge_by_classification",
    "judge_by_k_means",
    "judge_ranking",
    "mutual_information",
    "neighbourhood_agreement",
    "nemenyi_critical_difference",
    "purity",
    "reconstruction_error",
    "redundancy",
    "repeated_k_means",
    "sample_view",
    "selection_stability",
    "skip_near_duplicates",
    "stability_difference",
    "stand_ins",
    "structure_test",
    "verdict",
    "verdicts",
    "wilcoxon_against",
]
