"""torch.profiler started by the program while CUDA is recorded: CUPTI serves one tool at a time, so it
gets no GPU events from us on. It warns about that itself; the recording says it too."""
import _batchlight_native as _native

from ._importlib_bootstrap import followed_by

_TEXT = ("the program started torch.profiler, which got no GPU events: CUPTI serves one tool at a "
         "time, and this recording has them. Without batchlight it gets them again")


def install(module):
    """`module` is torch.autograd.profiler, through which torch.profiler goes too."""
    owner = module.profile
    if hasattr(owner, "_prepare_trace"):
        owner._prepare_trace = followed_by(owner._prepare_trace, _say)


def _say(profile):
    wanted = {getattr(activity, "name", "") for activity in profile.kineto_activities}
    if "CUDA" in wanted and _native.holds_cupti():
        _native.reason("torch.profiler", _TEXT)
