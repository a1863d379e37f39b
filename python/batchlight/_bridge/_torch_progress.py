"""How far training is: how many backwards and steps of optimizers there were, and whether a backward runs."""
import sys

backwards = 0  # that began and that no other one encloses
updates = 0    # steps of optimizers that began
watchers = []  # called when one begins; each takes itself out, and raises nothing


def backward_begins():
    global backwards
    backwards += 1


def update_begins():
    global updates
    updates += 1
    for watcher in list(watchers) if watchers else ():
        watcher()


def inside_backward(torch):
    """A function that says whether a backward is calling on this thread, as checkpointing does, which runs
    a forward and a backward inside the backward."""
    graph_task = getattr(torch._C, "_current_graph_task_id", None)
    if graph_task is not None:
        return lambda: graph_task() != -1
    # Before PyTorch 2.0, apply() runs backward functions written in Python.
    code = torch.autograd.function.BackwardCFunction.apply.__code__

    def inside():
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code is code:
                return True
            frame = frame.f_back
        return False

    return inside
