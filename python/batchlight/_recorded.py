"""The interface under the profiler: every call becomes a record.

Each native call takes (message, color, domain, category, payload): a string, an ARGB number or
None, the numbers of a domain and a category, and an int, float or None.
"""
import _batchlight_native as _native

from ._bridge._standard import standard
from ._codes import codes_of
from ._colors import argb
from ._profile import Profile

_domains = {None: 0}  # name -> number; 0 is the default domain
_categories = {}  # domain number -> {category name: number}

collecting = _native.collecting
profile_start = _native.profile_start
profile_stop = _native.profile_stop

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # co_flags


def enabled():
    """Whether this process runs under the profiler."""
    return True


def _domain_id(name):
    try:
        return _domains[name]
    except KeyError:
        return _domains.setdefault(name, _native.domain(name))


def _category_id(domain, category):
    if category is None:
        return 0
    if isinstance(category, int):
        return category & 0xFFFFFFFF
    numbers = _categories.setdefault(domain, {})
    number = numbers.get(category)
    if number is None:
        # Two threads may come here at once with new names: setdefault lets one number win.
        number = numbers.setdefault(category, len(numbers) + 1)
        _native.name_category(domain, number, category)
    return number


def mark(message=None, color=None, domain=None, category=None, payload=None):
    """An instant."""
    domain = _domain_id(domain)
    _native.mark(message, argb(color), domain, _category_id(domain, category), payload)


def push_range(message=None, color=None, domain=None, category=None, payload=None):
    """Opens a range on this thread, inside the one that is open."""
    domain = _domain_id(domain)
    _native.push(message, argb(color), domain, _category_id(domain, category), payload)


def pop_range(domain=None):
    """Closes the innermost range of this thread."""
    _native.pop(_domain_id(domain))


def start_range(message=None, color=None, domain=None, category=None, payload=None):
    """Opens a range that any thread may close: pass what is returned to end_range()."""
    domain = _domain_id(domain)
    return _native.start(message, argb(color), domain, _category_id(domain, category), payload)


def end_range(range_id):
    """Closes the range that start_range() opened."""
    _native.end(range_id)


def profile(function):
    """Decorator: --lines=@profile times the lines of the function, or of all functions of a class."""
    from ._bridge import _exact_lines
    _exact_lines.decorated.update(codes_of(function))
    return function


class annotate:
    """A range: `with annotate("load"): ...` or `@annotate()` on a function.

    As a decorator it is named after the function unless it has a message. A coroutine function or
    a generator function is one range from its first step to its last, on whatever thread.
    """

    __slots__ = ("attributes", "domain")

    def __init__(self, message=None, color=None, domain=None, category=None, payload=None):
        if color is None and domain is None and category is None and payload is None:
            self.attributes = (message,)
            self.domain = 0
        else:
            self.domain = domain = _domain_id(domain)
            self.attributes = (
                message, argb(color), domain, _category_id(domain, category), payload)

    def __enter__(self, push=_native.push):
        push(*self.attributes)
        return self

    def __exit__(self, kind, value, traceback, pop=_native.pop):
        pop(self.domain)
        return False

    def __call__(self, function):
        attributes, domain = self.attributes, self.domain
        if attributes[0] is None:
            attributes = (getattr(function, "__name__", ""),) + attributes[1:]
        return _decorate(function, attributes, domain)


def _decorate(function, attributes, domain):
    functools = standard("functools")
    push, pop, start, end = _native.push, _native.pop, _native.start, _native.end
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)

    if flags & _COROUTINE:
        async def recorded(*args, **kwargs):
            range_id = start(*attributes)
            try:
                return await function(*args, **kwargs)
            finally:
                end(range_id)
    elif flags & _ASYNC_GENERATOR:
        async def recorded(*args, **kwargs):
            range_id = start(*attributes)
            generator = function(*args, **kwargs)
            try:
                item = await generator.__anext__()
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        await generator.aclose()
                        raise
                    except BaseException as error:
                        item = await generator.athrow(error)
                    else:
                        item = await generator.asend(sent)
            except StopAsyncIteration:
                return
            finally:
                end(range_id)
    elif flags & _GENERATOR:
        def recorded(*args, **kwargs):
            range_id = start(*attributes)
            try:
                return (yield from function(*args, **kwargs))
            finally:
                end(range_id)
    else:
        def recorded(*args, **kwargs):
            push(*attributes)
            try:
                return function(*args, **kwargs)
            finally:
                pop(domain)
    return functools.wraps(function)(recorded)


class EventAttributes(list):
    """What a range or a mark says: the arguments of a native call. All may be set later on."""

    __slots__ = ("_color",)

    message = property(lambda self: self[0], lambda self, value: self.__setitem__(0, value))
    category = property(lambda self: self[3], lambda self, value: self.__setitem__(3, value))
    payload = property(lambda self: self[4], lambda self, value: self.__setitem__(4, value))

    @property
    def color(self):
        return self._color

    @color.setter
    def color(self, value):
        self._color = value
        self[1] = argb(value)


class Domain:
    """Ranges and marks of one domain, with attributes made beforehand."""

    __slots__ = ("name", "_number")

    def __init__(self, name=None):
        self.name = name
        self._number = _domain_id(name)

    def get_registered_string(self, string):
        return string

    def get_category_id(self, name):
        return _category_id(self._number, name)

    def get_event_attributes(self, message=None, color=None, category=None, payload=None):
        number = self._number
        attributes = EventAttributes(
            (message, None, number, _category_id(number, category), payload))
        attributes.color = color
        return attributes

    def push_range(self, attributes):
        _native.push(*attributes)

    def pop_range(self):
        _native.pop(self._number)

    def start_range(self, attributes):
        return _native.start(*attributes)

    def end_range(self, range_id):
        _native.end(range_id)

    def mark(self, attributes):
        _native.mark(*attributes)


def get_domain(name=None):
    return Domain(name)
