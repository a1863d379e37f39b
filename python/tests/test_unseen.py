"""Numbers of tensors are copied without a fault, whatever their memory is."""
import mmap
import tempfile
import unittest

from bridge_case import BridgeCase, Tensor

try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipIf(numpy is None, "no NumPy in this Python")
class Unseen(BridgeCase):
    name = "_torch_unseen"

    def test_copies_are_as_the_numbers_lie(self):
        whole = numpy.arange(3 * 50 * 70, dtype="i8").reshape(3, 50, 70)
        for array in (whole, whole[1], whole[0].T, whole[:, ::2, 5:60:3], whole[2, 3], whole[2, 3, 4], whole[:0],
                      whole.astype("f2"), whole > 7, numpy.zeros(1 << 20), numpy.broadcast_to(whole[0, 0], (4, 70))):
            tensor = Tensor(numpy.asarray(array))
            if array.base is not None:  # of a part the storage is larger
                tensor.untyped_storage = Tensor(whole).untyped_storage
            copied = self.module.array_of(tensor, 1 << 24)
            self.assertEqual((copied.dtype, copied.tolist()), (array.dtype, array.tolist()))
            for most in (1, 7, 256, 5000):
                some = self.module.some_of(tensor, most)
                step = max(1, array.size // most) | 1
                self.assertEqual(some.tolist(), numpy.asarray(array).flat[::step].tolist())
        self.assertRaises(ValueError, self.module.array_of, Tensor(whole), 1000)

    def test_a_mapped_file_that_became_shorter(self):
        with tempfile.TemporaryFile() as file:
            file.truncate(1 << 20)
            numbers = Tensor(numpy.frombuffer(mmap.mmap(file.fileno(), 1 << 20), "i8").reshape(2, -1))
            self.assertEqual(self.module.array_of(numbers, 1 << 24).sum(), 0)
            file.truncate(1 << 13)  # some of it is left
            self.assertRaises(OSError, self.module.array_of, numbers, 1 << 24)
            self.assertRaises(OSError, self.module.some_of, numbers, 256)


if __name__ == "__main__":
    unittest.main()
