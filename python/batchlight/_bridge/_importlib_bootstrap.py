"""Wrapping a function of the program so that it stays the same to everyone who calls it.

The name of this file is deliberate: when the program warns with a `stacklevel`, Python does not
count frames of files that have "importlib" and "_bootstrap" in their name, so the warning keeps
naming the line of the program. Every function that stands between the program and what it calls is
defined here.

An exception passes through with our own frame taken out of its traceback (CPython 3.11 and later;
before, a traceback has one line more for each wrapped call).
"""
import builtins
import sys

import _batchlight_native as _native

from ._standard import standard

functools = standard("functools")
_MARK = "__batchlight_phase__"


def torch_is_compiling():
    """A function that says whether torch.compile or export is looking at the code."""
    torch = sys.modules["torch"]
    compiler = getattr(torch, "compiler", None)
    return (getattr(compiler, "is_compiling", None) or getattr(torch._utils, "is_compiling", None)
            or never)


def never(*_):
    return False


def without_this_frame(error):
    """Takes the frame that caught the exception out of its traceback."""
    BaseException.with_traceback(error, error.__traceback__.tb_next)


def leave_to_dynamo(*modules):
    """torch.compile treats frames of these modules' functions as it treats PyTorch's own: they are
    not compiled, but what they call in the program is. The same goes for functions that they make."""
    dynamo = getattr(getattr(sys.modules["torch"]._C, "_dynamo", None), "eval_frame", None)
    if hasattr(dynamo, "skip_code"):  # PyTorch 2.0 to 2.6
        skip = dynamo.skip_code
    elif hasattr(dynamo, "set_code_exec_strategy"):
        action = dynamo._FrameAction
        strategy = dynamo._FrameExecStrategy(action.SKIP, action.DEFAULT)

        def skip(code):
            dynamo.set_code_exec_strategy(code, strategy)
    else:
        return

    def skip_all(code):
        skip(code)
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                skip_all(constant)

    for module in modules:
        for value in vars(module).values():
            for function in vars(value).values() if isinstance(value, type) else (value,):
                if getattr(function, "__module__", None) == module.__name__:
                    if hasattr(function, "__code__"):
                        skip_all(function.__code__)


_NOTHING = []


def module_call(forward, names, evaluation_begins=never, watching=_NOTHING, looking=_NOTHING, is_grad_enabled=never):
    """nn.Module.__call__, recorded under the module's name. evaluation_begins(module,
    args, kwargs), asked of the outermost call, says whether it began a phase that is to end with it.
    `watching` holds what is told of calls and their results, for a while (_torch_repeats), `looking`
    something as long as evaluation_begins() looks at calls that begin no phase.

    In steps without detail calls pass through. The wrapper stays where it is: to take it away and
    back would be a change of nn.Module that torch.compile, and Python's own caches, must notice.

    Nearly all calls are within another one, of a module that has a name. Python makes no frame for
    these, and none for an outermost one of a model that learns (_native.module_calls_by): what is
    below does the same for them where it is called all the same, and is what torch.compile sees."""
    enter, leave = _native.module_enter_by(names.known), _native.module_leave
    known, passes, phase_end = names.known.get, _native.modules_pass(), _native.phase_end
    is_compiling = _dynamo_is_tracing()
    begins = _rare_begin(names, evaluation_begins)

    @functools.wraps(forward)
    def __call__(self, *args, **kwargs):
        if is_compiling():
            return forward(self, *args, **kwargs)
        evaluates = False
        try:
            how = enter(self)
            if how is not None:
                evaluates = begins(self, args, kwargs, how)
            if watching and not passes[0]:
                for window in watching:  # another thread may have taken it out since
                    call = window.enter(self, args, kwargs, (known(id(self)) or ("",))[0])
                    result = forward(self, *args, **kwargs)
                    if call is not None:
                        window.leave(call, result)
                    return result
            return forward(self, *args, **kwargs)
        except BaseException as error:
            without_this_frame(error)
            raise
        finally:
            if evaluates:
                phase_end()
            leave()

    names.call_codes = __call__.__code__, _code_of_method(forward)
    if names.call_codes[1] is not None:
        _native.module_calls_by(
            __call__, forward, names.known, watching, looking, is_grad_enabled, sys.getprofile)
    return __call__


def _code_of_method(function):
    """Of a function of Python's whose first argument is `self`; None of any other."""
    if type(function) is not type(never):
        return None
    code = function.__code__
    return code if code.co_argcount and code.co_varnames[0] == "self" else None


def _rare_begin(names, evaluation_begins):
    """What begins a module's call that has no name yet, or is the outermost one; `how` is what
    module_enter() said. It says what evaluation_begins() did. No frame of it is around the call:
    that would take of the program's room for recursion."""
    give, named, is_compiling = names.give, _native.module_named, torch_is_compiling()

    def begins(self, args, kwargs, how):
        if type(how) is not bool:
            path, class_name, _ = give(self)
            how = named(path, class_name)
        return how is not None and not is_compiling() and evaluation_begins(self, args, kwargs)

    return begins


def _dynamo_is_tracing():
    """A function that torch.compile takes for True in what it traces. Newer versions have one that
    asks nothing, for half the time."""
    compiler = getattr(sys.modules["torch"], "compiler", None)
    if hasattr(compiler, "is_exporting"):
        return compiler.is_dynamo_compiling
    return torch_is_compiling()


class _Ours:
    """What a wrapper knows of us. Picklers that take functions to pieces (cloudpickle those of the script's classes,
    dill those of PyTorch's optimizers too) write None in its place, so that what they wrote can be read where there
    is no batchlight."""

    __slots__ = ()

    def __reduce__(self):
        return type(None), ()


class _Recording(_Ours):
    """`state`: its first byte is odd while phases of this kind are recorded, or followed where nothing is. torch.compile
    cannot look into it: skip() is asked first."""
    __slots__ = ("begin", "end", "state", "kind", "name", "skip")

    def __init__(self, kind, name, skip):
        self.begin, self.end, self.state = _native.phase_begin, _native.phase_end, _native.phases_state(kind)
        self.kind, self.name, self.skip = kind, name, skip or torch_is_compiling()


class _Following(_Ours):
    __slots__ = ("before", "after", "skip")

    def __init__(self, before, after, skip):
        self.before, self.after, self.skip = before, after, skip


def _wraps(function):
    """functools.wraps for a wrapper that may be pickled: dill writes all names that a function could use, those of
    the module that it was made in, so it gets none but the builtins: Python's own, which are written by their name."""
    def make(call):
        names = {"__name__": getattr(function, "__module__", None), "__builtins__": vars(builtins)}
        return functools.wraps(function)(type(call)(call.__code__, names, call.__name__, None, call.__closure__))

    return make


def phase(function, kind, name, skip=None):
    """The function, recorded as a phase of the training loop (numbers of phases.def).

    `name` is a string, or a function of the first argument. No phase where skip() says so.

    Names that the wrappers use are builtins or `function` and `here`: they may be pickled (_Ours).
    """
    here = _Recording(kind, name, skip)

    if callable(name):
        @_wraps(function)
        def call(*args, **kwargs):
            if not args or here is None or here.skip() or not here.state[0] & 1:
                try:
                    return function(*args, **kwargs)
                except BaseException as error:
                    BaseException.with_traceback(error, error.__traceback__.tb_next)
                    raise
            name = here.name(args[0])
            try:  # begins inside: a signal's handler may raise as soon as a call returns
                here.begin(here.kind, name)
                return function(*args, **kwargs)
            except BaseException as error:
                BaseException.with_traceback(error, error.__traceback__.tb_next)
                raise
            finally:
                here.end()
    else:
        @_wraps(function)
        def call(*args, **kwargs):
            if here is None or here.skip() or not here.state[0] & 1:
                try:
                    return function(*args, **kwargs)
                except BaseException as error:
                    BaseException.with_traceback(error, error.__traceback__.tb_next)
                    raise
            try:
                here.begin(here.kind, here.name)
                return function(*args, **kwargs)
            except BaseException as error:
                BaseException.with_traceback(error, error.__traceback__.tb_next)
                raise
            finally:
                here.end()

    setattr(call, _MARK, here)
    return call


def phase_unless(function, kind, name, is_excepted):
    """Like phase(), but not for a call whose arguments are excepted."""
    recorded = phase(function, kind, name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return (function if is_excepted(args, kwargs) else recorded)(*args, **kwargs)
        except BaseException as error:
            without_this_frame(error)
            raise

    return call


def _held(owner, attribute):
    """Of a class: the class that defines the attribute, and what that holds. A metaclass of the program's is asked
    for nothing."""
    for base in type.__getattribute__(owner, "__mro__"):
        own = type.__getattribute__(base, "__dict__")
        if attribute in own:
            return base, own[attribute]
    return None, None


def _is_function(held):
    """Of what a class holds: whether it is called with an object of it first. A staticmethod or an object with
    __call__ is not."""
    return hasattr(type(held), "__get__") and not isinstance(held, (staticmethod, classmethod, property))


def wrap_phase(owner, attribute, kind, name, skip=None):
    """Replaces owner.attribute by a recorded version, once; does nothing if there is none."""
    if isinstance(owner, type):
        found, held = _held(owner, attribute)
        if found is None or not _is_function(held):
            return None
        function = type.__getattribute__(owner, attribute)
    else:
        function = getattr(owner, attribute, None)
    if function is None or getattr(function, _MARK, None) is not None:
        return None
    wrapped = phase(function, kind, name, skip)
    (type.__setattr__ if isinstance(owner, type) else setattr)(owner, attribute, wrapped)
    return wrapped


def wrap_where_defined(owner, attribute, kind, name, apart):
    """wrap_phase() of the class, of those that `owner` is made of, that defines the attribute: who replaces it there
    reaches all that inherit it. Not of the class `apart` and those that it is made of."""
    found, _ = _held(owner, attribute)
    if found is not None and not any(found is base for base in apart.__mro__):
        wrap_phase(found, attribute, kind, name)


def wrap_first_call(owner, attribute, kind, name):
    """owner.attribute as a phase, up to its first call that succeeds: then it is what it was."""
    function = getattr(owner, attribute)
    recorded = phase(function, kind, name)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            result = recorded(*args, **kwargs)
        except BaseException as error:
            without_this_frame(error)
            raise
        if getattr(owner, attribute, None) is call:  # else another tool has wrapped it since
            setattr(owner, attribute, function)
        return result

    setattr(owner, attribute, call)


def followed_by(function, action):
    """The method, and action(self) after each call that succeeds. May be pickled, as a phase may."""
    return compared(function, never, lambda arguments, *_: arguments and action(arguments[0]), never)


def compared(function, before, after, skip=None):
    """The function, and after(arguments, named arguments, what before(arguments) said) after each call that succeeds.
    May be pickled, as a phase may."""
    here = _Following(before, after, skip or torch_is_compiling())

    @_wraps(function)
    def call(*args, **kwargs):
        try:
            if here is None or here.skip():
                return function(*args, **kwargs)
            seen = here.before(args)
            result = function(*args, **kwargs)
        except BaseException as error:
            BaseException.with_traceback(error, error.__traceback__.tb_next)
            raise
        here.after(args, kwargs, seen)
        return result

    return call


def metered(function, meter):
    """An iterator's __next__, whose results the meter (_torch_padding) looks at now and then."""
    @functools.wraps(function)
    def __next__(self):
        try:
            result = function(self)
        except BaseException as error:
            without_this_frame(error)
            raise
        if meter.next_look:
            meter.count += 1
            if meter.count >= meter.next_look:
                meter.look(result)
        return result

    return __next__


def mode_change(function, train_kind, eval_kind):
    """nn.Module.train, the outermost call recorded: it goes through all children, and eval() is
    train(False)."""
    begin, end = _native.phase_begin, _native.phase_end
    is_compiling = torch_is_compiling()
    inside = []

    @functools.wraps(function)
    def train(self, mode=True):
        if is_compiling() or inside:
            try:
                return function(self, mode)
            except BaseException as error:
                without_this_frame(error)
                raise
        try:
            inside.append(True)
            begin(train_kind if mode else eval_kind, "Module.train" if mode else "Module.eval")
            return function(self, mode)
        except BaseException as error:
            without_this_frame(error)
            raise
        finally:
            end()
            inside.clear()

    return train
