"""What `import batchlight` of the program gives: its own module of that name where it has one, else
our package.

The recorder's own copy has a name that no program has (`_batchlight`) and is in nobody's way. The
program's folders are not known before its first line and may change at any time: they are asked when
it imports the name.
"""
import sys

from . import _imports

_NAME = "batchlight"
_FOLDER = __file__.rsplit("/", 2)[0]


class _Finder:
    """First of the finders: to Python a folder without __init__.py (of recordings, say) is a package
    too, where it finds no other."""

    def find_spec(self, name, path=None, target=None):
        if name != _NAME:
            return None
        spec = _imports.found_after(self, name, path, target)
        if spec is None or spec.loader is None:  # nothing, or such folders
            return _our_package(spec)
        return spec


def _our_package(folders):
    spec = sys.modules["_frozen_importlib_external"].spec_from_file_location(
        _NAME, _FOLDER + "/__init__.py", submodule_search_locations=[_FOLDER])
    if folders is not None:  # what lies in them goes first
        spec.submodule_search_locations[:0] = folders.submodule_search_locations
    if _imports.foreign:
        spec.loader.set_data = _write_no_bytecode
    return spec


def _write_no_bytecode(*_, **__):
    pass


def install():
    sys.meta_path.insert(0, _Finder())


# From here on, for the globals of our frames: debuggers leave importing out by this name (bdb's skip).
__name__ = "importlib._bootstrap"
