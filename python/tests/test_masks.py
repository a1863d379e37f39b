"""When the masks of attention are looked at, and what happens where the look fails."""
import sys
import types
import unittest

from bridge_case import BridgeCase


class Library:
    """The operator recorder's, as far as it is asked."""

    def __init__(self, on_gpu=0, begins=0, operands=b""):
        self.operands = operands
        self.on_gpu, self.begins, self.calls = on_gpu, begins, []

    def batchlight_torch_masks_begin(self):
        self.calls.append("begin")
        return self.begins

    def batchlight_torch_masks_end(self):
        self.calls.append("end")

    def batchlight_torch_masks_take(self, copies):
        self.calls.append("take" if copies else "drop")
        return self.on_gpu if copies else 0

    def batchlight_torch_masks_tell(self, copied, text, _):
        self.calls.append("tell" if copied else "tell uncopied")
        text.value = b"1 1 0 0 128 Bool 128x128"
        return 0

    def batchlight_torch_operands_tell(self, text, _):
        text.value = self.operands
        return 0


class Masks(BridgeCase):
    name = "_torch_operators"

    def watch(self, library, copied=True):
        event = types.SimpleNamespace(record=lambda: None, query=lambda: copied)
        torch = types.SimpleNamespace(cuda=types.SimpleNamespace(Event=lambda: event))
        ctypes = types.SimpleNamespace(
            create_string_buffer=lambda _: types.SimpleNamespace(value=b""), c_size_t=lambda size: size)
        self.module.is_followed_by_others = lambda _: False
        self.progress = sys.modules[self.module.__package__ + "._torch_progress"]
        self.progress.watchers[:] = [self.module.Masks(torch, library, ctypes)]

    def steps(self, count):
        for _ in range(count):
            self.progress.update_begins()

    def test_two_steps_are_looked_at(self):
        library = Library()
        self.watch(library)
        self.steps(20)
        self.assertEqual(library.calls, ["begin", "take", "end", "take", "tell", "drop"])
        self.assertEqual(self.said, {"attention.masks": "1 1 0 0 128 Bool 128x128"})
        self.assertEqual(self.progress.watchers, [])

    def test_what_operators_are_given_is_told_behind_the_two_steps(self):
        self.watch(Library(operands=b"indexed 12 5000 64 2 index:7 index:9"))
        self.steps(3)
        self.assertEqual(self.said["forward.operands"], "indexed 12 5000 64 2 index:7 index:9")

    def test_a_gpu_is_not_waited_for(self):
        library = Library(on_gpu=1)
        self.watch(library, copied=False)
        self.steps(20)
        self.assertEqual(library.calls, ["begin", "take", "end", "take", "tell uncopied", "drop"])

    def test_under_a_mode_or_a_capture_nothing_is_copied(self):
        library = Library()
        self.watch(library)
        self.module.is_followed_by_others = lambda _: True
        self.steps(20)
        self.assertEqual(library.calls, ["begin", "drop", "end", "drop", "tell", "drop"])

    def test_what_fails_is_over(self):
        def fail(_):
            raise RuntimeError("no")
        for library in (Library(begins=-1), Library(on_gpu=-1), Library(on_gpu=1)):
            self.watch(library)
            if library.on_gpu == 1:
                self.module.is_followed_by_others = fail
            self.steps(20)
            self.assertEqual(self.progress.watchers, [])
            self.assertEqual(library.calls[-1], "drop")
            self.assertEqual(self.said, {})


if __name__ == "__main__":
    unittest.main()
