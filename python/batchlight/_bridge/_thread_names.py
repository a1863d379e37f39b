"""Threads under the names that the program gives them.

A thread's name and ident may be the program's own code where its class overrides them: neither is asked for.
Thread.start() waits until the new thread has passed through here, whatever the thread does in between.
"""
import _batchlight_native as _native

from ._imports import attempt

_MAIN = "MainThread"


def install(threading):
    thread_class = threading.Thread
    started = thread_class._set_native_id  # runs first in every new thread
    name_property, ident = thread_class.name, thread_class.ident.fget
    main_thread, get_ident = threading.main_thread, threading.get_ident

    def say(thread):
        name = name_property.fget(thread)
        if type(name) is str and name != _MAIN:  # the process's own name says more
            _native.name_thread(name)

    def _set_native_id(self):
        started(self)
        attempt("python", say, self)

    def rename(self, name):
        name_property.fset(self, name)
        if ident(self) == get_ident() and self is not main_thread():
            attempt("python", say, self)

    thread_class._set_native_id = _set_native_id
    rename.__name__, rename.__qualname__ = name_property.fset.__name__, name_property.fset.__qualname__
    thread_class.name = property(
        name_property.fget, rename, name_property.fdel, name_property.__doc__)
