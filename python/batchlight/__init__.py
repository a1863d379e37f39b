"""Marks parts of a program for the batchlight profiler.

    with batchlight.annotate("load", color="green"): ...

Under `batchlight profile` the calls are recorded; without it they do nothing. The functions have
the names and arguments of the `nvtx` package, so `import batchlight as nvtx` works too.
"""
try:
    # This package under the name that the profiler gives it, in a process that it records.
    from _batchlight._recorded import (
        Domain, Profile, annotate, collecting, enabled, end_range, get_domain, mark, pop_range,
        profile, profile_start, profile_stop, push_range, start_range)
except ImportError:
    from ._ignored import (
        Domain, Profile, annotate, collecting, enabled, end_range, get_domain, mark, pop_range,
        profile, profile_start, profile_stop, push_range, start_range)

__version__ = "0.1.0"


def show(run, **options):
    """The timeline of a run in a notebook: see batchlight._show.show for the options."""
    from ._show import show as show_run  # programs that are recorded need nothing of it
    return show_run(run, **options)


def load_ipython_extension(shell):
    """%load_ext batchlight: the magics %lprun and %cprun."""
    from ._magics import register
    register(shell)


__all__ = [
    "Domain", "Profile", "annotate", "collecting", "enabled", "end_range", "get_domain", "mark",
    "pop_range", "profile", "profile_start", "profile_stop", "push_range", "show", "start_range"]
