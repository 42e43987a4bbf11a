"""Selectors that stop early, for promises that hold wherever they stop."""

from ufselect import UnsupervisedSelector, all_selectors

# Where the last digits take most of the time; none of these then warns.
EARLY = {
    "CPFS": {"n_lams": 3, "tol": 1e-2},
    "FSASL": {"max_iter": 2},
    "JELSR": {"tol": 1e-3},
    "LDSSL": {"tol": 1e-2},
    "MFFS": {"tol": 1e-2},
    "SGFS": {"tol": 1e-2},
}


def quick(selector: UnsupervisedSelector) -> UnsupervisedSelector:
    """Return the selector, told to stop early where it can be."""
    return selector.set_params(**EARLY.get(type(selector).__name__, {}))


def made(method, **parameters):
    """Return a quick selector with a seed and three clusters, where it has them."""
    known = {"random_state": 0, "n_clusters": 3, **parameters}
    names = method().get_params()
    return quick(
        method(**{name: value for name, value in known.items() if name in names})
    )


# Parameters with which a method uses other formulas.
VARIANTS = {
    "SPEC, phi=1": ("SPEC", {"phi": 1}),
    "SPEC, phi=3": ("SPEC", {"phi": 3}),
    'SPFS, "group-lasso"': ("SPFS", {"strategy": "group-lasso"}),
    'GLSPFS, "lle"': ("GLSPFS", {"local": "lle"}),
    'GLSPFS, "ltsa"': ("GLSPFS", {"local": "ltsa"}),
    'MFFS, shift="table"': ("MFFS", {"shift": "table"}),
}


def variants(**parameters):
    """Return a quick selector for every variant, by name."""
    methods = all_selectors()
    return {
        name: made(methods[method], **own, **parameters)
        for name, (method, own) in VARIANTS.items()
    }
