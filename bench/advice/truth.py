"""A program's own account of itself: iterations, stages, and the advice that would be right.

A program makes one Truth when its imports are done, says which stage begins and when an iteration
ends, and finds its account at exit as JSON in the file $BENCH_TRUTH. Stages follow each other without
a gap, so they add up to the life of the process. A call takes under a microsecond.
"""
import atexit
import functools
import json
import os
import re
import statistics
import sys
import time

HEADER = re.compile(r'^# bench: (.*)$', re.MULTILINE)


def read_header(path):
    """{key: value} of a program's line '# bench: advice=a|b requires=x,y ...'."""
    with open(path) as file:
        found = HEADER.search(file.read())
    return dict(word.split('=', 1) for word in found.group(1).split()) if found else {}


def process_start():
    """When this process began, in the seconds of time.perf_counter()."""
    with open('/proc/self/stat') as file:
        ticks = int(file.read().rpartition(')')[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf('SC_CLK_TCK')
    return time.perf_counter() - age


def fuse_optimizers():
    """The change of a header's `change=fused`: all parameters are updated in one call."""
    import torch
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD):
        kind.__init__ = functools.partialmethod(kind.__init__, fused=True)


class Truth:
    """The clock of one process. `fixed`: whether to run with the advised change."""

    def __init__(self, path):
        self.path = path
        self.fixed = '--fixed' in sys.argv
        if self.fixed and read_header(path).get('change') == 'fused':
            fuse_optimizers()
        self.moments = [('start-up', process_start()), ('set-up', time.perf_counter())]
        self.ends = []
        self.pid = os.getpid()
        if 'BENCH_TRUTH' in os.environ:
            atexit.register(self.write)

    def enter(self, stage):
        """Ends the stage before and begins this one."""
        self.moments.append((stage, time.perf_counter()))

    def iteration(self):
        """Ends an iteration, as the program's author counts them."""
        self.ends.append(time.perf_counter())

    def stages(self, end):
        """[(stage, start, end)] without gaps."""
        ends = [start for _, start in self.moments[1:]] + [end]
        return [(stage, start, stop) for (stage, start), stop in zip(self.moments, ends)]

    def durations(self, end):
        """Seconds of each iteration: those since the one before that were spent in the loop."""
        training = [(start, stop) for stage, start, stop in self.stages(end)
                    if stage in ('training', 'inference')]
        begin, seconds = 0.0, []
        for stop in self.ends:
            while training and training[0][1] <= begin:
                training.pop(0)
            spent = (min(b, stop) - max(a, begin) for a, b in training)
            seconds.append(sum(part for part in spent if part > 0))
            begin = stop
        return seconds

    def account(self, end):
        header, durations, total = read_header(self.path), self.durations(end), {}
        for stage, start, stop in self.stages(end):
            total[stage] = total.get(stage, 0.0) + stop - start
        outside = ('start-up', 'set-up', 'preprocessing', 'shutdown')
        return {
            'program': os.path.basename(self.path).removesuffix('.py'), 'fixed': self.fixed,
            'advice': header.get('advice', 'none').split('|'),
            'iterations': len(durations), 'first_s': durations[0], 'mean_s': statistics.mean(durations),
            'median_s': statistics.median(durations), 'stages': total, 'wall_s': end - self.moments[0][1],
            'loop_s': sum(spent for stage, spent in total.items() if stage not in outside),
        }

    def write(self):
        if os.getpid() != self.pid:
            return  # a forked child
        account = self.account(time.perf_counter())
        with open(os.environ['BENCH_TRUTH'], 'w') as file:
            json.dump(account, file, indent=1)
