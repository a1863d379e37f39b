"""What is removed, and what is not."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from batchlight import _private_folder, _tool  # noqa: E402
from batchlight._own_folder import OwnFolder, write_beside  # noqa: E402
from batchlight._tool import ToolError  # noqa: E402


def write(folder, name):
    with open(os.path.join(folder, name), "w") as file:
        file.write(name)


class Own(unittest.TestCase):
    def setUp(self):
        # Where /tmp is written by all without the sticky bit, the present folder may do.
        for where in (None, os.getcwd()):
            try:
                place = tempfile.TemporaryDirectory(dir=where)
                self.addCleanup(place.cleanup)
                self.place, self.other = (os.path.join(os.path.realpath(place.name), name) for name in ("place", "other"))
                for path in (self.place, self.other):
                    os.mkdir(path, 0o700)
                _private_folder.check(self.place)
                break
            except (OSError, _private_folder.NotPrivate) as why:
                reason = why
        else:
            self.skipTest(str(reason))
        system = mock.patch.object(_private_folder, "_TMP", self.other)
        system.start()
        self.addCleanup(system.stop)

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
                self.assertEqual(os.path.dirname(folder), self.place if taken else self.other, oct(mode))
        os.chmod(self.place, 0o700)

    def test_a_place_on_the_way_to_which_others_write_is_none(self):
        deep = os.path.join(self.place, "deep")
        os.mkdir(deep, 0o700)
        os.chmod(self.place, 0o777)
        with mock.patch.dict(os.environ, TMPDIR=deep):
            self.assertEqual(_private_folder.temporary_place(), (self.other, ""))
        os.chmod(self.place, 0o700)

    def test_a_place_that_is_not_there_is_none(self):
        for place in ("", os.path.join(self.place, "missing")):
            with mock.patch.dict(os.environ, TMPDIR=place):
                self.assertEqual(_private_folder.temporary_place(), (self.other, ""))

    def test_says_what_to_do_where_there_is_no_place(self):
        missing = os.path.join(self.place, "missing")
        with mock.patch.dict(os.environ, TMPDIR=missing), \
                mock.patch.object(_private_folder, "_TMP", missing), \
                self.assertRaisesRegex(ToolError, "No such file.*; set TMPDIR to a folder that you alone can write"):
            OwnFolder("own_")

    def test_where_no_place_will_do_one_is_taken_with_a_line(self):
        # A volume of mode 0777 as /tmp, as containers get.
        mine = os.path.join(self.other, "mine")
        os.mkdir(mine, 0o700)
        os.chmod(self.other, 0o777)
        for place in (self.other, mine):
            said = io.StringIO()
            with mock.patch.dict(os.environ, TMPDIR=place), mock.patch.object(_tool, "_said_of", []), \
                    contextlib.redirect_stderr(said):
                for _ in range(2):
                    with OwnFolder("own_") as folder:
                        self.assertEqual(os.path.dirname(folder), place)
                        self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
            self.assertEqual(said.getvalue(), "batchlight: other users could exchange the temporary files in %s: %s can be "
                             "written by other users; set TMPDIR to a folder where they cannot\n" % (place, self.other))

    def test_a_long_name_of_many_bytes_is_written(self):
        path = os.path.join(self.place, "\u4e2d" * 80 + ".py.prof")
        write_beside(path, b"data")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"data")
        self.assertEqual(len(os.listdir(self.place)), 1)


if __name__ == "__main__":
    unittest.main()
