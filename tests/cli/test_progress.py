import io

from ufselect.cli.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_one_line_that_is_rewritten():
    stream = Terminal()
    line = ProgressLine("cells", stream=stream)
    line.show(1, 4, seconds_left=90)
    line.show(4, 4)
    line.close()

    assert stream.getvalue() == (
        f"\r[{'#' * 7}{'-' * 23}] 1/4 cells, 2 min left\x1b[K"
        f"\r[{'#' * 30}] 4/4 cells\x1b[K\n"
    )


def test_a_log_gets_the_first_line_and_the_last():
    stream = io.StringIO()
    line = ProgressLine("cells", stream=stream)
    for done in range(1, 5):
        line.show(done, 4)
    line.close()

    assert stream.getvalue() == "1/4 cells\n4/4 cells\n"


def test_quiet_is_silent():
    stream = Terminal()
    line = ProgressLine("cells", quiet=True, stream=stream)
    line.show(1, 4)
    line.close()

    assert stream.getvalue() == ""
