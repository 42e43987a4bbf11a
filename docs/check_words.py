"""Check the words of pages and code: `python docs/check_words.py [PAGE ...]`.

Prints the number of words of every page, the ten longest sentences of those written by
hand, phrases that the glossary replaces, on pages and in the code, and spelling
mistakes, which codespell finds.
Ends with 1 if there is a mistake, or if there are more words than LIMIT.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Words of the site that are written by hand: 12,000, and 7,000 of the pages of methods,
# which were 6,500 in docstrings.
LIMIT = 19_000
README_LINES = 120
N_LONGEST = 10
# A table of microbial counts, the end of an error message that was cut off, a format of
# sparse matrices and a product.
IGNORED = "otu,allocat,coo,ptd"
# Pages that a command writes; their words come from the code.
GENERATED = {
    "benchmarks.md": "python -m benchmarks.page --run",
    "relations.md": "python tests/relations.py",
    "label-free.md": "python -m studies label_free --markdown docs/label-free.md",
    "scfs-2020.md": "ufselect reproduce scfs-2020; python -m studies published_code",
}
# What to say, and what not to say. Words with another good sense, such as "turn" or
# "follow", are looked for only in the phrases in which they stood for a term.
GLOSSARY = {
    "transpose": r"turn(?:s|ed|ing)? (?:the|a|this|your) table|(?:is|was|be) turned\b",
    "out-of-core, in blocks": r"stream(?:s|ed|ing)? (?:X|rows|data|the)\b|streaming",
    "cluster memberships P, indicator matrix G": r"indicators\b|target matrix",
    "Gram matrix, kernel matrix": r"products of (?:the data|samples|X)\b",
    "ridge weight, reweighting": r"slacks?\b",
    "hat matrix, fitted values": r"W (?:to )?follows?\b|W following|T follows",
    "KKT ratio, distance to the subdifferential": r"proximity\b|nearness\b",
    "Lipschitz constant, step size": r"curvatures?\b|step lengths?\b",
    "cache": r"once[ _]for[ _]all\b(?! \w)|shar(?:es|ing) products",
    "subprocess, isolation": r"(?:read|run|runs|ran) apart\b",
    "memory limit, space": r"rooms?\b",
    "worker pool": r"crews?\b|seats?\b",
    "recover": r"the remains\b|salvaged remains",
    "false discovery, null distribution, permutation": (
        r"by chance\b|chance would|decoys?\b"
    ),
    "sample names, index column": r"identity column|(?:is|are) no features?\b",
    "report, or web page": r"local page\b|HTML page|page of the report",
    "If you ...": r"whoever\b|who names\b",
    "neighbourhoods, scatter matrix": r"cliques?\b|scatters\b",
    "timeout, location": r"patience\b|whereabouts\b",
    "parallel jobs": r"(?:fits|starts|jobs|runs) at once\b",
    "representative": r"stands? for (?:it|them|others?)\b|they stand for\b",
    "partition (for neighbours)": r"neighbours in cells\b|cells hold\b",
    "callback, progress": r"hears? of\b",
    "a plain word": r"in every dress|walk of one|house rules|riddles?\b",
}
BANNED = {say: re.compile(rf"\b(?:{no})", re.I) for say, no in GLOSSARY.items()}
CODE = re.compile(r"^```.*?^```|^ {4}\S[^\n]*|\$\$.*?\$\$|</?[a-z][^>]*>", re.S | re.M)
# Tables that a command printed, below a comment that names it.
MEASURED = re.compile(r"^<!-- (?:printed|measured) [^\n]*-->\s+(?:\|[^\n]*\n)+", re.M)
TABLE_RULE = re.compile(r"^\|[-:| ]+\|$", re.M)
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[*#-]|\d+\.) )|\n(?=\|)|\|")
SENTENCE = re.compile(r"(?<=[.!?])[*\"')]*\s+(?=[A-Z`*\"'(\[$])")


def main(arguments: list[str]) -> int:
    """Print what is found in the given pages, or in all; return the exit code."""
    pages = [Path(name) for name in arguments] or [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "methods").glob("*.md")),
    ]
    code = [] if arguments else sorted((ROOT / "src").rglob("*.py"))
    code += [] if arguments else sorted((ROOT / "src").rglob("*.j2"))
    written = [page for page in pages if page.name not in GENERATED]
    total = print_counts(pages)
    print_longest(written)
    problems = [problem for page in pages for problem in violations(page)]
    problems += [problem for file in code for problem in violations_in_code(file)]
    problems += misspellings([*pages, *code])
    if total > LIMIT:
        problems.append(f"The site has {total} words written by hand, {LIMIT} at most.")
    for page in pages:
        n_lines = len(page.read_text(encoding="utf-8").splitlines())
        if page.name == "README.md" and n_lines > README_LINES:
            problems.append(f"README.md has {n_lines} lines, {README_LINES} at most.")
    print(*problems or ["No violation of the glossary, no spelling mistake."], sep="\n")
    return 1 if problems else 0


def prose(page: Path) -> str:
    """Return a page without code, formulas, measured tables and addresses of links."""
    text = MEASURED.sub("", page.read_text(encoding="utf-8"))
    text = TABLE_RULE.sub("", CODE.sub("", text))
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "`code`", text)
    return re.sub(r"\$[^$]+\$", "$$", text)


def sentences(page: Path) -> Iterator[str]:
    """Yield the sentences of a page; a heading, an item and a cell end one, too."""
    for block in BLOCK.split(prose(page)):
        for sentence in SENTENCE.split(" ".join(block.split())):
            if re.search(r"[A-Za-z]", sentence):
                yield sentence.lstrip("#*- ")


def n_words(text: str) -> int:
    """Return the number of words; numbers and letters of formulas are none."""
    return sum(bool(re.search(r"[A-Za-z]{2}|^[aA]$", word)) for word in text.split())


def print_counts(pages: list[Path]) -> int:
    """Print the words of each page; return the sum of those written by hand."""
    counts = {page.name: n_words(prose(page)) for page in pages}
    for name, count in counts.items():
        by = f"    by {GENERATED[name]}" if name in GENERATED else ""
        print(f"{count:7,}  {name}{by}")
    apart = {"README.md", *GENERATED}
    total = sum(count for name, count in counts.items() if name not in apart)
    print(f"{total:7,}  words written by hand, without README.md")
    return total


def print_longest(pages: list[Path]) -> None:
    """Print the sentences with the most words."""
    found = [
        (n_words(each), page.name, each) for page in pages for each in sentences(page)
    ]
    print(f"\nThe {N_LONGEST} longest sentences:")
    for count, name, sentence in sorted(found, reverse=True)[:N_LONGEST]:
        print(f"{count:4}  {name}: {sentence}")
    print()


def violations(page: Path) -> list[str]:
    """Return a line for each phrase of a page that the glossary replaces."""
    return [
        f"{page.name}: say {say!r}, not {match[0]!r}: {sentence}"
        for sentence in sentences(page)
        for say, banned in BANNED.items()
        for match in banned.finditer(sentence)
    ]


def violations_in_code(file: Path) -> list[str]:
    """Return a line for each phrase of a source file that the glossary replaces."""
    return [
        f"{file.relative_to(ROOT)}:{number}: say {say!r}, not {match[0]!r}"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        for say, banned in BANNED.items()
        for match in banned.finditer(line)
    ]


def misspellings(pages: list[Path]) -> list[str]:
    """Return what codespell says of the pages."""
    command = [sys.executable, "-m", "codespell_lib", f"--ignore-words-list={IGNORED}"]
    run = subprocess.run(
        [*command, *map(str, pages)], capture_output=True, text=True, check=False
    )
    # Not 0 although nothing is misspelt: codespell is not installed, or failed.
    return run.stdout.splitlines() or run.stderr.splitlines() * (run.returncode != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
