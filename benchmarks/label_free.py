"""Is AutoSelect better than chance on any table, and honest about noise?

Five parts, and the targets that were set for them at the end:

* quality: rankings against random columns, all columns and the first version on
  labelled sets, in two halves, one to develop on and one to report.
* noise: how often structure is reported where there is none.
* planted: how many of the columns that carry groups are found and confirmed.
* stability: how much rankings of halves of the samples have in common.
* cost: fits of SCFS that it costs, and its growth with the samples.

Rankings and scores are kept in a folder, so that what has not changed is not computed
again. Every part says where labels were used; no ranking sees any.

    python benchmarks/label_free.py [--parts quality,noise,planted,stability,cost]
        [--jobs 2] [--sets a,b] [--quick] [--cache DIR] [--markdown FILE]
"""

import argparse
import time
import warnings
from pathlib import Path

from halves import SMALL
from label_free_cost import cost
from label_free_noise import noise
from label_free_planted import planted
from label_free_quality import quality
from label_free_report import table_of_answers
from label_free_stability import stability

import ufselect

DURATION = "60 minutes"
PARTS = {
    "quality": quality,
    "noise": noise,
    "planted": planted,
    "stability": stability,
    "cost": cost,
}
CACHE = Path.home() / ".cache" / "ufselect-study"

TARGETS = """
Targets for quality are for sets with structure of the half for reporting, ACC / NMI."""


def parse():
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS), help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", help="names separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="two sets, few tables")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part is called {unknown[0]!r}; use {', '.join(PARTS)}")
    sets = options.sets or (SMALL if options.quick else None)
    options.sets = sets.split(",") if sets else None
    return options


def main():
    """Print the parts that are wanted, and how the targets are met."""
    options = parse()
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    found = {}
    for name in options.parts:
        found[name] = PARTS[name](options)
        print(f"\n{found[name].text}\n", flush=True)
    answers = [answer for part in found.values() for answer in part.answers]
    minutes = (time.perf_counter() - start) / 60
    end = "\n\n".join(
        [
            *("## It must show", TARGETS.strip(), table_of_answers(answers)),
            f"Version {ufselect.__version__}; {minutes:.1f} minutes.",
        ]
    )
    print(end)
    if options.markdown is not None:
        texts = [*(part.text for part in found.values()), end]
        options.markdown.write_text("\n\n".join(texts) + "\n", "utf-8")


if __name__ == "__main__":
    main()
