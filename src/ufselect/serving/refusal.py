"""What the server will not do, said in one sentence."""


class Refusal(Exception):
    """A request that is not granted: a status of HTTP, and a sentence with the remedy.

    Examples
    --------
    >>> refusal = Refusal(413, "the file is too large")
    >>> refusal.status, str(refusal)
    (413, 'the file is too large')
    """

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
