"""Code that the bridge loads from a cache: only where nobody else can write (_private_folder.py)."""
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.join(SOURCE, "python", "batchlight")


def load(name):
    """A module of the package, without the recorder."""
    for package, folder in (("package", PACKAGE), ("package.bridge", os.path.join(PACKAGE, "_bridge"))):
        sys.modules.setdefault(package, types.ModuleType(package)).__path__ = [folder]
    sys.modules.setdefault("_batchlight_native", types.ModuleType("_batchlight_native"))
    return importlib.import_module("package." + name)


def own_place(test):
    """A folder in a trusted place: where all write /tmp without the sticky bit, the present folder may be one."""
    private = load("_private_folder")
    for where in (None, os.getcwd()):
        try:
            folder = os.path.realpath(tempfile.mkdtemp(dir=where))
            test.addCleanup(shutil.rmtree, folder)
            private.check(folder)
            return folder
        except (OSError, private.NotPrivate) as why:
            reason = why
    raise unittest.SkipTest(str(reason))


# In a namespace of one user: / and the folder of another have the same owner there.
UNMAPPED = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[2])
from batchlight import _private_folder
libc, own, folder = ctypes.CDLL(None), 4243, sys.argv[1]
os.setgid(own)
os.setuid(own)
libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE
if libc.unshare(0x10000000) != 0:  # CLONE_NEWUSER
    sys.exit(100)
with open("/proc/self/uid_map", "w") as file:
    file.write("%d %d 1" % (own, own))
if os.stat("/").st_uid in (0, own):
    sys.exit(100)
_private_folder.check(folder + "/mine")
try:
    _private_folder.check(folder + "/others/deep")
except _private_folder.NotPrivate as why:
    print(why)
"""


class PrivateFolder(unittest.TestCase):
    def setUp(self):
        self.private = load("_private_folder")
        self.folder = own_place(self)
        before = os.umask(0o002)
        self.addCleanup(os.umask, before)

    def file(self, mode=0o600):
        path = os.path.join(self.folder, "torch_ops.so")
        with open(path, "w"):
            os.chmod(path, mode)
        return path

    def refuses(self, path, why):
        with self.assertRaisesRegex(self.private.NotPrivate, why):
            self.private.check(path)

    def test_what_is_the_users_alone(self):
        self.private.check(self.file())
        deep = os.path.join(self.folder, "a", "b")
        self.private.make(deep)
        self.assertEqual(os.stat(deep).st_mode & 0o777, 0o700)

    def test_file_or_folder_that_a_group_may_write(self):
        self.refuses(self.file(0o660), "torch_ops.so can be written by other users")
        path = self.file()
        os.chmod(self.folder, 0o770)
        self.refuses(path, "%s can be written by other users" % self.folder)

    def test_link(self):
        path = os.path.join(self.folder, "link")
        os.symlink(self.file(), path)
        self.refuses(path, "belongs to someone else")

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user")
    def test_another_users(self):
        path = self.file()
        os.chown(path, 65534, -1)
        self.refuses(path, "torch_ops.so belongs to someone else")
        os.chown(path, 0, -1)
        os.chown(self.folder, 65534, -1)
        self.refuses(path, "%s belongs to someone else" % self.folder)

    @unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user")
    def test_another_users_who_has_no_number(self):
        os.chmod(self.folder, 0o755)
        os.chown(self.folder, 4243, -1)
        shared, source = os.path.join(self.folder, "shared"), os.path.join(self.folder, "source")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        shutil.copytree(PACKAGE, os.path.join(source, "batchlight"), ignore=shutil.ignore_patterns("__pycache__"))
        for name, owner in (("mine", 4243), ("others", 4242), ("others/deep", 4243)):
            os.mkdir(os.path.join(shared, name))
            os.chown(os.path.join(shared, name), owner, -1)
            os.chmod(os.path.join(shared, name), 0o755)
        done = subprocess.run([sys.executable, "-B", "-c", UNMAPPED, shared, source], capture_output=True, text=True)
        if done.returncode == 100:
            self.skipTest("no user namespace")
        self.assertEqual((done.returncode, done.stdout), (0, "%s/others belongs to someone else\n" % shared), done.stderr)


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = own_place(self)
        self.operators = load("bridge._torch_library")
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = self.folder
        self.addCleanup(lambda: os.environ.pop("XDG_CACHE_HOME") if before is None
                        else os.environ.__setitem__("XDG_CACHE_HOME", before))

    def test_the_users_own(self):
        self.assertEqual(self.operators._cache(),
                         os.path.join(self.folder, "batchlight", "torch_ops"))

    def test_one_that_others_may_write_is_not_used(self):
        os.makedirs(os.path.join(self.folder, "batchlight", "torch_ops"))
        os.chmod(os.path.join(self.folder, "batchlight"), 0o777)
        try:
            self.assertFalse(self.operators._cache().startswith(self.folder))
        except self.operators.CannotBuild as why:  # nor is a /tmp that all write
            self.assertIn("can be written by other users", str(why))

    def test_a_planted_library_is_not_loaded(self):
        path = os.path.join(self.operators._cache(), "torch_ops.so")
        self.assertFalse(self.operators._is_built(path))
        with open(path, "w"):
            os.chmod(path, 0o666)
        with self.assertRaisesRegex(self.operators.CannotBuild, "not loaded: remove it"):
            self.operators._is_built(path)
        os.chmod(path, 0o600)
        self.assertTrue(self.operators._is_built(path))


if __name__ == "__main__":
    unittest.main()
