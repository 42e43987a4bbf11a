"""Ten designs of planted columns, for tests that must pass in eight of them."""

TALL = {"n_samples": 60, "n_useful": 15, "n_noise": 35}
WIDE = {"n_samples": 40, "n_useful": 15, "n_noise": 135}
SPARSE_IN_USE = {"n_samples": 90, "n_useful": 10, "n_noise": 90}
DESIGNS = [
    ("blobs", TALL),
    ("blobs", WIDE),
    ("blobs", SPARSE_IN_USE),
    ("rings", TALL),
    ("rings", SPARSE_IN_USE),
    ("subspaces", TALL),
    ("subspaces", SPARSE_IN_USE),
    ("counts", TALL),
    ("counts", WIDE),
    ("counts", SPARSE_IN_USE),
]
