import pytest
from small_experiments import planted_sets, small_plan

from ufselect.experiments.run import run_plan


@pytest.fixture
def plan():
    return small_plan()


@pytest.fixture(scope="session")
def located(tmp_path_factory):
    return planted_sets(tmp_path_factory.mktemp("sets"))


@pytest.fixture(scope="session")
def calm(located, tmp_path_factory):
    """Return the store of the small plan, computed without any disturbance."""
    path = tmp_path_factory.mktemp("calm") / "store.sqlite"
    run_plan(small_plan(), path, located)
    return path
