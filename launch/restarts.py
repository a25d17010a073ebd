"""Restarts of a failed job: each resumes from what the script has saved."""

from __future__ import annotations

from dataclasses import dataclass

from . import private

STRIKES = 2                                          # jobs in a row without progress, after which there is no restart
LONGEST = 60.0                                       # seconds between two jobs


@dataclass
class Restarts:
    """How many restarts are allowed, how many there were, and the furthest step (None: unreported)."""

    limit: int
    count: int = 0
    best: int | None = None
    strikes: int = 0

    @property
    def delay(self) -> float:
        """Seconds before the next job: 1, 2, 4, up to LONGEST."""
        return float(min(LONGEST, 2 ** self.count))

    def refusal(self, reached: int | None) -> str:
        """Why a job that failed after saving step `reached` is not restarted, or "". Unreported progress: up to the
        limit."""
        if reached is not None and (self.best is None or reached > self.best):
            self.best, self.strikes = reached, 0
        elif self.best is not None:
            self.strikes += 1
        if self.count >= self.limit:
            return f"the job was restarted {self.count} times (--restarts)" if self.limit else " "
        if self.strikes >= STRIKES:
            return f"{self.strikes} jobs in a row did not pass step {self.best}"
        return ""


class States:
    """Folders in this host's memory, with random names, in which jobs under --grow leave their states for each other."""

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
        """Delete on this host the states from which no job continued."""
        for folder in self.folders:
            folder.close()
