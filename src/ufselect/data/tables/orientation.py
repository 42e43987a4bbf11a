"""Tables with samples in columns: recognised where that is clear."""

import re
from collections.abc import Sequence

from ufselect.data.tables.cells import is_text

# What the column of names is called in tables with a feature per row.
FEATURE_WORDS = {
    *("gene", "genes", "gene_id", "geneid", "gene id", "gene_name", "gene name"),
    *("gene_symbol", "gene symbol", "genesymbol", "symbol", "hgnc_symbol", "hugo"),
    *("hugo_symbol", "ensembl", "ensembl_id", "ensembl_gene_id", "ensg", "entrez"),
    *("entrez_id", "entrez_gene_id", "transcript", "transcript_id", "id_ref"),
    *("probe", "probe_id", "probeid", "probe id", "probeset", "probeset_id", "cpg"),
    *("otu", "otu_id", "otu id", "#otu id", "asv", "taxon", "taxonomy", "feature"),
    *("feature_id", "featureid", "features", "protein", "protein_id", "peptide"),
    *("metabolite", "mirna", "composite element ref", "m/z", "mz"),
}
# Ensembl, Affymetrix, RefSeq, Illumina.
FEATURE_NAME = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|\d+(_[a-z]+)?_at|[NX][MR]_\d+(\.\d+)?"
    r"|ILMN_\d+|cg\d{8}"
)
NUMBERED = re.compile(r"(\D+)\d+\D?")
TALL = 10


def features_in_rows(title: str | None, names: Sequence[str]) -> bool:
    """Tell whether the rows of a table are features, by the column that names them.

    They are if that column is called as only features are (gene, probe, ID_REF, ...)
    or if nearly all names in it have the form of gene or probe identifiers.

    Examples
    --------
    >>> features_in_rows("ID_REF", ["a", "b"]), features_in_rows("id", ["a", "b"])
    (True, False)
    >>> features_in_rows(None, ["1007_s_at", "1053_at"])
    True
    """
    if title is not None and title.strip().lower() in FEATURE_WORDS:
        return True
    matches = sum(bool(FEATURE_NAME.fullmatch(name)) for name in names)
    return len(names) > 1 and matches >= 0.9 * len(names)


def suspicion(
    columns: Sequence[str] | None, rows: Sequence[str], title: str | None
) -> str | None:
    """Return a hint if the columns may be samples.

    They are few and numbered alike, or few beside rows whose names are text in a column
    without a name, as R and pandas write tables of genes.

    Examples
    --------
    >>> suspicion(["ann", "bob"], [f"TP{row}" for row in range(20)], "")
    'If the 20 named rows (TP0, TP1, ...) are features, turn the table (--transpose).'
    """
    if columns is None or len(columns) < 2 or len(rows) < TALL * len(columns):
        return None
    if title == "" and all(map(is_text, rows)):
        return (
            f"If the {len(rows)} named rows ({rows[0]}, {rows[1]}, ...) are features, "
            "turn the table (--transpose)."
        )
    stems = {match[1] for match in map(NUMBERED.fullmatch, columns) if match}
    if len(stems) != 1 or not all(map(NUMBERED.fullmatch, columns)):
        return None
    return (
        f"The columns ({columns[0]}, {columns[1]}, ...) may be samples: if they are, "
        "turn the table (--transpose)."
    )
