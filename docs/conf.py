"""The settings of Sphinx. `scripts/docs` builds the site into docs/_build/html."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# One thread each for linear algebra, before NumPy is loaded: examples are small.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import site_pages  # noqa: E402 - beside this file
from site_figures import figures_of_an_example  # noqa: E402 - beside this file

from ufselect import __version__  # noqa: E402 - after the number of threads

project = "ufselect"
author = "The ufselect developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "images/*.md"]
templates_path: list[str] = []

# Pages

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "ufselect"
html_static_path = ["_static"]
html_css_files = ["ufselect.css"]
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
# Most blocks are tables of numbers and commands, not Python.
highlight_language = "text"

# The reference

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say them in the words of the field
numpydoc_show_class_members = False  # autodoc lists them
# It comes from scikit-learn, whose user guide its text refers to.
autodoc_default_options = {"exclude-members": "set_fit_request"}

# The gallery

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ["matplotlib", figures_of_an_example],
    "min_reported_time": 10_000,  # a page is the same on every machine
    "show_memory": False,
    "show_signature": False,
    "show_api_usage": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "copyfile_regex": "",
    "abort_on_example_error": True,
    "remove_config_comments": True,
}

suppress_warnings = ["config.cache"]  # functions among the settings of the gallery


def setup(app):
    """Add what is made from the code, and formulas that need no script."""
    app.connect("builder-inited", site_pages.write_reference)
    # Before numpydoc, which has the usual priority, 500.
    app.connect("autodoc-process-docstring", site_pages.escape_names, priority=400)
    app.connect("autodoc-process-docstring", site_pages.lead_to_pages, priority=400)
    app.connect("source-read", site_pages.lead_to_the_gallery)
    site_pages.add_formulas(app)
