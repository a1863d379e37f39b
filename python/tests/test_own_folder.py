"""What is removed, and what is not."""
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from batchlight import _private_folder  # noqa: E402
from batchlight._own_folder import OwnFolder, write_beside  # noqa: E402
from batchlight._tool import ToolError  # noqa: E402


def write(folder, name):
    with open(os.path.join(folder, name), "w") as file:
        file.write(name)


class Own(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name

    def test_is_removed_with_all_that_is_in_it(self):
        with OwnFolder("own_", self.place) as folder:
            os.makedirs(os.path.join(folder, "a", "b"))
            write(os.path.join(folder, "a"), "file")
            os.symlink(self.place, os.path.join(folder, "link"))
            write(self.place, "beside")
        self.assertEqual(os.listdir(self.place), ["beside"])

    def test_what_has_its_name_by_then_is_left(self):
        own = OwnFolder("own_", self.place)
        os.rename(own.path, os.path.join(self.place, "away"))
        os.mkdir(own.path)
        write(own.path, "work")
        own.remove()
        self.assertEqual(os.listdir(own.path), ["work"])

    def test_no_descriptor_is_held_that_a_program_could_close(self):
        before = os.listdir("/proc/self/fd")
        own = OwnFolder("own_", self.place)
        self.assertEqual(os.listdir("/proc/self/fd"), before)
        own.remove()

    def test_lies_where_nobody_else_could_exchange_it(self):
        for mode, taken in ((0o700, True), (0o755, True), (0o1777, True), (0o777, False), (0o2770, False), (0o500, os.geteuid() == 0)):
            os.chmod(self.place, mode)
            with mock.patch.dict(os.environ, TMPDIR=self.place), OwnFolder("own_") as folder:
                self.assertEqual(os.path.dirname(folder), os.path.realpath(self.place) if taken else "/tmp", oct(mode))
        os.chmod(self.place, 0o700)

    def test_a_place_on_the_way_to_which_others_write_is_none(self):
        deep = os.path.join(self.place, "deep")
        os.mkdir(deep, 0o700)
        os.chmod(self.place, 0o777)
        with mock.patch.dict(os.environ, TMPDIR=deep):
            self.assertEqual(_private_folder.temporary_place(), "/tmp")
        os.chmod(self.place, 0o700)

    def test_a_place_that_is_not_there_is_none(self):
        for place in ("", os.path.join(self.place, "missing")):
            with mock.patch.dict(os.environ, TMPDIR=place):
                self.assertEqual(_private_folder.temporary_place(), "/tmp")

    def test_says_what_to_do_where_there_is_no_place(self):
        os.chmod(self.place, 0o777)
        with mock.patch.dict(os.environ, TMPDIR=self.place), \
                mock.patch.object(_private_folder, "_TMP", self.place), \
                self.assertRaisesRegex(ToolError, "can be written by other users; set TMPDIR to a folder that you alone"):
            OwnFolder("own_")

    def test_a_long_name_of_many_bytes_is_written(self):
        path = os.path.join(self.place, "\u4e2d" * 80 + ".py.prof")
        write_beside(path, b"data")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"data")
        self.assertEqual(len(os.listdir(self.place)), 1)


if __name__ == "__main__":
    unittest.main()
