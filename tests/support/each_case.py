"""One test over many cases, which reports the case that failed."""

import functools
import inspect
from reprlib import repr as short


def each(names, cases):
    """Return a decorator that calls a test function for every case, as one test.

    It is used like ``pytest.mark.parametrize``, without its overhead for each case.
    """
    names = [names] if isinstance(names, str) else list(names)
    cases = [case if len(names) > 1 else (case,) for case in cases]
    assert cases, f"no cases of {names}"

    def decorate(test):
        parameters = inspect.signature(test).parameters
        assert set(names) <= set(parameters), f"{test.__name__} has no {names}"

        @functools.wraps(test)
        def every(*arguments, **fixtures):
            for case in cases:
                given = dict(zip(names, case, strict=True))
                try:
                    test(*arguments, **fixtures, **given)
                except BaseException as error:
                    error.add_note(f"in the case of {short(given)}")
                    raise

        kept = [value for name, value in parameters.items() if name not in names]
        every.__signature__ = inspect.Signature(kept)
        return every

    return decorate
