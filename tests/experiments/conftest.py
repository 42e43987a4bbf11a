import pytest
from small_experiments import planted_sets, small_plan


@pytest.fixture
def plan():
    return small_plan()


@pytest.fixture(scope="session")
def located(tmp_path_factory):
    return planted_sets(tmp_path_factory.mktemp("sets"))
