"""New jobs in the place of one that has failed: each goes on from what the script has saved."""

from __future__ import annotations

from dataclasses import dataclass

from . import private

STRIKES = 2                                          # jobs in a row that came no further, after which there is no other
LONGEST = 60.0                                       # seconds between two jobs


@dataclass
class Restarts:
    """How many jobs may follow the first, how many have, and how far the best came (None: none has said)."""

    limit: int
    count: int = 0
    best: int | None = None
    strikes: int = 0

    @property
    def delay(self) -> float:
        """Seconds before the next job: 1, 2, 4, up to LONGEST."""
        return float(min(LONGEST, 2 ** self.count))

    def refusal(self, reached: int | None) -> str:
        """Why no further job is to follow one that failed having saved step `reached`; "" if one is.

        Scripts that tell nothing (dparallel.report_progress) are started again up to the limit.
        """
        if reached is not None and (self.best is None or reached > self.best):
            self.best, self.strikes = reached, 0
        elif self.best is not None:
            self.strikes += 1
        if self.count >= self.limit:
            return f"it was started again {self.count} times (--restarts)" if self.limit else " "
        if self.strikes >= STRIKES:
            return f"{self.strikes} jobs in a row came no further than step {self.best}"
        return ""


class States:
    """The folders in this host's memory in which jobs under --grow leave their states. Their names are random words that
    these jobs alone know."""

    def __init__(self) -> None:
        self.folders: list[private.Held] = []
        self.left = ""                               # the word of the job which has left one

    def next(self) -> dict[str, str]:
        """The variables of another job."""
        self.folders.append(private.Held(private.in_memory(), private.LEFT))
        return {"DPARALLEL_SURVIVE_STATE": self.folders[-1].word, "DPARALLEL_SURVIVE_FROM": self.left}

    def keep(self) -> None:
        """The newest job has left its state."""
        self.left = self.folders[-1].word

    def close(self) -> None:
        """Delete on this host what no job continued from."""
        for folder in self.folders:
            folder.close()
