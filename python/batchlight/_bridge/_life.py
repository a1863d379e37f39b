"""From the start of a program to its end, for its stages: where the interpreter hands over to the
program, which modules it imports, and where its main program ends. Every Python program under
`profile` runs this, so it imports nothing itself."""
import sys

import _batchlight_native as _native

# Numbers of src/format/phases.def.
IMPORT, PYTHON_START, MAIN_END = 14, 18, 19

# Under this name of a file Python takes our frame out of tracebacks with its own, and does not count
# it for warnings.
_FILE = "<frozen importlib._bootstrap>"
_WRAPPER = """
def _find_and_load(name, import_):
    begin(kind, name)
    try:
        module = find_and_load(name, import_)
        imported(module)
        return module
    except BaseException as error:
        BaseException.with_traceback(error, error.__traceback__.tb_next)  # without this frame
        raise
    finally:
        end()
"""


def record_imports():
    """Each module that is loaded is a phase. Python calls this function for those alone that are not
    loaded yet, also from C, and looks it up at each call."""
    importlib = sys.modules["_frozen_importlib"]
    names = {
        "__name__": "importlib._bootstrap", "begin": _native.phase_begin, "end": _native.phase_end,
        "imported": _native.imported_file,
        "find_and_load": importlib._find_and_load, "kind": IMPORT}
    exec(compile(_WRAPPER, _FILE, "exec"), names)
    importlib._find_and_load = names["_find_and_load"]


def _moment(kind, name):
    _native.phase_begin(kind, name)
    _native.phase_end()


def python_starts():
    _moment(PYTHON_START, "python start")


def watch_main_end(threading):
    """The interpreter calls threading._shutdown when the main program is over, before everything
    else that ends it."""
    shutdown = threading._shutdown

    def _shutdown(*args):
        _moment(MAIN_END, "end of main program")
        try:
            return shutdown(*args)
        except BaseException as error:
            BaseException.with_traceback(error, error.__traceback__.tb_next)  # without this frame
            raise

    threading._shutdown = _shutdown
