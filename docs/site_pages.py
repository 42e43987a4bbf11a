"""Pages of the site that are made from the code, and formulas without scripts."""

import importlib
import inspect
import re
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

import ufselect

HERE = Path(__file__).parent
FIGURES = re.MULTILINE | re.DOTALL
# What a method of your own implements, and what its base class gives it.
HOOKS = (
    *("_score_features", "_memory_needed", "_prepare", "_iterate", "_penalty"),
    *("_keep_history", "_warn_unless"),
)
PUBLIC = {
    "ufselect": "Selectors",
    "ufselect.data": "Data",
    "ufselect.evaluation": "Evaluation",
    "ufselect.tuning": "Tuning",
    "ufselect.report": "Reports",
    "ufselect.pl": "Plots",
    "ufselect.models": "Saved selectors",
    "ufselect.tl": "Single cells",
    "ufselect.plugin": "Methods of your own",
    "ufselect.serving": "The web page",
}


def write_reference(app=None):
    """Write one page of the reference for every public module."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    for name, title in PUBLIC.items():
        path, text = folder / f"{name}.rst", reference_page(name, title)
        # A page that is as it was need not be read again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def reference_page(name, title):
    """Return the page of all that a module makes public, as reStructuredText."""
    module = importlib.import_module(name)
    heading = f"{title}: ``{name}``"
    parts = [heading, "=" * len(heading), "", (module.__doc__ or "").strip(), ""]
    parts += [f".. currentmodule:: {name}", ""]
    for each in (each for each in module.__all__ if not each.startswith("_")):
        parts += [*entry(name, each, getattr(module, each)), ""]
    return "\n".join(parts)


def entry(module, name, value):
    """Return the directive that documents one name."""
    hooks = [hook for hook in HOOKS if inspect.isclass(value) and hook in vars(value)]
    if module == "ufselect.plugin" and hooks:
        # Links lead to the first page, which has the class, too.
        again = ["   :no-index:"] if name in ufselect.__all__ else []
        members = f"   :members: {', '.join(hooks)}"
        return [f".. autoclass:: {name}", members, *again]
    if module != "ufselect" and name in ufselect.__all__:
        return [f":py:obj:`ufselect.{name}` is on the first page of this reference."]
    if inspect.ismodule(value):
        return [f"``{module}.{name}`` has a page of its own."]
    if not getattr(value, "__module__", module).startswith("ufselect"):
        # A range or a type, which the docstring of the module explains.
        return [f".. py:data:: {name}"]
    if inspect.isclass(value):
        # Fields of named tuples say no more than their number.
        options = [] if issubclass(value, tuple) else ["   :members:"]
        return [f".. autoclass:: {name}", *options]
    if callable(value):
        return [f".. autofunction:: {name}"]
    return [f".. py:data:: {name}"]


def escape_names(app, what, name, value, options, lines):
    """Keep names that end in an underscore, within types, from becoming links."""
    lines[:] = [
        re.sub(r"_(?=[,)])", r"\\_", line) if " : " in line else line for line in lines
    ]


def lead_to_pages(app, what, name, value, options, lines):
    """Turn the paths of pages in docstrings into links."""
    lines[:] = [re.sub(r"\bdocs/([\w/-]+)\.md", r":doc:`/\1`", line) for line in lines]


def lead_to_the_gallery(app, name, source):
    """Turn links to files of examples, which work in the repository, into pages."""
    text = re.sub(
        r"^\*Figures?\*.*?(?=\n\n|\Z)", _with_figure, source[0], flags=FIGURES
    )
    text = text.replace("](../examples/README.rst)", "](gallery/index.rst)")
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", text)


def _with_figure(paragraph):
    """Return a paragraph that points at figures with the first of them below it."""
    words, name = re.search(
        r"\[([^]]*)\]\(\.\./examples/(\w+)\.py\)", paragraph[0]
    ).groups()
    picture = f"![{' '.join(words.split())}](gallery/images/sphx_glr_{name}_001.png)"
    return f"{paragraph[0]}\n\n{picture}"


def add_formulas(app):
    """Write formulas as MathML, which browsers show without fetching a script."""
    app.add_html_math_renderer("mathml", (_formula, None), (_formula_block, None))


def _formula(translator, node):
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _formula_block(translator, node):
    translator.body.append(tex2mathml(node.astext(), as_block=True))
    raise SkipNode
