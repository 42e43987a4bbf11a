"""Criteria and tests that evaluate a selection, independent of the selectors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.evaluation.comparison import average_ranks as average_ranks
    from ufselect.evaluation.comparison import friedman as friedman
    from ufselect.evaluation.comparison import (
        indistinguishable_groups as indistinguishable_groups,
    )
    from ufselect.evaluation.comparison import (
        nemenyi_critical_difference as nemenyi_critical_difference,
    )
    from ufselect.evaluation.comparison import wilcoxon_against as wilcoxon_against
    from ufselect.evaluation.criteria import redundancy as redundancy
    from ufselect.evaluation.criteria import representatives as representatives
    from ufselect.evaluation.criteria import (
        skip_near_duplicates as skip_near_duplicates,
    )
    from ufselect.evaluation.judging import adjusted_rand as adjusted_rand
    from ufselect.evaluation.judging import agreement as agreement
    from ufselect.evaluation.judging import (
        clustering_accuracy as clustering_accuracy,
    )
    from ufselect.evaluation.judging import (
        judge_by_classification as judge_by_classification,
    )
    from ufselect.evaluation.judging import judge_by_k_means as judge_by_k_means
    from ufselect.evaluation.judging import judge_ranking as judge_ranking
    from ufselect.evaluation.judging import mutual_information as mutual_information
    from ufselect.evaluation.judging import purity as purity
    from ufselect.evaluation.k_means import repeated_k_means as repeated_k_means
    from ufselect.evaluation.preservation import (
        clustering_agreement as clustering_agreement,
    )
    from ufselect.evaluation.preservation import (
        held_out_reconstruction_error as held_out_reconstruction_error,
    )
    from ufselect.evaluation.preservation import (
        neighbourhood_agreement as neighbourhood_agreement,
    )
    from ufselect.evaluation.preservation import (
        reconstruction_error as reconstruction_error,
    )
    from ufselect.evaluation.significance import Verdict as Verdict
    from ufselect.evaluation.significance import verdict as verdict
    from ufselect.evaluation.significance import verdicts as verdicts
    from ufselect.evaluation.structure_found import StructureTest as StructureTest
    from ufselect.evaluation.structure_found import structure_test as structure_test
    from ufselect.evaluation.subsamples import (
        selection_stability as selection_stability,
    )
    from ufselect.evaluation.subsamples import (
        stability_difference as stability_difference,
    )
    from ufselect.evaluation.view import View as View
    from ufselect.evaluation.view import sample_view as sample_view
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
