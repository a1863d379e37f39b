"""--dask=functions-trace: NVTX ranges of domain Dask around what a job of Dask is made of: the tasks of
its workers, each named by its key's first part as Dask's own dashboard does ("inc" of "inc-8f3a..."),
the scheduler's decisions, transfers between workers, what the client asks for.

Functions that a version of Dask does not have are left out. Nothing of Dask is imported here.
"""
import sys

import _batchlight_native as _native

from ._functions_trace import wrap_function
from ._imports import attempt, when_imported
from ._standard import standard

_FEATURE = "dask"
_DOMAIN = "Dask"
_TASK = {"domain": _DOMAIN, "category": "task", "color": "green"}
_SCHEDULER = {"domain": _DOMAIN, "category": "scheduler", "color": "orange"}
_TRANSFER = {"domain": _DOMAIN, "category": "transfer", "color": "blue"}
_CLIENT = {"domain": _DOMAIN, "category": "client", "color": "purple"}

_TASKS = {  # functions that run a task: of dask, of distributed up to 2024, and since
    "dask.local": ("execute_task",),
    "distributed.worker": (
        "apply_function", "apply_function_async", "_run_task", "_run_task_async"),
}
_FUNCTIONS = {
    "dask.base": (_CLIENT, ("compute", "persist", "optimize")),
    "dask.threaded": (_SCHEDULER, ("get",)),
    "dask.multiprocessing": (_SCHEDULER, ("get",)),
    "distributed.client": (_CLIENT, (
        "Client.submit", "Client.map", "Client.compute", "Client.persist", "Client.gather",
        "Client.scatter")),
    "distributed.scheduler": (_SCHEDULER, (
        "Scheduler.update_graph", "Scheduler.update_graph_hlg", "Scheduler.transitions",
        "Scheduler.handle_task_finished", "Scheduler.handle_task_erred", "Scheduler.gather",
        "Scheduler.scatter")),
    "distributed.worker": (_TRANSFER, (
        "Worker.gather_dep", "Worker.get_data", "get_data_from_worker")),
}
_THREADS = {  # coroutines that a process of the job starts with -> what its thread is
    "distributed.scheduler": ("Scheduler.start_unsafe", "Dask Scheduler"),
    "distributed.worker": ("Worker.start_unsafe", "Dask Worker"),
    "distributed.nanny": ("Nanny.start_unsafe", "Dask Nanny"),
}


def install():
    for name in sorted(set(_TASKS) | set(_FUNCTIONS) | set(_THREADS)):
        when_imported(name, _FEATURE, _wrap)


def _wrap(module):
    name = module.__name__
    options, functions = _FUNCTIONS.get(name, ({}, ()))
    for function in functions:
        if _find(module, function) is not None:
            attempt(_FEATURE, wrap_function, module, function, dict(options, module=name))
    for function in _TASKS.get(name, ()):
        run = _find(module, function)
        if run is not None:
            attempt(_FEATURE, lambda: setattr(module, function, _task(run)))
    if name in _THREADS:
        path, thread = _THREADS[name]
        start = _find(module, path)
        if start is not None:
            setattr(getattr(module, path.partition(".")[0]), path.partition(".")[2],
                    _naming(start, thread))


def _find(module, path):
    for name in path.split("."):
        module = getattr(module, name, None)
    return module


def _naming(start, thread):
    async def named(*args, **kwargs):
        _native.name_thread(thread)
        return await start(*args, **kwargs)
    return standard("functools").wraps(start)(named)


def _task(run):
    """Around a function that runs a task."""
    from .._recorded import end_range, pop_range, push_range, start_range
    code = run.__code__
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    place = names.index("key") if "key" in names else None

    def name_of(args, kwargs):
        if place is not None:
            return _key_name(args[place] if place < len(args) else kwargs.get("key"))
        what = args[0] if args else None  # a task with its key, or the function that is called
        key = getattr(what, "key", None)
        return _key_name(key) if key is not None else getattr(what, "__name__", "task")

    if code.co_flags & 0x80:  # a coroutine function
        async def traced(*args, **kwargs):
            task = start_range(name_of(args, kwargs), **_TASK)
            try:
                return await run(*args, **kwargs)
            finally:
                end_range(task)
    else:
        def traced(*args, **kwargs):
            push_range(name_of(args, kwargs), **_TASK)
            try:
                return run(*args, **kwargs)
            finally:
                pop_range(_DOMAIN)
    return standard("functools").wraps(run)(traced)


def _key_name(key):
    """As Dask's key_split, in which both versions of keys (texts, tuples) have their rules."""
    utils = sys.modules.get("dask.utils")
    split = getattr(utils, "key_split", None)
    name = split(key) if split is not None else key
    return name if isinstance(name, str) else str(name)
