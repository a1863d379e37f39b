"""Colours by name, as ARGB numbers."""

_NAMES = {
    "black": 0x000000, "blue": 0x0000FF, "brown": 0xA52A2A, "coral": 0xFF7F50, "crimson": 0xDC143C,
    "cyan": 0x00FFFF, "darkblue": 0x00008B, "darkgreen": 0x006400, "darkorange": 0xFF8C00,
    "darkred": 0x8B0000, "gold": 0xFFD700, "gray": 0x808080, "green": 0x008000, "grey": 0x808080,
    "indigo": 0x4B0082, "lightblue": 0xADD8E6, "lightgreen": 0x90EE90, "lime": 0x00FF00,
    "magenta": 0xFF00FF, "maroon": 0x800000, "navy": 0x000080, "olive": 0x808000,
    "orange": 0xFFA500, "pink": 0xFFC0CB, "purple": 0x800080, "rapids": 0x7400FF, "red": 0xFF0000,
    "salmon": 0xFA8072, "silver": 0xC0C0C0, "skyblue": 0x87CEEB, "teal": 0x008080,
    "tomato": 0xFF6347, "turquoise": 0x40E0D0, "violet": 0xEE82EE, "white": 0xFFFFFF,
    "yellow": 0xFFFF00,
}
_cache = {None: None}


def argb(color):
    """The number of a colour: a number as it is, "red", "#ff0000", "#ffff0000"; else None.

    An unknown colour is no reason to stop a training run: the range then has none.
    """
    try:
        return _cache[color]
    except KeyError:
        number = _cache[color] = _parse(color)
        return number
    except TypeError:  # not hashable
        return None


def _parse(color):
    if isinstance(color, int):
        return color & 0xFFFFFFFF
    if not isinstance(color, str):
        return None
    name = color.strip().lower()
    if name in _NAMES:
        return 0xFF000000 | _NAMES[name]
    digits = name[1:] if name.startswith("#") else name[2:] if name.startswith("0x") else ""
    try:
        number = int(digits, 16)
    except ValueError:
        return None
    return number if len(digits) == 8 else 0xFF000000 | number & 0xFFFFFF
