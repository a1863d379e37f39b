"""What a program calls a model: the attribute of an object that is no module (`G` of a class GAN,
whose methods train self.G and self.D), or the variable. Looked up once for each model, when it is
first called."""
import inspect
import sys

import _batchlight_native as _native

from ._imports import is_of_handler
from ._torch_unseen import contents

_MOST_FRAMES = 20  # from the call outwards
_FUNCTION = inspect.CO_OPTIMIZED
_OURS = 3  # references to the variables: the frame's, and ours while we ask


def attribute_of(frame, root, unwrapped):
    """The name under which an object whose method calls `root` holds it, if the object holds several
    models, or `root` has no parts; None otherwise: the paths of an only model are plain.
    `unwrapped`: a module without what wraps it."""
    try:
        module_class = _module_class(root)
        inner = unwrapped(root)
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return None
            name = _name_in(_first_argument(frame), inner, module_class, unwrapped)
            if name is not None:
                return name
            frame = frame.f_back
    except Exception as error:  # an object may be anything: the model is named as if nobody held it
        if is_of_handler(error):
            raise
        pass
    return None


def variable_of(frame, root, unwrapped):
    """The variable that holds `root` where it is called, the outermost of several (a helper's argument
    is called anything); None where there is none."""
    name = None
    try:
        module_class = _module_class(root)
        inner = unwrapped(root)

        def name_in(variables):
            for key, value in list(variables.items()):
                # isinstance would ask a stand-in of an object for its class, which may import it.
                if key == "self" or key.startswith("_") or module_class not in type(value).__mro__:
                    continue
                if unwrapped(value) is inner:
                    return key
            return None

        for _ in range(_MOST_FRAMES):
            if frame is None:
                break
            name = name_in(frame.f_globals) or _look_at(frame, name_in) or name
            frame = frame.f_back
    except Exception as error:  # as above
        if is_of_handler(error):
            raise
        pass
    return name


def _module_class(module):
    """torch.nn.Module itself, whatever stands between."""
    for base in type(module).__mro__:
        if base.__module__ == "torch.nn.modules.module" and base.__name__ == "Module":
            return base
    return type(module)


def _first_argument(frame):
    """Of the method that runs; None where there is none."""
    code = frame.f_code
    if code.co_argcount == 0 or code.co_varnames[0] != "self":
        return None
    return _look_at(frame, lambda variables: variables.get("self"))


def _look_at(frame, look):
    """What `look` says of the variables of a function; None where they are not to be looked at.

    Before Python 3.13 f_locals is a copy that the frame keeps: it keeps every variable alive until the function
    returns, and it is what locals() gives the program and where a debugger puts variables. To ask for it brings it
    up to date. So a frame that somebody has asked before us is left alone, and our copy is emptied."""
    if not frame.f_code.co_flags & _FUNCTION:
        return None
    copy = _native.variables_of(frame)  # None: there is none yet
    if copy is False or copy is not None and (copy or sys.getrefcount(copy) > _OURS):
        return None
    copy = None
    variables = frame.f_locals
    found = look(variables)
    if type(variables) is dict and sys.getrefcount(variables) <= _OURS:
        variables.clear()
    return found


def _name_in(owner, inner, module_class, unwrapped):
    try:
        attributes = object.__getattribute__(owner, "__dict__")
    except Exception as error:
        if is_of_handler(error):
            raise
        return None
    if type(attributes) is not dict or "_modules" in attributes:
        return None
    found, models = None, set()
    for name, value in list(attributes.items()):
        if not isinstance(value, module_class):
            continue
        value = unwrapped(value)
        if value is inner and found is None:
            found = name
        if any(child is not None for child in contents(value, "_modules").values()):
            models.add(id(value))
    if len(models) > 1 or id(inner) not in models:
        return found
    return None
