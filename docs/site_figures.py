"""What the gallery takes for a figure of an example."""

from sphinx_gallery.scrapers import figure_rst

from ufselect.report import Plot


def figures_of_an_example(block, block_vars, gallery_conf):
    """Save every plot that a block has bound to a name for the first time."""
    known = block_vars["example_globals"].setdefault("__shown__", [])
    paths = []
    for value in list(block_vars["example_globals"].values()):
        if isinstance(value, Plot) and not any(value is each for each in known):
            known.append(value)
            path = next(block_vars["image_path_iterator"])
            value.save(path)
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
