"""Threads under the names that the program gives them."""
import _batchlight_native as _native

from ._imports import attempt


def install(threading):
    thread_class = threading.Thread
    started = thread_class._set_native_id  # runs first in every new thread
    name_property = thread_class.name

    def _set_native_id(self):
        started(self)
        if self.name != "MainThread":  # the process's own name says more
            attempt("python", _native.name_thread, self.name)

    def rename(self, name):
        name_property.fset(self, name)
        if self.ident == threading.get_ident() and self is not threading.main_thread():
            attempt("python", _native.name_thread, self.name)

    thread_class._set_native_id = _set_native_id
    thread_class.name = property(
        name_property.fget, rename, name_property.fdel, name_property.__doc__)
