"""--python-functions-trace: NVTX ranges around the functions that a JSON file names.

    [{"module": "my.loader", "domain": "data", "color": "orange",
      "functions": ["read", "Reader.next"]}]

Functions of the script itself are those of the module "__main__".
"""
from ._imports import attempt, when_imported


def install(path):
    import json
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
                entry["module"], "functions-trace", lambda module, entry=entry: _wrap(module, entry))
    if of_script:
        from . import _main_functions
        _main_functions.watch(of_script, lambda module, path: attempt(
            "functions-trace", _wrap_one, module, path, of_script[path]))


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


def _wrap(module, entry):
    for function, options in _functions_of(entry):
        attempt("functions-trace", _wrap_one, module, function, options)


def _wrap_one(module, path, options):
    from batchlight import annotate
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
