"""The calls of a training loop: backward, optimizer step, zero_grad, DataLoader, scaler, saving.

A new iterator of a DataLoader (phase DataLoaderInit) is where an epoch begins; steps are found when
the recording is read.
"""
import functools
import io
import weakref

import _batchlight_native as _native

from . import (
    _calibration, _call_sites, _torch_compilation, _torch_padding, _torch_progress, _torch_settings, _torch_updates)
from ._importlib_bootstrap import (
    followed_by, mode_change, phase, phase_unless, torch_is_compiling, wrap_first_call, wrap_phase,
    wrap_where_defined)
from ._imports import attempt, when_imported

# Numbers of src/format/phases.def.
BACKWARD, OPTIMIZER_STEP, ZERO_GRAD, DATA_LOADER_NEXT, DATA_LOADER_INIT = 1, 2, 3, 4, 5
COMPILE, CHECKPOINT, GRAD_SCALER, TRAIN_MODE, EVAL_MODE = 7, 8, 12, 16, 17
FUNCTION, REQUEST = 13, 20

# What else saves a model: (module, function or method, name).
_SAVERS = (
    ("torch.distributed.checkpoint.state_dict_saver", "save", "distributed.checkpoint.save"),
    ("torch.distributed.checkpoint.state_dict_saver", "async_save",
     "distributed.checkpoint.async_save"),
    ("torch.distributed.checkpoint.state_dict_saver", "save_state_dict",
     "distributed.checkpoint.save_state_dict"),
    ("safetensors.torch", "save_file", "safetensors.save_file"),
    ("safetensors.torch", "save_model", "safetensors.save_model"),
    ("transformers.modeling_utils", "PreTrainedModel.save_pretrained", "save_pretrained"),
    ("transformers.trainer", "Trainer._save_checkpoint", "Trainer.save_checkpoint"),
    ("transformers.trainer", "Trainer.save_model", "Trainer.save_model"),
    ("diffusers.models.modeling_utils", "ModelMixin.save_pretrained", "save_pretrained"),
    ("peft.peft_model", "PeftModel.save_pretrained", "save_pretrained"),
    ("accelerate.accelerator", "Accelerator.save_state", "Accelerator.save_state"),
    ("lightning.pytorch.trainer.trainer", "Trainer.save_checkpoint", "Trainer.save_checkpoint"),
    ("pytorch_lightning.trainer.trainer", "Trainer.save_checkpoint", "Trainer.save_checkpoint"),
)


def install(torch):
    attempt("calibration", _calibration.say_phase_cost, phase)
    _backward(torch)
    _optimizers(torch)
    wrap_phase(torch.nn.Module, "zero_grad", ZERO_GRAD, "Module.zero_grad")
    attempt("training", _modes, torch)
    attempt("training", _cuda_start, torch)
    _checkpoints(torch)
    when_imported("torch.utils.data.dataloader", "training", _data_loader)
    when_imported("torch.amp.grad_scaler", "training", _grad_scaler)
    when_imported("torch.cuda.amp.grad_scaler", "training", _grad_scaler)
    when_imported("torch._dynamo.callback", "training", _compilation)
    when_imported("transformers.generation.utils", "requests", _generation)


def _checkpoints(torch):
    # Pickling a tensor saves it to memory, which is not a checkpoint.
    for name, position in (("save", 1), ("load", 0)):
        def is_in_memory(args, kwargs, position=position, name=name):
            file = args[position] if len(args) > position else kwargs.get("f")
            in_memory = isinstance(file, io.BytesIO)
            if name == "save" and not in_memory:
                _call_sites.say("checkpoint")
            return in_memory

        wrapped = phase_unless(
            getattr(torch.serialization, name), CHECKPOINT, "torch." + name, is_in_memory)
        for owner in (torch.serialization, torch):
            setattr(owner, name, wrapped)
    for module, path, name in _SAVERS:
        when_imported(module, "training", lambda module, path=path, name=name: _saver(
            module, path, name))


def _saver(owner, path, name):
    """A version of the library that has no such function has nothing to record."""
    *outer, attribute = path.split(".")
    for part in outer:
        owner = getattr(owner, part, None)
    if owner is not None:
        wrap_phase(owner, attribute, CHECKPOINT, name)


def _cuda_start(torch):
    """PyTorch starts CUDA in this function, which it then calls again and again."""
    wrap_first_call(torch.cuda, "_lazy_init", FUNCTION, "torch.cuda._lazy_init")


def _modes(torch):
    torch.nn.Module.train = mode_change(torch.nn.Module.train, TRAIN_MODE, EVAL_MODE)


def _backward(torch):
    is_compiling = torch_is_compiling()
    inside = _torch_progress.inside_backward(torch)

    def skip():  # of several, one in the other, the outermost is the phase
        if is_compiling() or inside():
            return True
        _torch_progress.backward_begins()
        return False

    for name in ("backward", "grad"):
        wrap_phase(torch.autograd, name, BACKWARD, "torch.autograd." + name, skip)


class OptimizerNumbers:
    """Which object of its class an optimizer is, so that those of a GAN can be told apart: nothing
    for the first, as PyTorch's profiler names it, "#2" for the second. Holds none alive."""

    MOST = 1000  # of a class; later ones share a number

    def __init__(self):
        self._suffixes = {}  # id(optimizer) -> (suffix, weak reference)
        self._made = {}      # class -> how many

    def add(self, optimizer):
        key, name, suffixes = id(optimizer), type(optimizer).__name__, self._suffixes
        number = self._made[name] = min(self._made.get(name, 0) + 1, self.MOST)
        suffixes.pop(key, None)  # of one that was at this address before
        if number > 1:
            reference = weakref.ref(optimizer, functools.partial(suffixes.pop, key))
            suffixes[key] = ("#%d" % number, reference)

    def suffix(self, optimizer):
        known = self._suffixes.get(id(optimizer))
        return known[0] if known else ""


_numbers = OptimizerNumbers()
_LOOKED_AT = 64  # steps of each optimizer, since the last one began to step: _call_sites.say_loops()
_looked_at = {}  # name of a step -> how many


def _step_name(optimizer):
    name = "Optimizer.step#%s.step%s" % (type(optimizer).__name__, _numbers.suffix(optimizer))
    _torch_progress.update_begins()
    if _looked_at.get(name, 0) < _LOOKED_AT:
        _look_at_step(optimizer, name)
    return name


def _look_at_step(optimizer, name):
    if name not in _looked_at:
        _looked_at.clear()
    _looked_at[name] = _looked_at.get(name, 0) + 1
    _call_sites.say_loops(name)
    _torch_updates.say(optimizer, name)
    _torch_updates.say_precision(optimizer, name)
    _torch_updates.say_groups(optimizer, name)
    _torch_updates.look_for_unheld(name)


def _zero_grad_name(optimizer):
    return "Optimizer.zero_grad#%s.zero_grad" % type(optimizer).__name__


def _optimizers(torch):
    optimizer_class = torch.optim.Optimizer
    # As PyTorch's own profiler does: the class of each optimizer made. That reaches classes of the
    # program, too, and no class is wrapped twice, nor a step that only calls its base class's.
    # PyTorch leaves zero_grad to the class that defines it, where a program may exchange it for a while.
    wrap_phase(optimizer_class, "zero_grad", ZERO_GRAD, _zero_grad_name)

    def wrap_class(optimizer):
        attempt("optimizers", wrap_phase, type(optimizer), "step", OPTIMIZER_STEP, _step_name)
        attempt("optimizers", wrap_where_defined, type(optimizer), "zero_grad", ZERO_GRAD, _zero_grad_name,
                optimizer_class)
        attempt("optimizers", _numbers.add, optimizer)
        attempt("optimizers", _torch_updates.made, optimizer)
        attempt("settings", _torch_settings.record, torch)
        _call_sites.say("optimizer")

    optimizer_class.__init__ = followed_by(optimizer_class.__init__, wrap_class)


def _iterator_name(iterator):
    return "enumerate(DataLoader)#%s.__next__" % type(iterator).__name__


def _data_loader(module):
    iterator_class = module._BaseDataLoaderIter
    iterator = wrap_phase(iterator_class, "__next__", DATA_LOADER_NEXT, _iterator_name)
    if iterator is not None:
        attempt("padding", _torch_padding.follow, iterator_class)
        if hasattr(iterator_class, "next"):
            iterator_class.next = iterator_class.__next__
    wrap_phase(module.DataLoader, "__iter__", DATA_LOADER_INIT, "DataLoader.__iter__")
    def say_sites(loader):
        _call_sites.say("dataloader")
        _call_sites.say_function("collate", loader, "collate_fn")

    module.DataLoader.__init__ = followed_by(module.DataLoader.__init__, say_sites)


def _grad_scaler(module):
    # torch.cuda.amp.GradScaler is a subclass of torch.amp.GradScaler from PyTorch 2.3 on.
    for attribute in ("step", "unscale_", "update"):
        if attribute in vars(module.GradScaler):
            wrap_phase(
                module.GradScaler, attribute, GRAD_SCALER, "GradScaler." + attribute)


def _generation(module):
    # One call makes many tokens, and calls the model for each.
    wrap_phase(module.GenerationMixin, "generate", REQUEST, "generate")


def _compilation(module):
    _torch_compilation.follow(module, COMPILE)
