"""What `batchlight probe loader` changes in the program, and measures there.

The variable BATCHLIGHT_PROBE_LOADER names a file that describes the trial (batchlight/_probe_loader.py
writes it). The loop of the program stays as it is; what it iterates changes:

  both      the loader as it is, perhaps with other workers, prefetch or pinning
  loader    the loader alone: when the loop asks for its iterator, the batches are fetched and dropped
            right there, so that no line of the loop's body runs, whatever the loop is
  training  the loader's first batch, again and again

The training loop is the one during whose iteration a backward runs. When the trial has seen enough, its
result is written and the process ends at once: nothing of the program runs after its loop.
"""
import atexit
import os
import sys
import time

from ._imports import attempt, when_imported
from ._standard import standard
from ._steady_rate import SteadyRate

VARIABLE = "BATCHLIGHT_PROBE_LOADER"
_PARTS = standard("struct").Struct("7d")  # batches, items_s, collate_s, send_s, send_bytes, cpu_s, items_cpu_s
BEGAN = "began"  # a file that says that the start is over
PART_NAMES = ("batches", "items_s", "collate_s", "send_s", "send_bytes", "cpu_s", "items_cpu_s")


def install(path):
    with open(path) as file:
        trial = _Trial(standard("json").load(file))
    when_imported("torch.autograd", "probe", trial.watch_backward)
    when_imported("torch.utils.data.dataloader", "probe", trial.watch_loaders)
    atexit.register(trial.at_exit)


class Parts:
    """Seconds of one worker by what it did, in a file that the main process reads meanwhile."""

    def __init__(self, folder):
        self.sums = [0.0] * len(PART_NAMES)
        with open(os.path.join(folder, "parts-%d" % os.getpid()), "wb+") as file:
            file.truncate(_PARTS.size)
            self._map = standard("mmap").mmap(file.fileno(), _PARTS.size)

    def add(self, **parts):
        for name, value in parts.items():
            self.sums[PART_NAMES.index(name)] += value
        self.sums[5] = time.process_time()
        _PARTS.pack_into(self._map, 0, *self.sums)

    @staticmethod
    def of_all(folder):
        """The sums over all workers that there are or were."""
        total = [0.0] * len(PART_NAMES)
        for name in os.listdir(folder):
            if name.startswith("parts-"):
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()
                if len(data) == _PARTS.size:
                    total = [a + b for a, b in zip(total, _PARTS.unpack(data))]
        return total


def _count_of(batch):
    """Samples of a batch: the length of its first tensor or array; None: none was found."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    values = batch.values() if hasattr(batch, "values") and callable(batch.values) else batch
    if isinstance(batch, (str, bytes)) or not hasattr(values, "__iter__"):
        return None
    for value in values:
        found = _count_of(value)
        if found is not None:
            return found
    return None


def again(batch):
    """The batch in containers of its own, as loops take things out of them."""
    if isinstance(batch, tuple):
        parts = [again(part) for part in batch]
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    if isinstance(batch, list):
        return [again(part) for part in batch]
    if hasattr(batch, "keys") and hasattr(batch, "__setitem__"):
        other = standard("copy").copy(batch)
        for key in list(batch.keys()):
            other[key] = again(batch[key])
        return other
    return batch


class _Iteration:
    """One iterator of a loader on its way through the program's loop."""

    def __init__(self, trial, loader, number, asked, batches):
        self._trial, self._loader, self._number, self._batches = trial, loader, number, batches
        self._asked, self._backwards = asked, trial.backwards

    def __iter__(self):
        return self

    def __next__(self):
        trial = self._trial
        if trial.backwards > self._backwards:
            trial.found_training(self._loader, self._number)
        begin = time.perf_counter()
        try:
            batch = next(self._batches)
        except StopIteration:
            trial.ended(self._loader, begin)
            raise
        trial.delivered(self._loader, self._number, self._asked, begin, batch)
        self._asked = None
        self._backwards = trial.backwards
        return batch

    next = __next__

    def __len__(self):
        return len(self._batches)

    def __getattr__(self, name):
        return getattr(self._batches, name)


class _Trial:
    def __init__(self, plan):
        self.plan = plan
        self.backwards = 0
        self.loaders = 0        # iterators made so far, of all loaders
        self.target = None      # the dataset of the training loader
        self.watched = None     # the dataset that is iterated while no backward was seen
        self.result = {"mode": plan["mode"], "batches": 0}
        self._torch = None
        self._has_begun = False  # a loader gave a batch
        self._reset()

    def _reset(self):
        self.batches = 0
        self.steady = SteadyRate(self._used, self._synchronize)
        self.began = None  # when the first batch came
        self.starts = []   # seconds until the first batch of each epoch
        self._per_batch = self._loader = None

    # --- where to look ---

    def watch_backward(self, module):
        self._torch = sys.modules["torch"]
        run = module.backward

        def backward(*args, **kwargs):
            self.backwards += 1
            return run(*args, **kwargs)

        module.backward = backward

    def watch_loaders(self, module):
        make = module.DataLoader.__iter__
        trial = self

        def __iter__(loader):
            return trial.iterate(loader, make)

        module.DataLoader.__iter__ = __iter__
        attempt("probe", self._time_workers, module)

    def _time_workers(self, module):
        """What the fetcher does, in workers and without any."""
        kind, folder = module._DatasetKind, self.plan["folder"]
        make = kind.create_fetcher
        owner = {}  # of a process: forked workers inherit none that fits

        def parts():
            if os.getpid() not in owner:
                owner.clear()
                owner[os.getpid()] = Parts(folder)
            return owner[os.getpid()]

        def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
            mine, spent = parts(), [0.0, 0.0]

            def collate(items):
                begin, cpu = time.perf_counter(), time.thread_time()
                try:
                    return collate_fn(items)
                finally:
                    spent[0] += time.perf_counter() - begin
                    spent[1] += time.thread_time() - cpu

            fetcher = make(kind, dataset, auto_collation, collate, drop_last)
            fetch = fetcher.fetch

            def timed(indices):
                spent[:] = [0.0, 0.0]
                begin, cpu = time.perf_counter(), time.thread_time()
                batch = fetch(indices)
                mine.add(batches=1, collate_s=spent[0],
                         items_s=time.perf_counter() - begin - spent[0],
                         items_cpu_s=time.thread_time() - cpu - spent[1])
                return batch

            fetcher.fetch = timed
            if _in_worker():
                _time_sending(mine)
            return fetcher

        kind.create_fetcher = staticmethod(create_fetcher)

    # --- iterations ---

    def iterate(self, loader, make):
        if self._torch is None or _in_worker():
            return make(loader)
        number = self.loaders
        self.loaders += 1
        wanted = self.plan.get("target")
        asked = time.perf_counter()
        if self.target is None and number == wanted:
            self.found_training(loader, number)
        if not self._is_target(loader):
            if wanted is not None:
                return make(loader)
            return _Iteration(self, loader, number, asked, make(loader))
        self._set_up(loader)
        if self.plan["mode"] == "loader":
            self._drain(loader, number, make)
        batches = make(loader)
        if self.plan["mode"] == "training":
            batches = self._repeat(loader, batches)
        return _Iteration(self, loader, number, asked, batches)

    def _is_target(self, loader):
        return self.target is not None and loader.dataset is self.target

    def _set_up(self, loader):
        workers, prefetch, pin = (self.plan.get(key) for key in ("workers", "prefetch", "pin"))
        if workers is not None and workers != loader.num_workers:
            loader._iterator = None  # of persistent workers
            loader.num_workers = workers
            if workers == 0:
                loader.timeout = 0
                loader.prefetch_factor = None
            elif loader.prefetch_factor is None:
                loader.prefetch_factor = 2
        if prefetch is not None and loader.num_workers > 0:
            loader.prefetch_factor = prefetch
        if pin is not None:
            loader.pin_memory = pin

    def _repeat(self, loader, batches):
        """As many times as the loader has batches, so that an epoch ends where it did."""
        first = next(batches, None)
        if first is None:
            return
        attempt("probe", self._time_copy, first)
        del batches  # its workers end, or wait with full queues
        loader._iterator = None
        length = _length(loader)
        done = 0
        while length is None or done < length:
            done += 1
            yield again(first)

    def _drain(self, loader, number, make):
        while True:
            asked = time.perf_counter()
            count, batches = 0, make(loader)
            while True:
                begin = time.perf_counter()
                try:
                    batch = next(batches)
                except StopIteration:
                    self.ended(loader, begin)
                    break
                count += 1
                self.delivered(loader, number, asked if count == 1 else None, begin, batch)
            if count == 0:
                self.finish(loader, "the training loader gave no batch")

    # --- measuring ---

    def found_training(self, loader, number):
        if self.target is None:
            self.target = loader.dataset
            self.result["target"] = number

    def delivered(self, loader, number, asked, begin, batch):
        now = time.perf_counter()
        if not self._has_begun:
            self._has_begun = True
            open(os.path.join(self.plan["folder"], BEGAN), "w").close()
        if self.target is None:
            if self.watched is not loader.dataset:
                self._reset()
                self.watched = loader.dataset
        elif not self._is_target(loader):
            return
        if self._per_batch is None:
            self._per_batch = _count_of(batch) or getattr(loader, "batch_size", None) or 1
        if asked is not None:
            self.starts.append(now - asked)
        if asked is not None or not self.steady.in_epoch:
            in_turn = 0 if self.plan["mode"] == "training" else loader.num_workers
            self.steady.begin_epoch(in_turn, self._skipped(loader))
        self._loader = loader
        self.steady.batch(_count_of(batch) or self._per_batch, begin, now)
        self.batches += 1
        if self.began is None:
            self.began = now
        self._end_if_enough(loader, number, now)

    def ended(self, loader, now):
        if self.target is None or self._is_target(loader):
            self.steady.end_epoch(now)
        self.result["epoch_ended"] = True

    def _skipped(self, loader):
        """Batches until the rate is steady: those that were fetched before the loop began."""
        ahead = loader.num_workers * (getattr(loader, "prefetch_factor", None) or 2)
        skipped = max(2, ahead + 1 if self.plan["mode"] == "both" else loader.num_workers + 1)
        length = _length(loader)
        return skipped if length is None else min(skipped, length // 2)

    def _end_if_enough(self, loader, number, now):
        spent = now - self.began
        seconds = self.plan["seconds"]
        if self.target is None and self.plan["mode"] == "both":
            # No backward so far: a loop that only computes, or a validation before the training.
            if spent > 3 * seconds and self.batches > 3:
                self.result["no_backward"] = True
                self.found_training(loader, number)
            return
        steady = self.steady
        enough = steady.batches >= self.plan["steps"] or spent >= seconds
        if enough and (steady.is_whole and steady.batches >= 3 or spent >= 3 * seconds):
            self.finish(loader)

    def _used(self):
        """Processor seconds of this process, and what its workers did."""
        return [time.process_time()] + Parts.of_all(self.plan["folder"])

    def _synchronize(self):
        cuda = self._torch.cuda
        if cuda.is_available() and cuda.is_initialized():
            cuda.synchronize()

    def _time_copy(self, batch):
        """What it takes to bring a batch to the GPU, from pageable and from pinned memory."""
        torch = self._torch
        if not (torch.cuda.is_available() and torch.cuda.is_initialized()):
            return
        tensors = []

        def collect(part):
            if isinstance(part, torch.Tensor):
                tensors.append(part)
            elif isinstance(part, (list, tuple)):
                for inner in part:
                    collect(inner)
            elif hasattr(part, "values") and callable(part.values):
                for inner in part.values():
                    collect(inner)

        collect(batch)
        times = {"bytes": sum(t.numel() * t.element_size() for t in tensors)}
        for name, sources in (("pageable_s", [t.clone() for t in tensors]),
                              ("pinned_s", [t.pin_memory() for t in tensors])):
            best = None
            for _ in range(5):
                torch.cuda.synchronize()
                begin = time.perf_counter()
                for source in sources:
                    source.to("cuda", non_blocking=True)
                torch.cuda.synchronize()
                spent = time.perf_counter() - begin
                best = spent if best is None else min(best, spent)
            times[name] = best
        self.result["copy"] = times

    # --- the end ---

    def describe(self, loader, problem=None):
        result, steady = self.result, self.steady
        steady.finish()
        result.update(batches=self.batches, measured=steady.batches, samples=steady.samples,
                      active_s=steady.active_s, wait_s=steady.wait_s, starts=self.starts[:20],
                      batch_size=self._per_batch, workers=loader.num_workers,
                      prefetch=getattr(loader, "prefetch_factor", None) if loader.num_workers else None,
                      pin=bool(loader.pin_memory), length=_length(loader),
                      dataset=type(loader.dataset).__name__, cuda=bool(self._torch.cuda.is_available()),
                      iterable=isinstance(loader.dataset, self._torch.utils.data.IterableDataset),
                      persistent=bool(getattr(loader, "persistent_workers", False)))
        if problem:
            result["problem"] = problem
        if steady.used is not None:
            result["main_cpu_s"] = steady.used[0]
            result["cpu_wall_s"] = steady.used_wall_s
            result["parts"] = dict(zip(PART_NAMES, steady.used[1:]))
        return result

    def at_exit(self):
        """The program ended by itself: what there is, of the loop with a backward or the last one."""
        multiprocessing = sys.modules.get("multiprocessing.process")
        parent = getattr(multiprocessing, "parent_process", lambda: None)()
        if parent is not None or os.path.exists(self.plan["result"]):
            return
        if self._loader is None:
            write_result(self.plan["result"], dict(self.result, ended=True, torch=self._torch is not None,
                                                   loaders=self.loaders))
            return
        self.result.update(ended=True, no_backward=self.target is None)
        write_result(self.plan["result"], self.describe(self._loader))

    def finish(self, loader, problem=None):
        result = self.describe(loader, problem)
        if os.environ.get("RANK", "0") not in ("", "0"):
            time.sleep(3600)  # rank 0 reports; the probe ends us all
        write_result(self.plan["result"], result)
        sys.stdout.flush()
        sys.stderr.flush()
        multiprocessing = sys.modules.get("multiprocessing")
        for child in multiprocessing.active_children() if multiprocessing else ():
            child.kill()
        os._exit(0)


def _in_worker():
    return sys.modules["torch.utils.data"].get_worker_info() is not None


def _length(loader):
    try:
        return len(loader)
    except Exception:  # an IterableDataset without a length
        return None


def write_result(path, result):
    with open(path + ".new", "w") as file:
        standard("json").dump(result, file)
    os.rename(path + ".new", path)


def _time_sending(parts):
    """In a worker: pickling a batch, which moves its tensors into shared memory."""
    queues = sys.modules.get("multiprocessing.queues")
    if queues is None or isinstance(queues._ForkingPickler, _TimedPickler):
        return
    queues._ForkingPickler = _TimedPickler(queues._ForkingPickler, parts)


class _TimedPickler:
    def __init__(self, pickler, parts):
        self._pickler, self._parts = pickler, parts
        self.loads = pickler.loads

    def dumps(self, obj, *rest):
        begin = time.perf_counter()
        data = self._pickler.dumps(obj, *rest)
        self._parts.add(send_s=time.perf_counter() - begin, send_bytes=len(data))
        return data
