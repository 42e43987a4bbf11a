"""Who computes the cells: this process, processes of this machine, or a cluster."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from joblib import Parallel, delayed, parallel_config

from ufselect.experiments.crew import Crew, Ended
from ufselect.experiments.limits import Limits
from ufselect.experiments.work import Job, work_on

Parcels = Iterable[list[Job]]
Workers = Callable[[Parcels], Iterator[Ended]]

SCHEDULER_PATIENCE = 10


@contextmanager
def workers(n_jobs: int | None, dask: str | None, limits: Limits) -> Iterator[Workers]:
    """Provide a function from parcels of jobs to what becomes of the jobs."""
    if dask is not None:
        with _cluster(dask, limits):
            yield _elsewhere
    elif n_jobs is None and not limits:
        yield _here
    else:
        with closing(Crew(work_on, n_jobs or 1, limits)) as crew:
            yield crew.results


def _here(parcels: Parcels) -> Iterator[Ended]:
    for parcel in parcels:
        for job in parcel:
            yield job, work_on(*job)


def _elsewhere(parcels: Parcels) -> Iterator[Ended]:
    parallel = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for ended in parallel(delayed(_all_of)(parcel) for parcel in parcels):
        yield from ended


def _all_of(parcel: list[Job]) -> list[Ended]:
    return list(_here([parcel]))


@contextmanager
def _cluster(address: str, limits: Limits) -> Iterator[None]:
    """Let joblib compute on the workers of a Dask scheduler."""
    if limits:
        raise ValueError(
            "time and memory of a cell can be limited on this machine only; leave the "
            "limits out, and give them to the workers of Dask instead"
        )
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "a Dask scheduler needs the package distributed; "
            "install it with: pip install 'ufselect[dask]'"
        ) from None
    try:
        client = Client(address, timeout=SCHEDULER_PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at {address}: {error}") from error
    with client, parallel_config(backend="dask"):
        yield
