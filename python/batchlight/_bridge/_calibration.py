"""How much longer a module's call, a phase and an operator take when recorded, timed in the program itself
before it begins, for the estimate in reports (properties cost.*). Some 300 us; nothing of it is in
the recording but the result, and nothing is measured while nothing is recorded."""
import time

import _batchlight_native as _native

_BATCHES, _CALLS = 20, 10  # short ones: on a busy machine some go undisturbed


class _OneName:
    """Stands in for the names of modules (_torch_modules.ModuleNames)."""

    def __init__(self, module):
        self.known = {id(module): ("calibration", "Calibration", None)}

    def give(self, module):
        return self.known[id(module)]


def _forward(self, calls=None):
    return calls() if calls is not None else self


def _fastest_ns(call, argument):
    """Of one call, in the batch that nothing interrupted."""
    best = None
    for _ in range(_BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(_CALLS):
            call(argument)
        spent = time.perf_counter_ns() - begin
        best = spent if best is None else min(best, spent)
    return best / _CALLS


def _say(what, ns):
    if ns > 0:
        _native.property("cost.%s_ns" % what, "%.1f" % ns)


def say_module_cost(module_call):
    """Of a module that another one calls."""
    class Module:
        __call__ = _forward

    module = Module()
    alone = _fastest_ns(module, None)
    Module.__call__ = module_call(_forward, _OneName(module))
    if _native.measure_begin():
        try:
            with_records = module(lambda: _fastest_ns(module, None))
        finally:
            _native.measure_end()
        _say("module", with_records - alone)


def say_phase_cost(phase):
    def nothing(_):
        pass

    recorded = phase(nothing, 0, "calibration")
    if _native.measure_begin():
        try:
            with_records = _fastest_ns(recorded, None)
        finally:
            _native.measure_end()
        _say("phase", with_records - _fastest_ns(nothing, None))


def operator_time(torch):
    """(ns of an operator and what it calls, records written meanwhile), or None."""
    tensor = torch.empty(0)
    if not _native.measure_begin():
        return None
    try:
        spent = _fastest_ns(torch.Tensor.detach, tensor)
    finally:
        records = _native.measure_end()
    return spent, records


def say_operator_cost(torch, before=None):
    """`before`: operator_time() before the operator recorder started, if it could be had."""
    after = operator_time(torch) if before else None
    if after and after[1]:
        operators = after[1] / (2.0 * _BATCHES * _CALLS)  # each begins and ends
        _say("operator", (after[0] - before[0]) / operators)
