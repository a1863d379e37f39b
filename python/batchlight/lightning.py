"""A profiler for PyTorch Lightning: `Trainer(profiler=BatchlightProfiler())`.

Every action of the trainer becomes a range of the domain "lightning" in the recording. After each
stage `summary()` gives a table of steps: what one training batch is made of, adding up to its
length, and below it the actions with the columns of Lightning's SimpleProfiler (three of them with
extended=False) and, with advanced=True, the functions of each action with AdvancedProfiler's.
Works without `batchlight profile` too; then it only measures.

Action names: Lightning 2.x and pytorch_lightning 1.6 to 2.x (`run_training_batch`,
`[Strategy]S.training_step`, `[_TrainingEpochLoop].train_dataloader_next`).
"""
import cProfile
import io
import pstats
import statistics
import time

from . import end_range, start_range

try:
    from lightning.pytorch.profilers import Profiler
except ImportError:
    try:
        from pytorch_lightning.profilers import Profiler
    except ImportError as error:
        raise ImportError(
            "batchlight.lightning needs PyTorch Lightning: pip install lightning") from error

STEP = "run_training_batch"
# Ends of action names, and the part of a step that each belongs to.
PARTS = (
    ("train_dataloader_next", "data loading"),
    ("batch_to_device", "copy to device"),
    ("training_step", "forward"),
    ("backward", "backward"),
    ("zero_grad", "zero_grad"),
    ("optimizer_step", "optimizer"),
)


def _part_of(action):
    for ending, part in PARTS:
        if action.endswith(ending):
            return part
    return None


def _percentile(ordered, fraction):
    """Linear interpolation between the two nearest of `ordered`."""
    position = fraction * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _table(rows):
    """Lines of a table; the first row is its header."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * len(lines[0]))
    return lines


class _Action:
    """Durations of one action, in ns; `self_ns` leaves out the actions inside it."""

    def __init__(self):
        self.durations_ns = []
        self.self_ns = 0


class _Functions:
    """What cProfile counts in each action. One profiler can run at a time: that of the innermost
    action, so that an action's functions are its own and not those of the actions inside it."""

    def __init__(self):
        self._profilers = {}  # by action
        self._running = None
        self.refused = ""

    def switch_to(self, action):
        if self._running is not None:
            self._running.disable()
        self._running = None
        if action is None or self.refused:
            return
        profiler = self._profilers.setdefault(action, cProfile.Profile())
        try:
            profiler.enable()
        except ValueError as error:  # CPython 3.12: another profiling tool is active
            self.refused = str(error)
            return
        self._running = profiler

    def lines(self):
        self.switch_to(None)
        if self.refused:
            return ["", "Functions of the actions were not measured: " + self.refused]
        lines = []
        for action, profiler in self._profilers.items():
            out = io.StringIO()
            try:
                stats = pstats.Stats(profiler, stream=out)
            except TypeError:  # nothing ran in it
                continue
            stats.sort_stats("cumulative").print_stats()
            lines += ["", "Profile stats for: " + action, out.getvalue().strip()]
        return lines


class BatchlightProfiler(Profiler):
    """See the module. `dirpath` and `filename` as in Lightning's own profilers."""

    def __init__(self, dirpath=None, filename=None, extended=True, advanced=False):
        super().__init__(dirpath=dirpath, filename=filename)
        self.extended = extended
        self.advanced = advanced
        self._reset()

    def _reset(self):
        self._functions = _Functions() if self.advanced else None
        self._actions = {}
        self._open = []  # [action, start_ns, ns of actions inside, range id]
        self._parts_ns = {}  # part -> self time inside steps and in data loading
        self._steps_ns = []
        self._waits_ns = []
        self._begin_ns = time.perf_counter_ns()

    def start(self, action_name):
        range_id = start_range(action_name, domain="lightning")
        self._open.append([action_name, time.perf_counter_ns(), 0, range_id])
        if self._functions:
            self._functions.switch_to(action_name)

    def stop(self, action_name):
        now_ns = time.perf_counter_ns()
        if self._functions:
            self._functions.switch_to(None)
        # Actions nest, but a callback may stop one that is not the innermost, so look for it.
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index][0] == action_name:
                break
        else:
            return self._resume()
        _, start_ns, inside_ns, range_id = self._open.pop(index)
        end_range(range_id)
        duration_ns = now_ns - start_ns
        if index > 0:
            self._open[index - 1][2] += duration_ns
        action = self._actions.setdefault(action_name, _Action())
        action.durations_ns.append(duration_ns)
        own_ns = max(0, duration_ns - inside_ns)
        action.self_ns += own_ns
        self._add_to_step(action_name, duration_ns, own_ns, index)
        self._resume()

    def _resume(self):
        if self._functions and self._open:
            self._functions.switch_to(self._open[-1][0])

    def _add_to_step(self, action_name, duration_ns, own_ns, depth):
        if action_name == STEP:
            self._steps_ns.append(duration_ns)
            return
        # The time of an action without a name of its own goes to the nearest one around it that
        # has one: hooks inside training_step are forward.
        part = _part_of(action_name)
        for outer in reversed(self._open[:depth]):
            part = part or _part_of(outer[0])
        inside = any(outer[0] == STEP for outer in self._open[:depth])
        if part == "data loading" and not inside:
            self._waits_ns.append(duration_ns)
        elif part and inside:
            self._parts_ns[part] = self._parts_ns.get(part, 0) + own_ns

    def teardown(self, stage=None):
        super().teardown(stage=stage)
        if self._functions:
            self._functions.switch_to(None)
        self._reset()

    def step_table(self):
        """[(part, mean ns per step, share)] of a training step; adds up to the mean step with its
        wait for data. Empty without a step."""
        if not self._steps_ns:
            return []
        count = len(self._steps_ns)
        wait_ns = sum(self._waits_ns)
        total_ns = sum(self._steps_ns) + wait_ns
        rows = [("data loading", wait_ns)] if wait_ns else []
        rows += [(part, self._parts_ns[part]) for _, part in PARTS if self._parts_ns.get(part)]
        rows.append(("other", total_ns - sum(ns for _, ns in rows)))
        return [(part, ns / count, ns / total_ns) for part, ns in rows]

    def summary(self):
        lines = []
        if self._steps_ns:
            ordered = sorted(self._steps_ns)
            lines += [
                "Training steps: %d, median %.3f ms, p5 %.3f ms, p95 %.3f ms" % (
                    len(ordered), statistics.median(ordered) / 1e6, _percentile(ordered, 0.05) / 1e6,
                    _percentile(ordered, 0.95) / 1e6), "",
                "%-16s %16s %8s" % ("Part of a step", "Mean (ms)", "Share"), "-" * 42]
            lines += ["%-16s %16.3f %7.1f%%" % (part, ns / 1e6, share * 100)
                      for part, ns, share in self.step_table()]
            lines.append("")
        if self._actions:
            lines += self._action_lines() if self.extended else self._short_action_lines()
        if self._functions:
            lines += self._functions.lines()
            self._resume()
        return "\n".join(lines)

    def _short_action_lines(self):
        rows = []
        for name, action in self._actions.items():
            total_s = sum(action.durations_ns) / 1e9
            rows.append([name, "%.5g" % (total_s / len(action.durations_ns)), "%.5g" % total_s])
        rows.sort(key=lambda row: -float(row[1]))
        return _table([["Action", "Mean duration (s)", "Total time (s)"]] + rows)

    def _action_lines(self):
        elapsed_s = (time.perf_counter_ns() - self._begin_ns) / 1e9
        header = ["Action", "Mean duration (s)", "Num calls", "Total time (s)", "Percentage %",
                  "Self time (s)"]
        rows = []
        for name, action in self._actions.items():
            total_s = sum(action.durations_ns) / 1e9
            calls = len(action.durations_ns)
            rows.append([name, "%.5g" % (total_s / calls), str(calls), "%.5g" % total_s,
                         "%.5g" % (100 * total_s / elapsed_s), "%.5g" % (action.self_ns / 1e9)])
        rows.sort(key=lambda row: -float(row[3]))
        rows.insert(0, ["Total", "-", str(sum(int(row[2]) for row in rows)), "%.5g" % elapsed_s, "100",
                        "-"])
        return _table([header] + rows)
