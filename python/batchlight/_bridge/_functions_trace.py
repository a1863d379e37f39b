"""--python-functions-trace: NVTX ranges around the functions that a JSON file names.

    [{"module": "my.loader", "domain": "data", "color": "orange",
      "functions": ["read", "Reader.next"]}]

Functions of the script itself (__main__) do not exist yet when the bridge could wrap them: give
them batchlight.annotate() instead. The recording says so when the file asks for them.
"""
import _batchlight_native as _native

from ._imports import attempt, when_imported


def install(path):
    import json
    with open(path, encoding="utf-8") as file:
        entries = json.load(file)
    if isinstance(entries, dict):
        entries = [entries]
    for entry in entries:
        _expect(isinstance(entry, dict) and "module" in entry and "functions" in entry, path)
        if entry["module"] == "__main__":
            _native.reason("functions-trace", "functions of __main__ cannot be traced by name: "
                           "use batchlight.annotate() in the script")
            continue
        when_imported(
            entry["module"], "functions-trace", lambda module, entry=entry: _wrap(module, entry))


def _expect(condition, path):
    if not condition:
        raise ValueError(
            "%s: expected a list of {\"module\": ..., \"functions\": [...]}" % path)


def _wrap(module, entry):
    for function in entry["functions"]:
        if isinstance(function, dict):
            options = dict(entry, **function)
            function = function["function"]
        else:
            options = entry
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
