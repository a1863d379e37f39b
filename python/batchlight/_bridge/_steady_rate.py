"""How fast batches come, and what they cost, once the start of each epoch is over.

Workers make batches side by side and begin together, so that batches come in bursts of one from each worker. From
the middle of a burst to the middle of another there are up to a burst too many: what counts is whole rounds, from a
batch to the next one of the same worker."""
import time


class SteadyRate:
    """Sums over the steady parts of all epochs. `used` gives the processor seconds so far as a list of sums (any kinds);
    `synchronize` waits for the GPU, so that a part has the work that it began."""

    def __init__(self, used, synchronize=lambda: None):
        self._used, self._synchronize = used, synchronize
        self.batches = self.samples = 0
        self.active_s = self.wait_s = 0.0
        self.used_wall_s, self.used = 0.0, None  # of the parts whole, unfinished rounds too
        self._part = None

    @property
    def in_epoch(self):
        return self._part is not None

    @property
    def is_whole(self):
        """Whether all that came counts: no round is unfinished."""
        return self._part is None or not self._part.batches

    def begin_epoch(self, workers, skipped):
        """`workers` make batches in turn, 0: none do. The first `skipped` batches are no part of the rate."""
        self._part = _Part(max(1, workers), skipped)

    def batch(self, samples, asked, now):
        """A batch was asked for and came (seconds of time.perf_counter); what follows is its step."""
        part = self._part
        if part.skipped > 0:
            part.skipped -= 1
        elif part.begin is None:
            self._synchronize()
            part.begin = part.last = time.perf_counter()
            part.used = self._used()
        else:
            part.add(asked, now)
            if part.batches == part.round:
                self._count(part)
        part.count = samples

    def end_epoch(self, now):
        """No further batch comes. An epoch without a whole round counts as far as it came."""
        part, self._part = self._part, None
        if part is None or part.begin is None:
            return
        self._synchronize()
        end = time.perf_counter()
        part.add(now, end)
        if part.batches == part.round or not part.rounds:
            self._count(part)
        self._count_used(part, end)

    def finish(self):
        """Now, in the middle of an epoch."""
        part, self._part = self._part, None
        if part is None or part.begin is None:
            return
        before = time.perf_counter()
        self._synchronize()
        end = time.perf_counter()
        if not self.batches:
            self._count(part)
        if not part.batches:  # else what is waited for is of batches that do not count
            self.active_s += end - before
        self._count_used(part, end)

    def _count(self, part):
        self.batches += part.batches
        self.samples += part.samples
        self.active_s += part.active_s
        self.wait_s += part.wait_s
        part.rounds += 1
        part.clear()

    def _count_used(self, part, end):
        spent = [after - before for before, after in zip(part.used, self._used())]
        self.used = spent if self.used is None else [a + b for a, b in zip(self.used, spent)]
        self.used_wall_s += end - part.begin


class _Part:
    """Of one epoch: what came since the last whole round."""

    def __init__(self, round, skipped):
        self.round, self.skipped = round, skipped
        self.rounds = 0
        self.begin = self.last = self.used = None
        self.count = 0  # samples of the batch that is worked on
        self.clear()

    def clear(self):
        self.batches = self.samples = 0
        self.active_s = self.wait_s = 0.0

    def add(self, asked, now):
        self.batches += 1
        self.samples += self.count
        self.active_s += now - self.last
        self.wait_s += now - asked
        self.last = now
