"""Run by libbatchlight_inject.so in a Python program: loads the package as `_batchlight`, since the program may have
a `batchlight` of its own, and starts the bridge. The folder with the package is `path`.

What looks at all modules or at all code that runs (coverage.py, Hypothesis, reloaders) takes for the program's own
what has a file outside of site-packages. So none of these modules has a __file__, and their code is named <FILE>.
What the program puts into `builtins` (mocks, a counting __import__) is for its own code: ours has a copy of them.
"""
import builtins
import posix
import sys

__builtins__ = vars(builtins).copy()
_external = sys.modules["_frozen_importlib_external"]
_FileIO = sys.modules["_io"].FileIO
_rename = getattr(sys.modules["_imp"], "_fix_co_filename", None)
_NAME = "_batchlight"


class _Loader(_external.SourceFileLoader):
    """As Python's own to all others: the program may import `batchlight` from the same folder."""

    def get_data(self, path):
        with _FileIO(path) as file:  # Python's own imports `io`, by whatever __import__ there is
            return file.read()

    def get_code(self, name):
        code = super().get_code(name)
        if _rename is not None and name.startswith(_NAME):
            _rename(code, "<%s>" % self.path)
        return code

    def exec_module(self, module):
        ours = module.__name__.startswith(_NAME)
        if ours:
            module.__builtins__ = __builtins__
        super().exec_module(module)
        if ours:
            vars(module).pop("__file__", None)


def _is_foreign(path):
    """Of a wheel, pip removes the bytecode of the Python that it installed into and no other's, so others write
    none there."""
    try:
        posix.stat(path + "/../from_wheel")
    except OSError:
        return False
    return not path.startswith(sys.prefix + "/")


def _start(path):
    package = path + "/batchlight"
    # Finders of these folders alone. Should the program empty Python's cache of them, what is imported from there
    # later is as any other module.
    for folder in (package, package + "/_bridge"):
        sys.path_importer_cache[folder] = _external.FileFinder(folder, (_Loader, [".py"]))
    foreign = _is_foreign(path)
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before or foreign
    try:
        file = package + "/__init__.py"
        spec = _external.spec_from_file_location(
            _NAME, file, loader=_Loader(_NAME, file), submodule_search_locations=[package])
        sys.modules["_frozen_importlib"]._load(spec)
        from _batchlight._bridge import install
        install(foreign)
    finally:
        sys.dont_write_bytecode = before


_start(path)  # noqa: F821
