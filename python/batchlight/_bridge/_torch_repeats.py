"""Modules that are called again with what they were called with before, while nothing that they compute
from has changed: the second call makes what the first made.

In a window of a few outermost calls in train mode and with gradients on, each call of a module with
parameters has a signature: which tensors it is given, in which version, beside which numbers; and the same
of its parameters and buffers, so that an optimizer's step makes it another call. A signature seen before is
a repeat if, on the CPU, some hundred numbers of both outputs are the same ones. A GPU's tensors are not read:
there no backward may lie in between, and the module may draw no random numbers. Modules that keep tensors
between calls (a recurrent or spiking state) or leave out numbers at random are none that repeat.

In the same window mixtures of experts are looked for (_torch_experts), modules that are given no gradient
(_torch_given), and cells of recurrent networks that feed on their own output (property model.cells_fed_back, a path a
line). All that takes milliseconds of a large model's call: a phase without length marks each outermost call
that is looked at, so that its step stands for no others.

Property model.repeats, a line for each module: its calls, how many of them are repeats, its path. What a
repeat calls in turn is not counted. The window may begin and end between calls with the same input: the first
and the last input of a module are left out where it has others.
"""
import itertools
import sys
import threading
import weakref

import _batchlight_native as _native

from . import _torch_progress
from ._imports import is_of_handler
from ._torch_experts import Experts
from ._torch_given import Given
from ._torch_unseen import (
    buffers_of, is_followed_by_others, is_training, items_of, own_of, parameters_of, parts_of, some_of, unseen)

BEFORE = 3            # outermost calls in front of the window
OUTERMOST_CALLS = 12  # the window's at most
LONG_TEXT = 1000      # is not kept to be compared
UPDATES = 4           # by an optimizer, after which it ends
LOOK = 22             # of src/format/phases.def
PRODUCTS = ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
MOST_OUTERMOST = 64   # with those of modules without parameters, which are not counted
MOST_CALLS = 20000    # of all modules, in the window
MOST_TENSORS = 16     # of a call's arguments
MOST_LEARNED = 4      # of a module's parameters: an optimizer's step is counted besides
MOST_KEPT = 16        # of its buffers
MOST_DEPTH = 3        # of what arguments hold
CELLS = ("LSTMCell", "GRUCell", "RNNCell")
MOST_NODES = 64       # of autograd's graph, from a cell's input on: what it was given last lies within a few
MOST_TRACED = 16      # calls of a cell that were traced back in vain
MOST_LOOKED = 64      # items of all that, until a tensor is found
MOST_SIGNED = 512     # parts of a signature
SAMPLED = 256         # numbers of an output
MOST_OUTPUTS = 4
MOST_TOLD = 16        # modules

_PLAIN = (int, float, complex, bool, str, bytes, type(None))
_DROPPING = ("drop", "stochastic")
_RATES = ("p", "drop_prob", "drop_rate", "drop_path_rate", "dropout", "dropout_p")

looking = [True]  # empty: no more calls are looked at
watching = []   # the window, while it is open; every call of a module asks
_calls = 0      # outermost ones, of all modules
_learning = 0   # those in front of the window, of modules with parameters


def look_at_call(module, passes):
    """The outermost call that begins, in train mode and with gradients on, while `looking`. `passes`: whether the
    calls inside are seen."""
    global _calls, _learning
    try:
        _calls += 1
        if watching:
            watching[0].begin_outermost(module, passes or _calls > MOST_OUTERMOST)
        elif _calls > MOST_OUTERMOST:
            stop()
        elif not passes and _has_parameters(module):
            _learning += 1
            if _learning > BEFORE:
                watching.append(Window(sys.modules["torch"]))
                watching[0].begin_outermost(module, passes)
    except Exception as error:  # modules may do anything when they are asked: nothing is said
        if is_of_handler(error):
            raise
        stop()


def stop():
    del looking[:], watching[:]


def _version(tensor):
    try:
        return tensor._version
    except RuntimeError:  # inference mode
        raise Unknown from None


def _has_parameters(module):
    return next(parameters_of(module), None) is not None


def _signed(item):
    """Of a plain type."""
    return hash(item) if type(item) in (str, bytes) and len(item) > LONG_TEXT else item


class Unknown(Exception):
    """What a call is given, or where it is made, is like nothing that can be compared."""


class Inputs:
    """Calls of one module with the same signature."""
    __slots__ = ("tensors", "calls", "repeats", "proof")

    def __init__(self, tensors):
        self.tensors = tensors  # weak references
        self.calls = self.repeats = 0
        self.proof = None       # of the output; None: not asked for yet

    def lives(self):
        return all(tensor() is not None for tensor in self.tensors)


class Watched:
    """A module with parameters."""

    def __init__(self, module, path):
        self.reference = weakref.ref(module)
        self.path = path
        self.excluded = _drops(module)
        self.suspect = False  # a signature came again: outputs are looked at from now on
        self.inputs = []      # in order of their first calls
        self.known = {}       # signature -> the latest of these
        self.state = _names_of_state(module)
        self.size = sum(parameter.numel() for parameter in parameters_of(module))
        self.is_cell = type(module).__name__ in CELLS
        self.made = None      # of a cell: weak reference to its last output
        self.traces_left = MOST_TRACED


class Call:
    __slots__ = ("watched", "signature", "again", "random", "device", "below", "lists")

    def __init__(self, watched, below):
        self.watched, self.below = watched, below
        self.lists = {}  # of modules that it calls (_torch_experts)
        self.signature = self.again = self.random = self.device = None


class Window:
    def __init__(self, torch):
        self.torch = torch
        self.halves = torch.bfloat16, torch.float16
        self.products = tuple(filter(None, (getattr(torch.nn, name, None) for name in PRODUCTS)))
        self.in_half = self.in_full = 0  # calls of these on the CPU, by what they return
        self.thread = threading.get_ident()
        self.outermost = self.calls = 0
        self.ends_at = _torch_progress.updates + UPDATES
        self.modules = {}  # id -> Watched; None: has no parameters
        self.top = None    # the innermost call
        self.repeating = 0  # calls around that have a known signature
        self.experts, self.given = Experts(), Given(torch)
        self.fed_back = set()  # paths of cells
        self.looks = False  # in an outermost call that is to be looked at
        self.half = False   # it was said that modules return 16-bit numbers on the CPU
        self.in_backward = _torch_progress.inside_backward(torch)

    def begin_outermost(self, module, ends):
        if threading.get_ident() != self.thread:
            return
        self.top, self.repeating, self.looks = None, 0, False
        if ends or _torch_progress.updates >= self.ends_at:
            self.close()
        elif _has_parameters(module):
            self.outermost += 1
            self.looks = not is_followed_by_others(self.torch)

    def close(self):
        if self not in watching:  # closed by a call inside of one that ends now
            return
        self.experts.say()
        self.given.say()
        if self.fed_back:
            _native.property("model.cells_fed_back", "\n".join(sorted(self.fed_back)))
        told = sorted(self._found(), reverse=True)[:MOST_TOLD]
        stop()
        if told:
            _native.property("model.repeats", "\n".join("%d %d %s" % found for found in told))

    def _found(self):
        for watched in self.modules.values():
            if watched is None or watched.excluded or not any(inputs.repeats for inputs in watched.inputs):
                continue
            whole = watched.inputs[1:-1] or watched.inputs
            repeats = sum(inputs.calls - 1 for inputs in whole if inputs.repeats)
            if repeats:
                yield sum(inputs.calls for inputs in whole), repeats, watched.path

    def enter(self, module, arguments, named, path):
        """Before a call. What it returns is given to leave()."""
        if threading.get_ident() != self.thread:
            return None
        if self.given.looks_left:
            self.given.look(module, arguments, named, path)
        if not self.looks:
            return None
        _native.phase_begin(LOOK, "look at the model")
        try:
            return unseen(self._enter, module, arguments, named, path)
        except Unknown:
            return self.top
        except Exception as error:
            if is_of_handler(error):
                raise
            stop()
            return None
        finally:
            _native.phase_end()

    def _enter(self, module, arguments, named, path):
        self.calls += 1
        if self.calls > MOST_CALLS:
            self.close()
            return None
        watched = self._watched(module, path)
        if watched is None:
            return None
        if watched.is_cell and watched.made is not None and arguments:
            made = watched.made()
            if made is not None and watched.traces_left and path not in self.fed_back:
                watched.traces_left -= 1
                if _leads_to(arguments[0], made):
                    self.fed_back.add(path)
        call = self.top = Call(watched, self.top)
        if call.below is not None:
            owner, _, number = path.rpartition(".")
            if owner and number.isdigit():
                tensor = next(_tensors_of(self.torch, (arguments, named)), None)
                if tensor is not None:
                    self.experts.called(call.below.lists, owner, number, module, watched.size, tensor)
        if not self.repeating and not watched.excluded and not self.in_backward():
            self._sign(call, module, arguments, named)
            self.repeating += call.again is not None
        return call

    def leave(self, call, output):
        """After it, unless it raised."""
        _native.phase_begin(LOOK, "look at the model")
        try:
            unseen(self._leave, call, output)
        except Exception as error:
            if is_of_handler(error):
                raise
            stop()
        finally:
            _native.phase_end()

    def _leave(self, call, output):
        while self.top is not None and self.top is not call:  # of calls that raised
            self.repeating -= self.top.again is not None
            self.top = self.top.below
        if self.top is None:
            return
        self.top = call.below
        if not self.half and type(output) is self.torch.Tensor:
            self._look_at_type(call.watched.reference(), output)
        if call.watched.is_cell:
            made = next(_tensors_of(self.torch, output), None)
            call.watched.made = None if made is None else weakref.ref(made)
        if call.lists:
            self.experts.parent_ends(call.lists, call.watched.reference())
        if call.signature is not None:
            self.repeating -= call.again is not None
            self._count(call, output)
        if self.top is None:
            self.looks = False
            if self.outermost >= OUTERMOST_CALLS:
                self.close()

    def _look_at_type(self, module, output):
        """Says that products of matrices are of 16 bits on the CPU, once most of them are."""
        if not issubclass(type(module), self.products) or output.device.type != "cpu":
            return
        if output.dtype not in self.halves:
            self.in_full += 1
            return
        self.in_half += 1
        if self.in_half > self.in_full + 1:
            self.half = True
            _native.property("model.half_on_cpu", str(output.dtype)[len("torch."):])

    def _watched(self, module, path):
        key = id(module)
        watched = self.modules.get(key, self)
        if watched is self or watched is not None and watched.reference() is not module:
            # A wrapper's path has its class in parentheses: what it wraps is told.
            has = not path.endswith(")") and _has_parameters(module)
            watched = self.modules[key] = Watched(module, path) if has else None
        return watched

    def _sign(self, call, module, arguments, named):
        tensors = []
        torch = self.torch
        # A fused optimizer leaves the versions of parameters as they are.
        signature = [is_training(module), torch.is_grad_enabled(), torch.is_autocast_enabled(), _torch_progress.updates]
        self._sign_items(arguments, signature, tensors, 0)
        self._sign_items(named, signature, tensors, 0)
        if not tensors:
            raise Unknown
        call.device = tensors[0].device
        if call.device.type == "cuda":
            signature.append(_torch_progress.backwards)
        elif call.device.type != "cpu":
            raise Unknown
        for owner, kind, name in call.watched.state:
            tensor = own_of(owner())[kind].get(name)
            if tensor is not None:
                signature += id(tensor), _version(tensor)
                tensors.append(tensor)
        call.signature = tuple(signature)
        watched = call.watched
        known = watched.known.get(call.signature)
        if known is not None and known.lives():
            call.again = known
            watched.suspect = True
        else:
            known = watched.known[call.signature] = Inputs([weakref.ref(tensor) for tensor in tensors])
            watched.inputs.append(known)
        known.calls += 1
        if watched.suspect and call.device.type == "cuda":
            call.random = self._random_state(call.device)

    def _sign_items(self, items, signature, tensors, depth):
        torch = self.torch
        held = list(items_of(items, MOST_TENSORS + 1))
        if depth > MOST_DEPTH or len(held) > MOST_TENSORS or len(signature) > MOST_SIGNED:
            raise Unknown
        if isinstance(items, dict):
            keys = list(dict.keys(items))
            if any(type(key) not in _PLAIN for key in keys):
                raise Unknown  # would be compared, and kept
            signature += map(_signed, keys)
        signature.append("(")
        for item in held:
            kind = type(item)
            if kind is torch.Tensor or kind is torch.nn.Parameter:
                signature += "tensor", id(item), _version(item)
                tensors.append(item)
            elif kind in _PLAIN:
                signature += kind, _signed(item)
            elif isinstance(item, (tuple, list, dict)):
                self._sign_items(item, signature, tensors, depth + 1)
            elif isinstance(item, (torch.dtype, torch.device)):
                signature.append(item)
            else:
                raise Unknown
        signature.append(")")

    def _count(self, call, output):
        watched = call.watched
        if not watched.suspect:
            return
        inputs = call.again or watched.known[call.signature]
        module = watched.reference()
        if module is None or _keeps_tensors(self.torch, module):
            watched.excluded = True
            return
        proof = self._proof(call, output)
        if proof is None:
            watched.excluded = True
        elif inputs.proof is None:  # the first, or the first since outputs are looked at
            inputs.proof = proof
        elif inputs.proof == proof:
            inputs.repeats += 1
        else:
            watched.excluded = True

    def _proof(self, call, output):
        """Some numbers of the output; of a GPU's that no random number was drawn. None: no proof."""
        if call.device.type == "cuda":
            state = self._random_state(call.device)
            return "no random numbers" if call.random == state else None
        sampled = [self._sample(tensor) for tensor in
                   itertools.islice(_tensors_of(self.torch, output), MOST_OUTPUTS)]
        return sampled if sampled and None not in sampled else None

    def _sample(self, tensor):
        if type(tensor) is not self.torch.Tensor or tensor.device.type != "cpu":
            return None
        try:
            some = some_of(tensor, SAMPLED)
        except Exception as error:  # sparse, quantized, of a transformation; memory that cannot be read
            if is_of_handler(error):
                raise
            return None
        return tuple(tensor.shape), hash(some.tobytes())

    def _random_state(self, device):
        """Of the host's copy: does not wait for the GPU."""
        return self.torch.cuda.default_generators[device.index].get_state().numpy().tobytes()


def _drops(module):
    """Whether a part of it leaves out numbers at random."""
    for part in parts_of(module):
        if is_training(part):
            own = own_of(part)
            name = type(part).__name__.lower()
            if any(word in name for word in _DROPPING) and not any(rate in own for rate in _RATES):
                return True
            if any(isinstance(own.get(rate), (int, float)) and own[rate] > 0
                   for rate in (_RATES if any(word in name for word in _DROPPING) else _RATES[1:])):
                return True
    return False


def _names_of_state(module):
    """(weak reference to the module that holds it, "_parameters" or "_buffers", name): some parameters, and
    buffers that are no averages of a norm, which every call moves and none in training reads."""
    learned, kept = [], []
    for part in parts_of(module):
        own, reference = own_of(part), weakref.ref(part)
        learned += [(reference, "_parameters", name) for name, tensor in own["_parameters"].items()
                    if tensor is not None]
        name = type(part).__name__
        if "Norm" not in name or "Spectral" in name:
            kept += [(reference, "_buffers", name) for name in own["_buffers"]]
    trained = [entry for entry in learned if own_of(entry[0]())["_parameters"][entry[2]].requires_grad]
    return _some(trained or learned, MOST_LEARNED) + _some(kept, MOST_KEPT)


def _some(entries, most):
    return entries[::-(-len(entries) // most) or 1]


def _keeps_tensors(torch, module):
    """Whether a part of it has a tensor as a plain attribute."""
    registered = None
    for part in parts_of(module):
        for name, value in own_of(part).items():
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            for item in items_of(value, MOST_TENSORS):
                if isinstance(item, torch.Tensor) and not isinstance(item, torch.nn.Parameter):
                    if registered is None:
                        registered = {id(buffer) for buffer in buffers_of(module)}
                    if id(item) not in registered:
                        return True
    return False


def _leads_to(tensor, made):
    """Whether autograd knows that `tensor` was computed from `made`, nearest first. A node may be the program's own."""
    target, first = getattr(made, "grad_fn", None), getattr(tensor, "grad_fn", None)
    if target is None or first is None:
        return False
    seen, nodes = {id(first)}, [first]
    for node in nodes:  # grows
        if node is target:
            return True
        for function, _ in node.next_functions:
            if function is not None and id(function) not in seen and len(nodes) < MOST_NODES:
                seen.add(id(function))
                nodes.append(function)
    return False


def _tensors_of(torch, output):
    """Those among the first items: a vocabulary may be handed through every module."""
    inside, left = [iter((output,))], MOST_LOOKED
    while inside and left:
        item = next(inside[-1], inside)
        if item is inside:
            inside.pop()
            continue
        left -= 1
        if isinstance(item, torch.Tensor):
            yield item
        elif isinstance(item, (tuple, list, dict)) and len(inside) <= MOST_DEPTH + 1:
            inside.append(iter(items_of(item, left)))
