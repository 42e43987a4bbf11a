"""The files that ``select`` writes: their names, and which of them are complete."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from ufselect.cli.output import Progress, write_whole
from ufselect.data.replacing import save_unused

if TYPE_CHECKING:
    from ufselect import AutoSelect
    from ufselect.data import Table


class Names(NamedTuple):
    """Where to write the table, the report, and the ranking if nothing is chosen."""

    table: Path
    report: Path
    ranking: Path


def free_names(name: str, folder: Path = Path()) -> Iterator[Names]:
    """Yield names of outputs that are not in use; later ones have a number.

    Examples
    --------
    >>> from pathlib import Path
    >>> names = free_names("genes.csv.gz", Path("no-such-folder"))
    >>> [path.name for path in next(names)]
    ['genes.selected.csv.gz', 'genes.report.html', 'genes.ranking.csv']
    >>> next(names).report.name
    'genes.report-2.html'
    """
    from ufselect.data.tables.detection import split_name

    stem, ending = split_name(name)
    for mark in chain([""], map("-{}".format, count(2))):
        names = Names(
            folder / f"{stem}.selected{mark}{ending}",
            folder / f"{stem}.report{mark}.html",
            folder / f"{stem}.ranking{mark}.csv",
        )
        if not any(map(os.path.lexists, names)):
            yield names


def uses_default_names(options: SimpleNamespace) -> bool:
    """Return whether table and report get default names, in the current folder."""
    named = any([options.output, options.scores, options.report])
    return not (options.no_files or named or options.json or options.file == "-")


class ResultFiles:
    """Writes what a selection has made, under the names of the options or default ones.

    Parameters
    ----------
    options : namespace
        Those of ``select``.

    Attributes
    ----------
    written : dict of str to str
        Complete files by what is in them.
    report_wanted : bool
    """

    def __init__(self, options: SimpleNamespace) -> None:
        self.options = options
        self.written: dict[str, str] = {}
        self._default = uses_default_names(options)
        self.report_wanted = self._default or options.report is not None
        # Those of the table, which the report takes, too.
        self._names: list[Names] = []

    def write_table(self, table: "Table", selector: "AutoSelect") -> None:
        """Write the chosen features, or the ranking in their place, and the ranking."""
        from ufselect.data import write_table
        from ufselect.report.rendering import csv_text

        options, chosen = self.options, selector.get_support()
        escape = not options.keep_formulas

        def save_table(path: Path | str, overwrite: bool) -> None:
            write_table(
                *(table, chosen, path),
                scores=selector.scores_,
                escape_formulas=escape,
                only_features=options.only_features,
                write_filled=options.write_filled,
                subset=not options.no_subset,
                overwrite=overwrite,
            )

        def save_ranking(path: Path, overwrite: bool) -> None:
            frame = selector.ranking(table.names().tolist())
            text = csv_text(frame, None, escape_formulas=escape)
            write_whole(path, text, overwrite=overwrite)

        output = options.output
        if chosen.any() and self._default:
            self.written["table"] = str(self._save_unused("table", save_table))
        elif chosen.any():
            if output is not None:
                save_table(output, True)
                to_stdout = output == "-"
                self.written["table"] = "standard output" if to_stdout else output
        elif options.scores is None and (self._default or output not in (None, "-")):
            # Nothing was chosen: the ranking takes the place of the table.
            path = self._save_unused("ranking", save_ranking, output)
            self.written["scores"] = str(path)
        if options.scores is not None:
            save_ranking(options.scores, True)
            self.written["scores"] = str(options.scores)

    def write_clusters(
        self, table: "Table", selector: "AutoSelect", progress: Progress
    ) -> None:
        """Write the cluster of each sample, if asked for and found."""
        from ufselect.report.rendering import csv_text

        path = self.options.save_clusters
        if path is None:
            return
        if not selector.n_selected_:
            progress.note(f"No clusters were found; {path} is not written.")
            return
        samples: Any = table.sample_names
        if samples is None:
            samples = range(1, table.shape[0] + 1)
        columns = {"sample": list(samples), "cluster": selector.labels_.tolist()}
        escape = not self.options.keep_formulas
        write_whole(path, csv_text(columns, None, escape_formulas=escape))
        self.written["clusters"] = str(path)

    def write_report(self, text: str) -> None:
        """Write the report."""

        def save(path: Path, overwrite: bool) -> None:
            write_whole(path, text, overwrite=overwrite)

        path = self.options.report
        if self._default:
            path = self._save_unused("report", save)
        else:
            save(path, True)
        self.written["report"] = str(path)

    def _save_unused(
        self, kind: str, save: Callable[[Path, bool], None], output: str | None = None
    ) -> Path:
        """Save under a name that is free, beside the output if one is given."""
        path = Path(Path(self.options.file).name if output is None else output)
        names = chain(self._names, free_names(path.name, path.parent))
        taken = save_unused(names, lambda each: save(getattr(each, kind), False))
        self._names = [taken]
        found: Path = getattr(taken, kind)
        return found

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Add to an interruption or an error which files are complete."""
        try:
            yield
        except (KeyboardInterrupt, ValueError) as error:
            if not self.written:
                raise
            names = " and ".join(self.written.values())
            complete = f"{names} {'is' if len(self.written) == 1 else 'are'} complete"
            if isinstance(error, KeyboardInterrupt):
                message = f"interrupted; {complete}, nothing else was written"
                raise KeyboardInterrupt(message) from None
            raise ValueError(f"{str(error).rstrip('.')}; {complete}") from error
