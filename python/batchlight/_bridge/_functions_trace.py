"""--python-functions-trace: NVTX ranges around the functions that a JSON file names.

    [{"module": "my.loader", "domain": "data", "color": "orange",
      "functions": ["read", "Reader.next"]}]

Functions of the script itself are those of the module "__main__". A name that is not there leaves a
reason with the file and the name; the others are traced.
"""
import _batchlight_native as _native

from ._imports import when_imported
from ._standard import standard


def install(path):
    json = standard("json")
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    if isinstance(entries, dict):
        entries = [entries]
    of_script = {}
    for entry in entries:
        _expect(isinstance(entry, dict) and "module" in entry and "functions" in entry, path)
        if entry["module"] == "__main__":
            of_script.update(_functions_of(entry))
        else:
            when_imported(
                entry["module"], "functions-trace",
                lambda module, entry=entry: _wrap(module, entry, path))
    if of_script:
        from . import _main_functions
        _main_functions.watch(
            of_script, lambda module, name: _wrap_or_say(module, name, of_script[name], path),
            lambda name, why: _say(path, "__main__", name, why))


def _say(path, module, function, why):
    _native.reason("functions-trace", "%s: %s.%s is not traced: %s; the rest of the file is" % (
        path.rpartition("/")[2], module, function, why))


def _expect(condition, path):
    if not condition:
        raise ValueError(
            "%s: expected a list of {\"module\": ..., \"functions\": [...]}" % path)


def _functions_of(entry):
    """(function, options) of each function of an entry."""
    for function in entry["functions"]:
        if isinstance(function, dict):
            yield function["function"], dict(entry, **function)
        else:
            yield function, entry


def _wrap(module, entry, file):
    for function, options in _functions_of(entry):
        _wrap_or_say(module, function, options, file)


def _wrap_or_say(module, function, options, file):
    try:
        wrap_function(module, function, options)
    except AttributeError as error:
        _say(file, options["module"], function, "it has no such function" + _meant(module, function))
    except Exception as error:
        _say(file, options["module"], function, "%s: %s" % (type(error).__name__, error))


def _meant(module, path):
    """" (did you mean read?)", of the names beside the one that is missing. difflib is not imported
    here: the program may not."""
    owner = module
    for name in path.split("."):
        try:
            owner = getattr(owner, name)
        except AttributeError:
            near = [known for known in dir(owner) if _differ_by_one(known.lower(), name.lower())]
            return " (did you mean %s?)" % near[0] if near else ""
    return ""


def _differ_by_one(a, b):
    """One letter more, less or other, or two that changed places."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or a[:2] == b[1::-1] and a[2:] == b[2:]


def wrap_function(module, path, options):
    """Puts a range around "function" or "Class.method" of a module. `options`: its entry in a file."""
    from .._recorded import annotate
    owner, names = module, path.split(".")
    for name in names[:-1]:
        owner = getattr(owner, name)
    # The attribute as the class holds it: staticmethod and classmethod objects stay what they are.
    held = vars(owner).get(names[-1], None)
    if held is None:
        held = getattr(owner, names[-1])
    wrapped = annotate(
        "%s.%s" % (options["module"], path), color=options.get("color"),
        domain=options.get("domain"), category=options.get("category"))
    if isinstance(held, (staticmethod, classmethod)):
        setattr(owner, names[-1], type(held)(wrapped(held.__func__)))
    else:
        setattr(owner, names[-1], wrapped(held))
