"""What a user installs, made from this build: the wheel in every Python that is here, the .deb and the
archive in Debian 11 (tools/old_userland.sh), `cmake --install` in a folder. Each is installed, tried
and removed, and then nothing is left."""
import base64
import csv
import glob
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import BUILD, SOURCE, InFolder, count, dump, run  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, "tools"))
from check_inject_so import symbols, too_new  # noqa: E402

AUDITWHEEL = os.path.join(SOURCE, "build", "auditwheel", "bin", "auditwheel")
OLD_USERLAND = os.path.join(SOURCE, "build", "old-userland")
PROGRAM = """
import threading, batchlight
with batchlight.annotate("outer"):
    thread = threading.Thread(target=lambda: batchlight.mark("inner"))
    thread.start()
    thread.join()
"""


def checked(*words, **options):
    done = run(*words, **options)
    if done.returncode != 0:
        raise AssertionError("%s: %s%s" % (words, done.stdout, done.stderr))
    return done.stdout


def pythons():
    """A Python of each version from 3.8 on."""
    found = {}
    places = os.environ.get("PATH", "").split(":") + glob.glob(
        os.path.expanduser("~/.pyenv/versions/*/bin"))
    for place in places:
        for path in glob.glob(os.path.join(place, "python3.*")):
            minor = os.path.basename(path)[len("python3."):]
            if minor.isdigit() and int(minor) >= 8 and "shims" not in path:
                found.setdefault(int(minor), path)
    return [path for _, path in sorted(found.items())]


def files(folder):
    """All that lies in a folder, but for what Python compiles as it runs."""
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, folders, names in os.walk(folder) for name in folders + names
                  if "__pycache__" not in os.path.join(place, name))


# Below share/, of every install but the wheel's.
READ_BY_SHELLS = ("man/man1/batchlight.1", "man/man1/batchlight-profile.1", "bash-completion/completions/batchlight",
                  "zsh/site-functions/_batchlight", "zsh/vendor-completions/_batchlight",
                  "fish/vendor_completions.d/batchlight.fish")


def make_wheel(folder):
    return checked(os.path.join(SOURCE, "tools", "make_wheel.py"), BUILD, folder).strip()


class Made(InFolder):
    """A wheel and packages, made once."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="batchlight-packages-")
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)

    def recorded_by(self, tool, *words):
        """The tool records a program that uses the package."""
        with open(self.path("program.py"), "w") as file:
            file.write(PROGRAM)
        checked(tool, "profile", "-f", "true", "-o", "run", *words, "program.py", cwd=self.folder,
                env=self.environment)
        records = dump(self.path("run.batchlight"))
        self.assertEqual((count(records, "RangePush"), count(records, "Mark")), (1, 1))


class Wheel(Made):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wheel = make_wheel(cls.made)

    def test_the_same_build_gives_the_same_bytes(self):
        with open(self.wheel, "rb") as first, open(make_wheel(self.folder), "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_what_is_in_it_fits_its_tag(self):
        self.assertRegex(os.path.basename(self.wheel),
                         r"^batchlight-[\d.]+-py3-none-manylinux2014_(x86_64|aarch64)\.whl$")
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(self.folder)
            names = archive.namelist()
            modes = {name: archive.getinfo(name).external_attr >> 16 for name in names}
            listed = [name for name in names if name.endswith("/RECORD")]
            rows = {path: digest for path, digest, _ in
                    csv.reader(io.StringIO(archive.read(listed[0]).decode()))}
            self.assertEqual(set(rows), set(names))
            for name in set(names) - set(listed):
                digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest())
                self.assertEqual(rows[name], "sha256=" + digest.decode().rstrip("="), name)
        programs = {}
        for name in names:
            with open(self.path(name), "rb") as file:
                if file.read(4) == b"\x7fELF":
                    programs[os.path.basename(name)] = name
        self.assertEqual(set(programs), {"batchlight", "host_query", "libbatchlight_inject.so",
                                          "libbatchlight_osrt.so", "libbatchlight_memory.so",
                                          "libbatchlight_timers.so"})
        for name in programs.values():
            self.assertEqual(list(too_new(symbols(self.path(name))[0])), [], name)
        for name in ("batchlight", "host_query"):
            self.assertEqual(modes[programs[name]] & 0o111, 0o111, name)

    @unittest.skipUnless(os.path.exists(AUDITWHEEL), "no auditwheel here (tools/install_readers.sh)")
    def test_auditwheel_agrees_with_the_tag(self):
        said = " ".join(checked(AUDITWHEEL, "show", self.wheel).split())
        self.assertRegex(said, r'is consistent with the following platform tag: "manylinux_2_17_')

    def test_every_python(self):
        self.assertTrue(pythons())
        for python in pythons():
            with self.subTest(python):
                self.in_environment(python)

    def in_environment(self, python):
        folder = self.path("environment")
        checked(python, "-m", "venv", folder)
        before = files(folder)
        inside = os.path.join(folder, "bin", "python")
        tool = os.path.join(folder, "bin", "batchlight")
        self.environment["PATH"] = os.path.dirname(tool) + ":/usr/bin:/bin"
        pip = [inside, "-m", "pip", "-q", "--disable-pip-version-check"]
        checked(*pip, "install", "--no-index", self.wheel)
        version = checked(tool, "--version").split()[-1]
        alone = "import batchlight; batchlight.mark('nothing'); print(batchlight.__version__)"
        self.assertEqual(checked(inside, "-c", alone).strip(), version)
        doctor = checked(tool, "doctor", env=self.environment)
        self.assertRegex(doctor, r"(?m)^ok +installation +" + os.path.realpath(folder) + "$")
        self.assertNotIn("host_query", doctor)
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.recorded_by(tool, inside)
        # Programs of another Python are recorded too; pip does not know of the bytecode that it writes.
        for other in [path for path in pythons() if path != python][:1]:
            self.recorded_by(tool, other)
        checked(*pip, "uninstall", "-y", "batchlight")
        # pip leaves folders that held nothing but other folders.
        left = [name for name in files(folder) if name not in before]
        left += glob.glob(os.path.join(folder, "share", "batchlight", "**", "*.pyc"), recursive=True)
        self.assertEqual([name for name in left if not os.path.isdir(os.path.join(folder, name))], [])
        shutil.rmtree(folder)


class Install(Made):
    def test_others_write_into_none_of_it_whatever_the_umask(self):
        checked("cmake", "--install", BUILD, "--prefix", self.path("open"),
                preexec_fn=lambda: os.umask(0))
        places = [self.path("open/" + name) for name in files(self.path("open"))]
        self.assertGreater(len(places), 50)
        self.assertEqual([place for place in places if os.lstat(place).st_mode & 0o022 and
                          not os.path.islink(place)], [])

    def test_a_folder_that_is_moved(self):
        checked("cmake", "--install", BUILD, "--prefix", self.path("first"), "--strip")
        os.rename(self.path("first"), self.path("second"))
        tool = self.path("second/bin/batchlight")
        self.environment["PYTHONPATH"] = self.path("second/share/batchlight/python")
        for name in READ_BY_SHELLS:
            self.assertTrue(os.path.getsize(self.path("second/share/" + name)), name)
        self.recorded_by(tool, sys.executable)
        os.remove(self.path("second/lib/batchlight/host_query"))
        self.assertIn("host_query is missing", checked(tool, "doctor"))
        for word, program in (("signal 9", "#!/bin/sh\nkill -9 $$\n"), ("does not start", "")):
            with open(self.path("second/lib/batchlight/host_query"), "w") as file:
                file.write(program)
            os.chmod(self.path("second/lib/batchlight/host_query"), 0o755)
            self.assertIn(word, checked(tool, "doctor"))


@unittest.skipUnless(os.path.exists(os.path.join(OLD_USERLAND, "complete")),
                     "no Debian 11 here (tools/old_userland.sh)")
class OldUserland(Made):
    """Debian 11: glibc 2.31, Python 3.9, dpkg 1.20."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.uname().machine != "x86_64":
            raise unittest.SkipTest("Debian 11 is there for x86-64")
        make_wheel(cls.made)
        subprocess.run(["cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", cls.made],
                       check=True, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.umask(0))

    def setUp(self):
        super().setUp()
        self.root = self.path("root")
        checked("cp", "-a", OLD_USERLAND, self.root)
        for pattern in ("*.whl", "*.deb", "*.tar.zst"):
            shutil.copy(glob.glob(os.path.join(self.made, pattern))[0], self.root)
        with open(os.path.join(self.root, "program.py"), "w") as file:
            file.write(PROGRAM)
        open(os.path.join(self.root, "var/lib/dpkg/status"), "a").close()

    def inside(self, script):
        """Runs a shell script in the old system."""
        mounts = "mount -t proc proc {0}/proc && mount --rbind /dev {0}/dev && exec chroot {0} "
        mounts += "/usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root bash -ec \"$0\""
        words = ["unshare", "--mount", "--pid", "--fork"] + (["--map-root-user"] if os.getuid() else [])
        return checked(*words, "bash", "-c", mounts.format(self.root), script)

    def files(self):
        return [name for name in files(self.root) if not name.startswith(("proc/", "dev/", "tmp/"))]

    def tried(self, tool, python="python3"):
        return ("{0} --version; {0} doctor; cd /tmp; {0} profile -f true -o run {1} /program.py\n"
                "{0} trace dump run.batchlight | grep -c -E ' (RangePush|Mark)( |$)'\n"
                "rm run.batchlight; cd /").format(tool, python)

    def check_trial(self, output):
        self.assertRegex(output, r"(?m)^ok +Python .* 3\.9\.")
        self.assertRegex(output, r"(?m)^note +GPU +no NVIDIA driver")
        self.assertEqual(output.split("\n")[-2], "2", "two events are recorded")

    def check_files_of_shells(self, share):
        for name in READ_BY_SHELLS:
            self.assertTrue(os.path.getsize(os.path.join(self.root, share, name)), name)
        # Of bash, which is what Debian 11 brings.
        completed = self.inside(". /%s/bash-completion/completions/batchlight; complete -p batchlight" % share)
        self.assertIn("batchlight", completed)

    def test_others_write_into_none_of_it(self):
        for words in (("dpkg-deb", "-c", *glob.glob(os.path.join(self.made, "*.deb"))),
                      ("tar", "-tvf", *glob.glob(os.path.join(self.made, "*.tar.zst")))):
            lines = checked(*words).splitlines()
            self.assertGreater(len(lines), 50)
            self.assertEqual([line for line in lines if "w" in line[4:10] and line[0] != "l"], [])

    def test_deb(self):
        before = self.files()
        use = "export PYTHONPATH=/usr/share/batchlight/python\n"
        self.check_trial(self.inside("dpkg -i /*.deb\n" + use + self.tried("batchlight")))
        self.check_files_of_shells("usr/share")
        self.inside("dpkg -r batchlight")
        self.assertFalse([name for name in self.files() if name not in before and "dpkg" not in name])

    def test_archive(self):
        before = self.files()
        unpack = "mkdir /b; tar -xf /*.tar.zst -C /b --strip-components=1\n"
        use = "export PYTHONPATH=/b/share/batchlight/python\n"
        self.check_trial(self.inside(unpack + use + self.tried("/b/bin/batchlight")))
        self.check_files_of_shells("b/share")
        self.inside("rm -r /b")
        self.assertEqual(self.files(), before)

    def test_wheel(self):
        script = "python3 -m venv /venv; /venv/bin/pip -q install --no-index /*.whl\n"
        self.check_trial(self.inside(script + self.tried("/venv/bin/batchlight", "/venv/bin/python")))


if __name__ == "__main__":
    unittest.main()
