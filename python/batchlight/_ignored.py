"""The interface outside the profiler: the same names, which quickly do nothing."""
from itertools import repeat as _repeat


class _Nothing:
    """One object for every range. `with` calls two functions of C, which no frame is made for: half
    the time of the same in Python."""

    __slots__ = ()
    __exit__ = "".format  # takes any arguments and returns "", which is false: nothing is swallowed

    def __call__(self, function):
        return function


_NOTHING = _Nothing()
_Nothing.__enter__ = _repeat(_NOTHING).__next__  # returns the object, always


def annotate(message=None, color=None, domain=None, category=None, payload=None):
    """A range: `with annotate("load"): ...` or `@annotate()`."""
    return _NOTHING


def mark(message=None, color=None, domain=None, category=None, payload=None):
    """An instant."""


def push_range(message=None, color=None, domain=None, category=None, payload=None):
    """Opens a range on this thread, inside the one that is open."""


def pop_range(domain=None):
    """Closes the innermost range of this thread."""


def start_range(message=None, color=None, domain=None, category=None, payload=None):
    """Opens a range that any thread may close: pass what is returned to end_range()."""
    return 0


def end_range(range_id):
    """Closes the range that start_range() opened."""


def profile_start():
    """Starts the capture under `batchlight profile -c cudaProfilerApi`."""


def profile_stop():
    """Ends the capture that profile_start() started."""


def collecting():
    """Whether events are being recorded at this moment."""
    return False


def enabled():
    """Whether this process runs under the profiler."""
    return False


class EventAttributes:
    """What a range or a mark would say."""

    __slots__ = ("message", "color", "category", "payload")

    def __init__(self, message=None, color=None, category=None, payload=None):
        self.message, self.color = message, color
        self.category, self.payload = category, payload


class Profile:
    """Under the profiler: every call of this thread, between enable() and disable()."""

    def __init__(self, linenos=True, annotate_cfuncs=True):
        pass

    def enable(self):
        pass

    def disable(self):
        pass


class Domain:
    """Ranges and marks of one domain, with attributes made beforehand."""

    __slots__ = ("name",)

    def __init__(self, name=None):
        self.name = name

    def get_registered_string(self, string):
        return string

    def get_category_id(self, name):
        return 0

    def get_event_attributes(self, message=None, color=None, category=None, payload=None):
        return EventAttributes(message, color, category, payload)

    def push_range(self, attributes):
        pass

    def pop_range(self):
        pass

    def start_range(self, attributes):
        return 0

    def end_range(self, range_id):
        pass

    def mark(self, attributes):
        pass


def profile(function):
    return function


def get_domain(name=None):
    return Domain(name)
