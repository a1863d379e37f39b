"""A program with what nn.Module.__call__ is under the bridge: a function whose calls do not come to its bytecode.
python_hook_test.py runs it."""
import sys, threading, traceback
import _batchlight_native as native

names, watching, looking, by_bytecode, gradients = {}, [], [], [], [True]
enter, leave = native.module_enter_by(names), native.module_leave

class Module:
    def __init__(self, name, forward):
        self.training, self.forward = True, forward
        if name:
            names[id(self)] = (name, "Module", None)

def forward(self, *args, **kwargs):
    return self.forward(*args, **kwargs)

def wrapper(self, *args, **kwargs):
    by_bytecode.append(self)
    how = enter(self)
    if type(how) is int:
        native.module_named("unnamed", "Module")
    try:
        return forward(self, *args, **kwargs)
    finally:
        leave()

def grad():
    return gradients[0]

Module.__call__ = wrapper
assert native.module_calls_by(wrapper, forward, names, watching, looking, grad, sys.getprofile) is True

def callers():
    frame, found = sys._getframe(1), []
    while frame is not None:
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found

def give(*args, **kwargs):
    assert "wrapper" not in callers(), callers()
    return args, kwargs

def fail(error):
    raise error

inner, failing, other = Module("inner", give), Module("failing", fail), Module(None, give)
outer = Module("outer", lambda *args, **kwargs: (inner(*args, **kwargs), inner()))

def many():
    for i in range(20):
        assert outer(i, b=2) == (((i,), {"b": 2}), ((), {}))

threads = [threading.Thread(target=many) for _ in range(3)]
for thread in threads:
    thread.start()
many()
for thread in threads:
    thread.join()
assert by_bytecode == []

around = Module("around", lambda: failing(KeyError("here")))
try:
    around()
except KeyError as error:
    stack = [entry.name for entry in traceback.extract_tb(error.__traceback__)]
    assert stack == ["<module>", "forward", "<lambda>", "forward", "fail"], stack
assert Module("catches", lambda: inner("after"))() == (("after",), {})

class TraceContext:  # as PyTorch's profiler, which knows modules by the wrapper's frames
    def __call__(self, *_):
        pass

class Profiler(TraceContext):
    pass

give = lambda *args, **kwargs: (args, kwargs)
inner.forward = give
for tool, seen in ((Profiler, []), (TraceContext, [outer, inner, inner]), (Profiler, [])):
    sys.setprofile(tool())
    outer()
    sys.setprofile(None)
    assert by_bytecode == seen, by_bytecode
    del by_bytecode[:]
outer()
assert by_bytecode == []

inner.forward = other.forward = give
outer.training = False
outer()
assert by_bytecode == [outer]
outer.training, gradients[0] = True, False
outer()
assert by_bytecode == [outer] * 2
gradients[0] = True
looking.append(1); outer(); looking.clear()
assert by_bytecode == [outer] * 3
Module("holds", lambda: other(1, c=3))()
assert by_bytecode == [outer] * 3 + [other]
names.pop(id(inner))
watching.append(1); del by_bytecode[:]; Module("watched", lambda: 1)(); watching.clear()
assert len(by_bytecode) == 1
print("done")
