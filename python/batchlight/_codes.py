"""The code behind whatever a program calls a function."""


def codes_of(function):
    """Code objects of a function, a method, a property, a partial, or all functions of a class."""
    if isinstance(function, type):
        return {code for value in vars(function).values() if not isinstance(value, type)
                for code in codes_of(value)}
    codes = set()
    for part in ("__func__", "func", "__wrapped__", "fget", "fset", "fdel"):
        inner = getattr(function, part, None)
        if inner is not None and inner is not function and not isinstance(inner, type):
            codes |= codes_of(inner)
    code = getattr(function, "__code__", None)
    if code is not None and not codes:
        codes.add(code)
    return codes
