import re

import pytest

from ufselect.experiments.plan import parse_plan, read_plan

MINIMAL = {
    "name": "minimal",
    "sets": ["lung"],
    "features": [5],
    "methods": [{"selector": "SCFS"}],
}


def method(**changes):
    return {"methods": [{"selector": "SCFS", **changes}]}


def test_methods_get_what_the_plan_tells_and_baselines_stand_beside_them():
    methods = [
        {
            "selector": "SCFS",
            "parameters": {"solver": "paper"},
            "grid": {"alpha": [1.0, 2.0], "beta": [3.0]},
        },
        {"selector": "LaplacianScore", "seeds": 5},
        {"selector": "SCFS", "label": "published", "grid": "published"},
    ]
    plan = parse_plan({**MINIMAL, "clusters": "classes", "methods": methods})
    first, second, third, *baselines = plan.methods
    known = {"n_clusters": "classes", "solver": "paper"}

    assert [each.label for each in baselines] == ["random", "variance", "all features"]
    assert first.grid_points() == [
        {**known, "alpha": alpha, "beta": 3.0} for alpha in (1.0, 2.0)
    ]
    assert first.fixed_point() == known
    # It takes no number of clusters, and without chance one seed is enough.
    assert (second.fixed_point(), second.seeds) == ({}, 1)
    assert len(third.grid_points()) == 25


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
        ({"run_timeout": 0}, "run_timeout is 0; it must be a number of seconds above"),
        ({"run_memory": "2GB"}, "run_memory is '2GB'; it must be a number of gigabyte"),
        ({"clusters": 0}, "clusters is 0; it could be 'classes'"),
        ({"judge": 3}, "judge is 3; make it a table"),
        ({"judge": {"restart": 3}}, "unknown key judge.restart; it could be restarts"),
        ({"judge": {"repetitions": 0}}, "judge.repetitions is 0"),
        ({"judge": {"metrics": ["acuracy"]}}, "'acuracy'; it could be accuracy"),
        ({"methods": []}, "methods is missing"),
        ({"methods": ["SCFS"]}, "methods[0] is 'SCFS'; make it a table"),
        (method(selector="SCSF"), "methods[0].selector is 'SCSF'; it could be SCFS"),
        ({"methods": [{"label": "x"}]}, "methods[0].selector is missing; it must be a"),
        ({"methods": 2 * MINIMAL["methods"]}, "two methods have the label 'SCFS'"),
        (
            method(parameters={"alfa": 1}),
            "unknown key methods[0].parameters.alfa; it could be alpha",
        ),
        (method(parameters=3), "methods[0].parameters is 3; make it a table of param"),
        (method(grid={"alpha": 1}), "methods[0].grid.alpha is 1; make it a list of"),
        (method(warm_start=True), "unknown key methods[0].warm_start"),
        (
            method(selector="StabilitySelection", parameters={"selector": "LS"}),
            "methods[0].selector is 'LS'; it could be ",
        ),
        (
            method(selector="Consensus", fixed={"selectors": ["SPEC", "SCSF"]}),
            "methods[0].selectors has 'SCSF'; it could be SCFS",
        ),
        (method(grid="best"), "methods[0].grid is 'best'; it could be 'published'"),
    ],
)
def test_a_mistake_is_answered_with_the_key_and_what_it_could_be(change, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        parse_plan({**MINIMAL, **change})


def test_a_file_that_is_no_plan_and_a_key_that_is_missing_are_named(tmp_path):
    path = tmp_path / "plan.toml"
    with pytest.raises(ValueError, match=r"plan\.toml does not exist"):
        read_plan(path)
    path.write_text("name = [")
    with pytest.raises(ValueError, match=r"plan\.toml is not valid TOML"):
        read_plan(path)
    for key in ("name", "sets", "features"):
        content = {name: value for name, value in MINIMAL.items() if name != key}
        with pytest.raises(ValueError, match=f"{key} is missing"):
            parse_plan(content)
