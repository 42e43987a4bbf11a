"""Run a study: `python -m studies NAME [ARGUMENTS]`; without a name, list them."""

import ast
import importlib
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Run the study that the first argument names; the others are its own."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        # A study begins with its question.
        question = ast.get_docstring(ast.parse(path.read_text("utf-8"))).split("\n\n")[
            0
        ]
        if question.endswith("?"):
            found[path.stem] = " ".join(question.split())
    if not arguments or arguments[0] not in found:
        print(*(f"{name:16} {question}" for name, question in found.items()), sep="\n")
        return 0 if not arguments else 2
    return importlib.import_module(f"studies.{arguments[0]}").main(arguments[1:]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
