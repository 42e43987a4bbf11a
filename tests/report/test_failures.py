from ufselect.experiments.cells import FIXED, GRID, Cell, Role
from ufselect.experiments.readings import Results
from ufselect.report.failures import failure_list


def role(set_name, seed, reading=GRID, label="SCFS"):
    return Role(label, reading, Cell(set_name, "abc", "none", "SCFS", "{}", seed))


def lines_of(reasons):
    by_key = {role.cell.key: reason for role, reason in reasons.items()}
    return failure_list(Results(reasons, []), by_key)


def test_reasons_that_differ_by_numbers_are_one_line_over_all_sets():
    lines = lines_of(
        {
            role("lung", 0): "ValueError: beta=0.01 is above 1.5e-03",
            role("lung", 1): "ValueError: beta=1e+04 is above 0.002",
            role("ORL", 0): "ValueError: beta=1 is above 7",
        }
    )

    assert lines == [
        "SCFS, 3 cells (lung 2, ORL 1): ValueError: beta=0.01 is above 1.5e-03 "
        "(others with other numbers)"
    ]


def test_other_reasons_and_other_methods_have_lines_of_their_own():
    lines = lines_of(
        {
            role("lung", 0): "MemoryError: ",
            role("lung", 1): "ValueError: W = 0",
            role("lung", 2, FIXED, "NDFS"): "ValueError: W = 0",
        }
    )

    assert lines == [
        "SCFS, 1 cell (lung 1): MemoryError:",
        "SCFS, 1 cell (lung 1): ValueError: W = 0",
        "NDFS, 1 cell (lung 1): ValueError: W = 0",
    ]


def test_a_cell_with_two_roles_is_counted_once():
    reason = "ValueError: W = 0"
    (line,) = lines_of({role("lung", 0): reason, role("lung", 0, FIXED): reason})

    assert line == "SCFS, 1 cell (lung 1): ValueError: W = 0"


def test_a_reason_of_several_lines_is_one_line():
    (line,) = lines_of({role("lung", 0): "ArpackError: no\n  convergence"})

    assert line == "SCFS, 1 cell (lung 1): ArpackError: no convergence"
