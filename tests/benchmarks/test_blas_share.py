"""What py-spy writes is counted."""

from blas_share import ENTRANCE, counts

BELOW = f"main (<string>:9);{ENTRANCE} (<string>:8);fit (base.py:3)"
STACKS = f"""main (<string>:9);read (base.py:3) 7
{BELOW} 3
{BELOW};matmul (umath.so);dgemm_kernel (libscipy_openblas64_-1.so) 5
main (<string>:1);dgemm_kernel (libscipy_openblas64_-1.so) 2
"""


def test_only_fits_count_and_only_libraries_of_blas_are_inside():
    assert counts(STACKS) == (8, 5)
