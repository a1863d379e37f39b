"""python3 PACKAGE probe-loader [flags] -- SCRIPT [ARGS]: `batchlight probe loader`, which declares the flags.

Three trials of the user's loop as it is (both, loader alone, training alone), then the loader alone with
other numbers of workers and prefetch; the best setting is predicted from the limits and run."""
import argparse
import json
import locale
import os
import shutil
import signal
import sys
import time

from ._own_folder import write_beside
from ._probe_trials import Runner, Trial, TrialFailed, interpreter, reads_of

# A loader that is this much faster than the training is not what a step waits for.
ENOUGH = 1.1
SAME = 0.03  # rates that differ by less are not told apart
DOUBT = 0.15  # how far predictions may be off
FULL = 0.85  # of the processors, in use by a trial: the rest is the kernel's and the switching between processes
MOST_CROWDING = 2.0  # two threads of one core, each half as fast; what is more is chance


def main(words):
    parser = argparse.ArgumentParser(prog="batchlight probe loader", allow_abbrev=False)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--startup", type=float, default=300)
    parser.add_argument("--workers", default="")
    parser.add_argument("--format", default="text")
    parser.add_argument("--output", default="")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(words)
    say = _Progress()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    runner = Runner(interpreter(options.command), options.seconds, options.steps, options.startup, say)
    try:
        report = probe(runner, options.workers)
    except TrialFailed as failed:
        say.clear()
        print("batchlight: probe loader: %s" % failed, file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        say.clear()
        return 130
    finally:
        runner.close()
    say.clear()
    text = json.dumps(report, indent=2) + "\n" if options.format == "json" else text_of(report)
    if options.output and options.output != "-":
        try:
            write_whole(options.output, text)
        except OSError as error:
            print("batchlight: probe loader: cannot write %s: %s" % (options.output, error.strerror),
                  file=sys.stderr)
            return 4
    else:
        sys.stdout.write(text)
    return 0


def write_whole(path, text):
    """The file is there when it is whole, in place of what was there; a pipe or device is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w") as file:
            file.write(text)
        return
    write_beside(path, text.encode(locale.getpreferredencoding(False)))


class _Progress:
    """The trial that runs, as a line on a terminal."""

    def __init__(self):
        self._on = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._count = 0

    def __call__(self, what):
        self._count += 1
        if self._on:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(("\r\033[Kbatchlight: trial %d: %s" % (self._count, what))[:width + 5])
            sys.stderr.flush()

    def clear(self):
        if self._on:
            sys.stderr.write("\r\033[K")


# --- the measurements ---

def processors():
    """How many the process may use."""
    count = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
        if quota != "max":
            count = min(count, max(1, int(quota) / int(period)))
    except (OSError, ValueError):
        pass
    return count


def processor_times():
    """(busy, in all) in the kernel's ticks, over all processors of the machine; zeros where it does not say."""
    try:
        with open("/proc/stat") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except (OSError, ValueError):
        return 0, 0
    return sum(ticks) - sum(ticks[3:5]), sum(ticks)  # idle, and waiting for a disk


def what_others_use(before, after, count, machine):
    """A note where others leave less than the processors that the process may use: figures of such a machine vary."""
    busy, passed = after[0] - before[0], after[1] - before[1]
    others = machine * busy / passed if passed else 0.0
    if machine - others > 0.9 * count:
        return []
    return ["Other programs used %.1f of the machine's %d processors before the first trial: the figures are of what "
            "they left, and settings may do better without them." % (others, machine)]


def note_of_others(count):
    """What runs beside, looked at while nothing of ours does."""
    before = processor_times()
    time.sleep(0.5)
    return what_others_use(before, processor_times(), count, os.cpu_count() or 1)


def worker_counts(wanted, count):
    if wanted:
        return sorted({int(word) for word in wanted.split(",")})
    counts, n = [0], 1
    while n < count:
        counts.append(n)
        n *= 2
    return counts + [int(count)]


def crowding(loader, tried):
    """How many times as dear work is with the loader's workers beside: processors share cores and memory. Told by a
    sample's processor time with them and with the fewest workers that were tried; 1 where that is not known."""
    alone = min((trial for trial in tried if trial["workers"]), key=lambda trial: trial["workers"], default=loader)
    if alone["workers"] >= loader["workers"] or alone.cpu_s() <= 0:
        return 1.0
    return min(MOST_CROWDING, max(1.0, loader.cpu_s() / alone.cpu_s()))


def attainable(tried, count):
    """Of `count` processors those that a program gets: what the trial used that used most, where that is nearly all
    of them. Where none comes near, something else held the trials up, and all may be had."""
    most = max(trial.rate * trial.cpu_s() for trial in tried)
    return min(count, most) if most >= FULL * count else count


def predicted_rate(loader, both, training, count, crowded=1.0):
    """Samples a second of both: the slower of the two, one after the other without workers, and no more
    than the processors can do. The main process trains and takes samples from the workers in turn. A batch that
    comes new costs the loop's body more than one that lies in the processor's cache: what it took in the program
    as it is counts where that is more than in the training alone, which may have waited for the GPU. Beside workers
    its own processor time is `crowded` times that."""
    dearer = max(1.0, both.body_s() * training.rate)
    training_s = dearer / training.rate
    if not loader["workers"]:
        return 1 / (1 / loader.rate + training_s)
    if not training["copy"]:  # else it is the GPU's time
        training_s = max(training_s, crowded * min(training_s, dearer * training.cpu_s()))
    main = 1 / (training_s + loader.receive_s())
    cpu_s = loader.cpu_s() + crowded * dearer * training.cpu_s()
    return min(loader.rate, main, count / cpu_s if cpu_s > 0 else loader.rate)


def probe(runner, wanted):
    count = processors()
    notes = note_of_others(count)
    both = runner.run(Trial("both"))
    runner.target = both["target"]
    loader = runner.run(Trial("loader"), recorded=True)
    training = runner.run(Trial("training"))
    tried, failed = [loader], []
    for workers in worker_counts(wanted, count):
        if workers == loader["workers"]:
            continue
        try:
            tried.append(runner.run(Trial("loader", workers=workers)))
        except TrialFailed as problem:
            failed.append({"setting": "workers %d" % workers, "why": str(problem)})

    def predict(trial):
        return predicted_rate(trial, both, training, attainable(tried, count), crowding(trial, tried))

    # Where training is the limit, rates that differ do so by chance.
    near = [loader] if is_ahead(loader, training) else choose(tried, predict)
    best = near[0]
    if not is_ahead(loader, training) and best["workers"] and predict(best) < training.rate * (1 - SAME):
        try:
            deeper = runner.run(Trial("loader", workers=best["workers"], prefetch=2 * (best["prefetch"] or 2)))
            tried.append(deeper)
            if predict(deeper) > predict(best) * (1 + SAME):
                near = [deeper] + near[1:]
        except TrialFailed as problem:
            failed.append({"setting": "prefetch %d" % (2 * (best["prefetch"] or 2)), "why": str(problem)})
    checked = []  # (the loader's trial that promised it, the run with the training)

    def check(promising, **more):
        changes = dict(promising.changes, **more)
        if changes:
            try:
                checked.append((promising, runner.run(Trial("both", **changes))))
            except TrialFailed as problem:
                failed.append({"setting": str(changes), "why": str(problem)})

    for promising in near:
        check(promising)
    if both["cuda"] and not both["pin"]:
        check(fastest(near, checked)[0], pin=True)
    return report_of(both, loader, training, tried, near, checked, failed, predict, count, notes)


def is_ahead(loader, training):
    """Whether workers make samples so fast that the training need not wait."""
    return bool(loader["workers"]) and loader.rate >= training.rate * ENOUGH


def choose(tried, predict):
    """What is worth a run with the training: of those that may be the fastest, as far as predictions tell, the one with
    the fewest workers, and the one that promises most if that is another. The program as it is where nothing
    promises more."""
    most = max(predict(trial) for trial in tried)
    if any(not trial.changes and predict(trial) >= most * (1 - SAME) for trial in tried):
        return [trial for trial in tried if not trial.changes]
    near = sorted((trial for trial in tried if predict(trial) >= most * (1 - DOUBT)),
                  key=lambda trial: trial["workers"])
    return [near[0]] + [trial for trial in near[1:] if predict(trial) == most][:1]


def fastest(near, checked):
    """(the loader's trial, its run with the training) of the setting that gave most; of those alike the first, which has
    the fewest workers. (what promised most, None) where none was run."""
    if not checked:
        return near[0], None
    most = max(run.rate for _, run in checked)
    return next(pair for pair in checked if pair[1].rate >= most * (1 - SAME))


# --- what they mean ---

def parts_of(loader):
    """Seconds of one worker for a sample: read, decode, collate, send; what was not measured is None."""
    items, collate, send = (loader.part_s(name) for name in ("items_s", "collate_s", "send_s"))
    waiting = max(0.0, items - loader.part_s("items_cpu_s"))
    read = None
    if loader.recording_files is not None:
        seconds, _ = reads_of(loader.recording_files)
        read = min(items, seconds / max(1, loader["batches"] * loader["batch_size"]))
    return {"read": read, "decode": items - (read or 0.0), "collate": collate,
            "send": send if loader["workers"] else None, "waiting": waiting}


def limit_of(both, loader, training, parts):
    """(storage, decode, collate, transfer, copy, training or none; a sentence)"""
    if is_ahead(loader, training) or (
            not loader["workers"] and loader.rate > 10 * training.rate):
        moved = training["copy"]
        if moved and moved["pageable_s"] > 0.2 * training.batch_s and not both["pin"]:
            return "copy", ("copying a batch to the GPU takes %s of the %s of a step; pinned memory makes it %s"
                            % (_ms(moved["pageable_s"]), _ms(training.batch_s), _ms(moved["pinned_s"])))
        return "training", "the loader alone gives %.1f times what training takes" % (loader.rate / training.rate)
    inside = {"storage": parts["read"] or 0.0, "decode": parts["decode"], "collate": parts["collate"],
              "transfer": parts["send"] or 0.0}
    name = max(inside, key=lambda key: inside[key])
    total = sum(inside.values()) or 1.0
    busy = loader["main_cpu_s"] / loader["cpu_wall_s"] if loader["workers"] and loader["cpu_wall_s"] else 0
    if name != "transfer" and busy > 0.8:
        return "transfer", "the main process is busy %.0f %% of the time with taking batches from its workers" % (
            100 * busy)
    sentence = {
        "storage": "reading takes %.0f %% of a worker's time",
        "decode": "making samples from what was read takes %.0f %% of a worker's time",
        "collate": "putting samples together to batches takes %.0f %% of a worker's time",
        "transfer": "sending batches to the main process takes %.0f %% of a worker's time"}[name]
    if name == "decode" and parts["waiting"] > 0.5 * parts["decode"] and loader["workers"]:
        sentence += ", of which it waited %.0f %%: for storage that is mapped (mmap), a lock or a processor" % (
            100 * parts["waiting"] / parts["decode"])
        sentence = sentence.replace("%:", "%%:")
    sentence = sentence % (100 * inside[name] / total)
    if not loader["workers"]:
        sentence = "without workers, loading and training take turns; " + sentence.replace(
            "a worker's time", "the loader's time")
    return name, sentence


ADVICE = {
    "storage": "Keep the data in memory or on faster storage (`batchlight probe storage` measures it), read "
               "fewer and larger files, or let more workers wait at once.",
    "decode": "More workers, cheaper decoding (smaller or preprocessed samples), or decoding on the GPU (DALI).",
    "collate": "Let the data set return whole batches (__getitems__, a batched sampler), or a cheaper collate_fn.",
    "transfer": "Send less: smaller types, no copies in Python objects (return tensors), fewer larger batches.",
    "copy": "pin_memory=True, and .to(device, non_blocking=True).",
    "training": "The loader is not what a step waits for; `batchlight profile` shows what is.",
}


def setting_of(trial):
    return {"num_workers": trial["workers"], "prefetch_factor": trial["prefetch"], "pin_memory": trial["pin"]}


def row_of(trial, predict=None):
    row = dict(mode=trial.mode, setting=trial.text(), samples_per_s=trial.rate, batches=trial["measured"],
               cpu_s_per_sample=trial.cpu_s(), **setting_of(trial))
    if predict:
        row["predicted_both_samples_per_s"] = predict(trial)
    return row


def report_of(both, loader, training, tried, near, checked, failed, predict, count, notes):
    parts = parts_of(loader)
    name, why = limit_of(both, loader, training, parts)
    best, confirmed = fastest(near, checked)
    prediction = predict(best)
    report = {
        "both": row_of(both), "loader": row_of(loader, predict), "training": row_of(training),
        "batch_size": both["batch_size"], "dataset": both["dataset"], "processors": count,
        "epoch_start_s": max(both["starts"] or [0.0]),
        "worker_s_per_sample": {key: value for key, value in parts.items() if value is not None},
        "copy": training["copy"], "settings": [row_of(trial, predict) for trial in tried],
        "limit": name, "why": why, "advice": ADVICE[name], "failed": failed,
        "with_training": [row_of(ran) for _, ran in checked],
        "best": dict(setting_of(best), predicted_samples_per_s=prediction,
                     predicted_gain=prediction / both.rate if both.rate else None),
        "notes": list(notes),
    }
    if confirmed is not None:
        report["best"].update(setting_of(confirmed), measured_samples_per_s=confirmed.rate,
                              measured_gain=confirmed.rate / both.rate)
    ran = next((ran for trial, ran in checked if trial is best), both)  # without what was tried besides
    report["best"]["prediction_error"] = prediction / ran.rate - 1
    if both["no_backward"]:
        report["notes"].append("No backward was seen: this is the loop with the DataLoader that was iterated last.")
    if both["ended"]:
        report["notes"].append("The program ended by itself after %d batches: the figures are of few."
                               % both["batches"])
    if both["iterable"]:
        report["notes"].append("The data set is iterable: make sure that each worker yields its own part of it, "
                               "or more workers repeat samples.")
    return report


# --- as text ---

def _ms(seconds):
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor or unit == "µs":
            return "%.3g %s" % (seconds / factor, unit)
    return ""


def _rate(row):
    return "%9s samples/s" % format(row["samples_per_s"], ",.0f" if row["samples_per_s"] >= 100 else ".1f")


def text_of(report):
    lines = ["Samples a second (%s, batches of %s, %g processors)" % (
        report["dataset"], report["batch_size"], report["processors"])]
    for key, name in (("both", "as it is"), ("loader", "loader alone"), ("training", "training alone")):
        row = report[key]
        lines.append("  %-16s%s   %s" % (name, _rate(row), "num_workers=%d" % row["num_workers"]
                                         if key != "training" else "one batch, again and again"))
    lines += ["", "Limit: %s. %s" % (report["limit"], report["why"][0].upper() + report["why"][1:] + ".")]
    parts = report["worker_s_per_sample"]
    total = sum(value for key, value in parts.items() if key != "waiting")
    if total > 0:
        lines += ["", "A worker, for each sample (%s in all)" % _ms(total)]
        for key, name in (("read", "read"), ("decode", "decode"), ("collate", "collate"), ("send", "send")):
            if key in parts:
                lines.append("  %-16s%10s  %5.1f %%" % (name, _ms(parts[key]), 100 * parts[key] / total))
    lines += ["", "Loader alone, by setting                        alone    predicted with training"]
    for row in sorted(report["settings"], key=lambda row: (row["num_workers"], row["prefetch_factor"] or 0)):
        setting = "num_workers=%d" % row["num_workers"]
        if row["prefetch_factor"]:
            setting += ", prefetch_factor=%d" % row["prefetch_factor"]
        lines.append("  %-36s%s %s" % (setting, _rate(row), _rate({"samples_per_s": row[
            "predicted_both_samples_per_s"]})))
    for row in report["with_training"]:
        lines.append("  %-36s%s" % ("with training, num_workers=%d%s" % (
            row["num_workers"], ", pin_memory" if row["pin_memory"] else ""), _rate(row)))
    best = report["best"]
    setting = ", ".join("%s=%s" % (key, best[key]) for key in ("num_workers", "prefetch_factor", "pin_memory")
                        if best[key] is not None)
    lines.append("")
    if "measured_samples_per_s" in best and best["measured_gain"] > 1 + SAME:
        lines.append("Best: %s: %.2f times as fast, measured (%.2f predicted)." % (
            setting, best["measured_gain"], best["predicted_gain"]))
    elif "measured_samples_per_s" in best:
        lines.append("Best: as it is. %s was tried with the training and gave %.2f times its speed." % (
            setting, best["measured_gain"]))
    else:
        lines.append("Best: as it is. No other setting of the loader promises more.")
    lines.append(report["advice"])
    for row in report["failed"]:
        lines.append("Note: %s did not run: %s" % (row["setting"], row["why"].splitlines()[0]))
    lines += ["Note: " + note for note in report["notes"]]
    return "\n".join(lines) + "\n"
