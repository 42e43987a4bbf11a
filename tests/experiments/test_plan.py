import re

import pytest

from ufselect.experiments.plan import parse_plan, read_plan

MINIMAL = {
    "name": "minimal",
    "sets": ["lung"],
    "features": [5],
    "methods": [{"selector": "SCFS"}],
}


def test_baselines_stand_beside_every_method():
    labels = [method.label for method in parse_plan(MINIMAL).methods]

    assert labels == ["SCFS", "random", "variance", "all features"]


def test_the_number_of_clusters_is_told_to_the_methods_that_take_it():
    methods = [{"selector": "SCFS"}, {"selector": "LaplacianScore"}]

    plan = parse_plan({**MINIMAL, "clusters": "classes", "methods": methods})

    assert plan.methods[0].fixed_point() == {"n_clusters": "classes"}
    assert plan.methods[1].fixed_point() == {}


def test_grid_points_are_all_combinations_with_the_parameters_of_the_method():
    table = {
        "selector": "SCFS",
        "parameters": {"solver": "paper"},
        "grid": {"alpha": [1.0, 2.0], "beta": [3.0]},
    }

    (method, *_) = parse_plan({**MINIMAL, "methods": [table]}).methods

    assert method.grid_points() == [
        {"solver": "paper", "alpha": 1.0, "beta": 3.0},
        {"solver": "paper", "alpha": 2.0, "beta": 3.0},
    ]


def test_the_published_grid_is_the_one_of_the_card():
    table = {"selector": "SCFS", "grid": "published"}

    (method, *_) = parse_plan({**MINIMAL, "methods": [table]}).methods

    assert len(method.grid_points()) == 25


def test_a_method_without_chance_needs_one_seed_only():
    table = {"selector": "LaplacianScore", "seeds": 5}

    (method, *_) = parse_plan({**MINIMAL, "methods": [table]}).methods

    assert method.seeds == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"setz": []}, "unknown key setz; it could be sets"),
        ({"sets": []}, "sets is []; it must be a list with at least one item"),
        ({"sets": [3]}, "sets has 3, which is not of type str"),
        ({"features": [0, 5]}, "features is [0, 5]; list numbers of at least 1"),
        ({"features": ["5"]}, "features has '5', which is not of type int"),
        ({"name": 3}, "name is 3; it must be a text"),
        ({"seed": -1}, "seed is -1; it must be a whole number of at least 0"),
        ({"preparations": ["lgo"]}, "preparations has 'lgo'; it could be log"),
        ({"clusters": "many"}, "clusters is 'many'; it could be 'classes'"),
        ({"cell_timeout": 0}, "cell_timeout is 0; write it like 600"),
        ({"cell_timeout": "soon"}, "cell_timeout is 'soon'; write it like 600"),
        ({"cell_memory": "lots"}, "cell_memory is 'lots'; write it like \"2GB\""),
        ({"clusters": 0}, "clusters is 0; it could be 'classes'"),
        ({"judge": 3}, "judge is 3; make it a table"),
        ({"judge": {"restart": 3}}, "unknown key judge.restart; it could be restarts"),
        ({"judge": {"repetitions": 0}}, "judge.repetitions is 0"),
        ({"judge": {"metrics": ["acuracy"]}}, "'acuracy'; it could be accuracy"),
        ({"methods": []}, "methods is missing"),
        ({"methods": ["SCFS"]}, "methods[0] is 'SCFS'; make it a table"),
        (
            {"methods": [{"selector": "SCSF"}]},
            "methods[0].selector is 'SCSF'; it could",
        ),
        (
            {"methods": [{"label": "x"}]},
            "methods[0].selector is missing; it must be a text",
        ),
        (
            {"methods": [{"selector": "SCFS"}, {"selector": "SCFS"}]},
            "two methods have the label 'SCFS'",
        ),
        (
            {"methods": [{"selector": "SCFS", "parameters": {"alfa": 1}}]},
            "unknown key methods[0].parameters.alfa; it could be alpha",
        ),
        (
            {"methods": [{"selector": "SCFS", "grid": {"alpha": 1}}]},
            "methods[0].grid.alpha is 1; make it a list of values",
        ),
        (
            {"methods": [{"selector": "LaplacianScore", "warm_start": True}]},
            "methods[0].warm_start is true, but LaplacianScore takes no start",
        ),
        (
            {"methods": [{"selector": "SCFS", "warm_start": 1}]},
            "methods[0].warm_start is 1; it could be true or false",
        ),
        (
            {"methods": [{"selector": "SCFS", "grid": "best"}]},
            "methods[0].grid is 'best'; it could be 'published'",
        ),
    ],
)
def test_a_mistake_is_answered_with_the_key_and_what_it_could_be(change, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        parse_plan({**MINIMAL, **change})


def test_a_file_that_is_not_toml_is_named(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("name = [")

    with pytest.raises(ValueError, match=r"plan\.toml is not valid TOML"):
        read_plan(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"plan\.toml does not exist"):
        read_plan(tmp_path / "plan.toml")


@pytest.mark.parametrize("key", ["name", "sets", "features"])
def test_a_key_that_is_not_there_is_said_to_be_missing(key):
    content = {name: value for name, value in MINIMAL.items() if name != key}

    with pytest.raises(ValueError, match=f"{key} is missing"):
        parse_plan(content)
