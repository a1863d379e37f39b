"""Runs inside a Python program under `batchlight profile`, before its first line.

libbatchlight_inject.so calls install(). From then on the bridge only waits: it imports nothing that
the program does not import, and when the program imports PyTorch, it wraps what a training loop is
made of. Whatever fails here turns one feature off and leaves a reason in the recording; the program
must not notice.
"""
import sys

import _batchlight_native as _native

from . import _imports, _offer

# Bits of the control page (src/format/control.h).
TRACE_NVTX, TRACE_MODULES, TRACE_OPERATORS = 1, 1 << 2, 1 << 3
TRACE_SHAPES, TRACE_CUDA, TRACE_PHASES = 1 << 4, 1 << 5, 1 << 7
TRACE_LINES, TRACE_CALL_STACKS, TRACE_PYTHON_SAMPLES = 1 << 8, 1 << 9, 1 << 10
TRACE_MEMORY = 1 << 14


def install(foreign=False):
    """Called once, by the injected library. `foreign`: no bytecode of ours is to be written."""
    _imports.foreign = foreign
    _offer.install()
    _imports.attempt("signals", _leave_signals)
    options = _native.options()
    trace = options["trace"]
    free_threaded = "free-threading" in sys.version
    _native.property(
        "python.version", sys.version.split()[0] + (" free-threaded" if free_threaded else ""))
    if free_threaded and not sys._is_gil_enabled():  # an extension may bring it back
        _native.property("python.gil", "none")
    _native.property("python.implementation", sys.implementation.name)
    _native.property("python.executable", sys.executable or "")
    in_process = trace & (TRACE_LINES | TRACE_CALL_STACKS | TRACE_MEMORY)
    if in_process or trace & TRACE_PYTHON_SAMPLES:
        from . import _stacks
        _imports.attempt("python-lines", _stacks.install, in_process, trace & TRACE_PYTHON_SAMPLES)
    if trace & TRACE_MEMORY:
        _imports.attempt("python-memory", _native.watch_memory)
    with_phases = trace & (TRACE_MODULES | TRACE_PHASES)
    _imports.when_imported(
        "threading", "python", lambda threading: _threading_imported(threading, with_phases))
    if options["functions_trace"]:
        _imports.attempt("functions-trace", _trace_functions, options["functions_trace"])
    if _settings(options["extra"], "dask."):
        from . import _dask
        _imports.attempt("dask", _dask.install)
    if trace & TRACE_CUDA:
        _imports.when_imported("torch.autograd.profiler", "torch.profiler", _torch_profiler_imported)
    if trace & (TRACE_MODULES | TRACE_OPERATORS | TRACE_PHASES):
        _imports.when_imported("torch", "pytorch", lambda torch: _torch_imported(torch, options))
    else:
        _imports.when_imported("torch", "pytorch", lambda torch: _record_torch_nvtx())
    os = sys.modules.get("os")  # site imports it, before us
    trial = os.environ.get("BATCHLIGHT_PROBE_LOADER") if os else None
    if trial:
        from . import _probe_loader
        _imports.attempt("probe", _probe_loader.install, trial)
    if with_phases:
        from . import _life
        _imports.attempt("imports", _life.record_imports)
        _life.python_starts()  # from here on it is the program's time
    exact = _settings(options["extra"], "python.")
    if exact:
        from . import _exact
        _imports.attempt("python-trace", _exact.install, exact)


def _leave_signals():
    """Python notes at its start which signals have handlers of somebody else: signal.getsignal() is None
    for these, which signal.signal() does not take back. Ours is for files of ours alone (SIGBUS), so the
    program is told what it would be told without us."""
    signal = sys.modules.get("_signal")
    if signal is None or signal.getsignal(signal.SIGBUS) is not None or not _native.leave_bus_errors():
        return
    try:
        signal.signal(signal.SIGBUS, signal.SIG_DFL)
    finally:
        _native.take_bus_errors()


def _settings(lines, prefix):
    pairs = (line.partition("=") for line in lines.splitlines() if line.startswith(prefix))
    return {key: value for key, _, value in pairs}


def _threading_imported(threading, with_phases):
    from . import _thread_names
    _thread_names.install(threading)
    if with_phases:
        from . import _life
        _life.watch_main_end(threading)


def _torch_profiler_imported(module):
    from . import _torch_profiler
    _torch_profiler.install(module)


def _trace_functions(path):
    from . import _functions_trace
    _functions_trace.install(path)


def _record_torch_nvtx():
    from . import _torch_nvtx
    _imports.when_imported("torch.cuda.nvtx", "nvtx", _torch_nvtx.install)


def _record_collections():
    import gc  # PyTorch has it too
    gc.callbacks.append(_native.collected)


def _torch_imported(torch, options):
    trace = options["trace"]
    _native.property("torch.version", str(torch.__version__))
    _native.property("torch.cuda_version", str(torch.version.cuda or "none"))
    _record_torch_nvtx()
    if trace & (TRACE_MODULES | TRACE_PHASES):
        _imports.attempt("garbage-collection", _record_collections)
    if trace & TRACE_MODULES:
        from . import (
            _call_sites, _importlib_bootstrap, _torch_compilation, _torch_experts, _torch_given, _torch_holders,
            _torch_modules, _torch_owners, _torch_padding, _torch_progress, _torch_repeats, _torch_settings,
            _torch_training, _torch_unseen, _torch_updates, _torch_zeros)
        from .. import _recorded
        _imports.attempt(
            "torch.compile", _importlib_bootstrap.leave_to_dynamo, _call_sites, _importlib_bootstrap, _imports,
            _recorded, _torch_compilation, _torch_experts, _torch_given, _torch_holders, _torch_modules,
            _torch_owners, _torch_padding, _torch_progress, _torch_repeats, _torch_settings, _torch_training,
            _torch_unseen, _torch_updates, _torch_zeros)
        _imports.attempt("libraries", _call_sites.say_libraries)
        _imports.attempt("settings", _torch_settings.install, torch)
        _imports.attempt("modules", _torch_modules.install, torch)
        _imports.attempt("training", _torch_training.install, torch)
    elif trace & TRACE_PHASES:  # where steps end, and nothing else: --measure-overhead
        from . import (
            _call_sites, _importlib_bootstrap, _torch_compilation, _torch_padding, _torch_progress, _torch_settings,
            _torch_training, _torch_unseen)
        _imports.attempt(
            "torch.compile", _importlib_bootstrap.leave_to_dynamo, _call_sites, _importlib_bootstrap, _imports,
            _torch_compilation, _torch_padding, _torch_progress, _torch_settings, _torch_training,
            _torch_unseen)
        _imports.attempt("training", _torch_training.install, torch)
    if trace & TRACE_OPERATORS:
        from . import _torch_operators
        _imports.attempt(
            "torch_ops", _torch_operators.install, torch, bool(trace & TRACE_SHAPES),
            bool(trace & TRACE_NVTX))
    if trace & TRACE_CUDA and _settings(options["extra"], "cuda.").get("cuda.memory_usage") == "1":
        from . import _torch_memory
        _imports.attempt("gpu-memory", _torch_memory.install, torch)
