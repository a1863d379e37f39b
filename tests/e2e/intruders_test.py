"""What other users of the machine try while a program is recorded: with links, pipes and folders
in the place of ours, with files cut short, with code of their own. docs/security.md is the list."""
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import (BATCHLIGHT, BUILD, FAULT_PROGRAM, LONG_S, SOURCE, InFolder,  # noqa: E402
                      count, dump, run, why_no_samples)

USER = "nobody"


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class OthersOfTheGroup(InFolder):
    """The folder may be written by a group, and the umask keeps nothing from it."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o775)
        before = os.umask(0o002)
        self.addCleanup(os.umask, before)

    def test_what_is_recorded_is_the_users_alone(self):
        tool = self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-o", "run",
                          FAULT_PROGRAM, "paced")
        live = self.path("run.batchlight.live")
        files = {"control", "tool.blp", "python.blp"}
        self.until(lambda: os.path.isdir(live) and set(os.listdir(live)) > files, "nothing recorded")
        self.assertEqual(mode_of(live), 0o700)
        for name in os.listdir(live):
            self.assertEqual(mode_of(os.path.join(live, name)), 0o600, name)
        tool.send_signal(signal.SIGTERM)
        tool.wait(60)
        self.assertEqual(mode_of(self.path("run.batchlight")), 0o600)

    def test_sessions_of_a_folder_that_others_write_are_refused(self):
        os.mkdir(os.path.join(self.runtime, "batchlight"), 0o770)
        os.chmod(os.path.join(self.runtime, "batchlight"), 0o770)
        done = self.batchlight("sessions", "list")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("others may write into it", done.stderr)

    def test_sessions_are_not_kept_in_the_folder_of_another_user(self):
        os.chmod(self.runtime, 0o777)  # as good as another's: anybody can exchange what is in it
        self.batchlight("sessions", "list")
        self.assertEqual(os.listdir(self.runtime), [])

    def test_the_browsers_page_is_not_kept_in_the_folder_of_another_user(self):
        """After `su` the variable is still that of the user before."""
        with open(self.path("xdg-open"), "w") as file:
            file.write("#!/bin/sh\ndirname \"$1\" >%s.part; mv %s.part %s\n" % ((self.path("seen"),) * 3))
        os.chmod(self.path("xdg-open"), 0o755)
        self.environment.update(DISPLAY=":9", PATH=self.folder + ":" + self.environment["PATH"])
        recording = os.path.join(SOURCE, "examples", "train_h200.batchlight")

        def place():
            tool = self.begin("view", recording)
            self.until(lambda: self.text("seen"), "no browser was started")
            tool.kill()
            tool.wait(LONG_S)
            seen = self.text("seen").strip()
            os.remove(self.path("seen"))
            return seen

        self.assertEqual(place(), self.runtime)
        os.chmod(self.runtime, 0o777)  # as good as another's
        self.assertEqual(place(), "/tmp")
        if os.getuid() == 0:
            os.chmod(self.runtime, 0o700)
            shutil.chown(self.runtime, USER)
            self.assertEqual(place(), "/tmp")

    def stand_ins(self, names):
        """Programs in the present folder that say in `taken` that they ran."""
        for name in names:
            with open(self.path(name), "w") as file:
                file.write("#!/bin/sh\necho %s >>%s\nexec %s \"$@\"\n"
                           % (name, self.path("taken"), shutil.which(name) or "/bin/true"))
            os.chmod(self.path(name), 0o755)

    def test_programs_of_ours_are_not_taken_from_the_present_folder(self):
        """An empty or relative entry of PATH leads to it, and it may be anybody's, as /tmp is."""
        self.stand_ins(("python3", "python", "python3.11", "sh", "timeout", "xdg-open", "squeue", "scontrol", "srun",
                        "c++", "g++", "ldconfig", "gcc", "uname", "nvdisasm", "batchlight"))
        recording = os.path.join(SOURCE, "examples", "train_h200.batchlight")
        for name in ("scripts", "bin"):
            os.mkdir(self.path(name))
        for name, text in (("script.py", "print('once')\n"), ("scripts/mine.py", "print('a')\nprint(1)\n"),
                           ("bin/xdg-open", "#!/bin/sh\necho >%s\n" % self.path("seen"))):
            with open(self.path(name), "w") as file:
                file.write(text)
        os.chmod(self.path("bin/xdg-open"), 0o755)
        self.environment["NSYS_STATS_REPORT_PATH"] = self.path("scripts")
        self.environment["DISPLAY"] = ":9"
        for path in (":%s", "%s:", ".:%s"):
            self.environment["PATH"] = path % (self.path("bin") + ":/usr/bin:/bin")
            for words, code in ((("doctor",), 0), (("kernprof", "script.py"), 0), (("stats", "-r", "mine", recording), 0),
                                (("probe", "gpu"), None), (("probe", "loader", "script.py"), None),
                                (("ranks", "--engine=slurm:1", recording), 2)):
                done = self.batchlight(*words)
                self.assertEqual(self.text("taken"), "", (path, words, done.stdout + done.stderr))
                if code is not None:
                    self.assertEqual(done.returncode, code, (path, words, done.stdout + done.stderr))
            tool = self.begin("view", recording)
            self.until(lambda: os.path.exists(self.path("seen")) or self.text("taken"), "no browser was started")
            self.assertEqual(self.text("taken"), "")
            os.remove(self.path("seen"))
            tool.kill()
            tool = run("/usr/bin/python3", "-c", "import sys; sys.path.insert(0, sys.argv[1])\n"
                       "from batchlight._tool import find_tool\ntry: print(find_tool())\nexcept Exception: print()",
                       os.path.join(SOURCE, "python"), cwd=self.folder, env=self.environment).stdout.strip()
            self.assertTrue(tool == "" or tool.startswith("/") and not tool.startswith(self.folder), tool)

    def test_programs_of_the_users_are_found_as_by_a_shell(self):
        self.stand_ins(("cat", "true"))
        self.environment["PATH"] = ":/usr/bin:/bin"
        recording = os.path.join(SOURCE, "examples", "train_h200.batchlight")
        for words in (("profile", "-t", "none", "true"), ("stats", "-r", "cuda_gpu_kern_sum", "-o", "@cat", recording),
                      ("profile", "-t", "none", "--after-report-ready=cat </dev/null", "/bin/true")):
            self.batchlight(*words)
            self.assertNotEqual(self.text("taken"), "", words)
            os.remove(self.path("taken"))

    def test_of_two_that_overwrite_one_name_one_is_recorded(self):
        for _ in range(10):
            tools = [self.begin("profile", "-t", "none", "--pytorch=autograd-nvtx", "-f", "-o",
                                "run", FAULT_PROGRAM, "operators", 100, stderr=-1)
                     for _ in range(4)]
            ends = [tool.communicate(timeout=60)[1] for tool in tools]
            fine = 0
            for tool, said in zip(tools, ends):
                if tool.returncode == 0:
                    fine += 1
                    self.assertNotIn("holds no", said)
                else:
                    self.assertEqual(tool.returncode, 4, said)
                    self.assertIn("run.batchlight.live is in use by", said)
            self.assertGreater(fine, 0)
            self.assertEqual(self.files(), ["run.batchlight"])
            self.assertEqual(count(self.opens("run.batchlight"), "OpEnd"), 110)

    def exchange_partial_folder(self, tool, place):
        """Puts a link to `place` where the tool fills a folder; False if it ended before that."""
        while tool.poll() is None:
            for name in self.files():
                if ".partial-" in name:
                    tool.send_signal(signal.SIGSTOP)
                    try:
                        os.rename(self.path(name), self.path("taken"))
                        os.symlink(place, self.path(name))
                        return True
                    except FileNotFoundError:
                        return False
                    finally:
                        tool.send_signal(signal.SIGCONT)
        return False

    EXPORTS = ("--export=jsonlines,csv,parquet,sqlite",)
    EXPORTED = ["run.batchlight", "run.jsonl", "run.sqlite", "run_csv", "run_parquet"]

    def exchanged_after_sealing(self, output, exchange):
        """What profile says when the script ran between sealing and reading."""
        return self.profile("--pytorch=none", "-o", output, *self.EXPORTS,
                            "--after-report-ready", exchange, sys.executable, "-c", "", "of-this-run")

    def test_another_recording_in_place_of_the_new_one(self):
        os.mkdir(self.path("private"), 0o700)
        done = self.profile("--pytorch=none", "-o", "private/p", sys.executable, "-c", "",
                            "precious")
        self.assertEqual(done.returncode, 0, done.stderr)
        for exchange in ("ln -s private/p.batchlight run.batchlight",
                         "mv private/p.batchlight run.batchlight", "true"):
            with self.subTest(exchange):
                done = self.exchanged_after_sealing("run", "mv run.batchlight away; " + exchange)
                self.assertEqual(done.returncode, 4, done.stderr)
                said = " ".join(done.stderr.split())
                self.assertIn("run.batchlight is no longer what was recorded", said)
                self.assertNotIn("it is in", said)
                self.assertNotIn("precious", said)
                left = [name for name in self.files() if name not in ("away", "run.batchlight")]
                self.assertEqual(left, ["private"])
                if os.path.lexists(self.path("run.batchlight")):
                    os.remove(self.path("run.batchlight"))

    def test_the_output_folder_exchanged_before_it_is_exported(self):
        os.mkdir(self.path("precious"))
        os.mkdir(self.path("out"))
        done = self.profile("--pytorch=none", "-o", "precious/run", sys.executable, "-c", "",
                            "precious")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.exchanged_after_sealing("out/run", "mv out away; ln -s precious out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of-this-run", done.stderr)
        self.assertEqual(os.listdir(self.path("precious")), ["run.batchlight"])
        self.assertEqual(sorted(os.listdir(self.path("away"))), self.EXPORTED)
        with open(self.path("away/run.jsonl")) as file:
            self.assertNotIn("precious", file.read())

    def test_pipes_in_place_of_default_outputs(self):
        self.assertEqual(self.profile("-o", "run", FAULT_PROGRAM, "operators", 5).returncode, 0)
        for kind, name in (("chrome", "run.trace.json"), ("folded", "run.folded"),
                           ("sqlite", "run.sqlite")):
            os.mkfifo(self.path(name))
            done = self.batchlight("export", "-t", kind, "-f", "run.batchlight", timeout=LONG_S)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(name + " exists and is no file", done.stderr)
        # One that the user names is written to.
        reader = subprocess.Popen(["cat", self.path("run.folded")], stdout=subprocess.PIPE)
        done = self.batchlight("export", "-t", "folded", "-o", "run.folded", "run.batchlight")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"fault::step", reader.communicate(timeout=LONG_S)[0])

    def test_a_folder_of_outputs_exchanged_for_a_link(self):
        recording = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
        for words in (("report", recording), ("export", "-t", "csv", recording),
                      ("export", "-t", "jsonlines", "--per-rank", recording)):
            with self.subTest(words[:3]):
                precious = self.path("precious")
                os.mkdir(precious)
                tool = self.begin(*words, "-o", "out", stderr=subprocess.PIPE)
                exchanged = self.exchange_partial_folder(tool, precious)
                said = tool.communicate(timeout=LONG_S)[1]
                self.assertEqual(os.listdir(precious), [])
                if exchanged:
                    self.assertEqual(tool.returncode, 4, said)
                    self.assertIn("somebody moved it while it was being filled", said)
                    self.assertEqual(os.listdir(self.path("taken")), [])
                for name in self.files():
                    (os.remove if os.path.islink(self.path(name)) else shutil.rmtree)(
                        self.path(name))


    @unittest.skipUnless(os.geteuid() == 0, "only root can make another user's link")
    def test_a_link_in_place_of_a_folder_that_is_there(self):
        recording = os.path.join(SOURCE, "tests", "recordings", "h200_two_ranks.batchlight")
        for words in (("report", recording), ("export", "-t", "csv", recording),
                      ("export", "-t", "jsonlines", "--per-rank", recording)):
            with self.subTest(words[:3]):
                precious, link = self.path("precious"), self.path("out")
                os.mkdir(precious)
                os.symlink("precious", link)
                os.lchown(link, 65534, 65534)
                done = self.batchlight(*words, "-f", "-o", link)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn("it is a link that user 65534 put there", done.stderr)
                self.assertEqual(os.listdir(precious), [])
                os.lchown(link, 0, 0)  # one's own is followed
                done = self.batchlight(*words, "-f", "-o", link)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotEqual(os.listdir(precious), [])
                self.assertEqual(self.files(), ["out", "precious"])
                os.remove(link)
                shutil.rmtree(precious)


def cannot_become_user():
    if os.geteuid() != 0:
        return "only root can record another user's program"
    done = run("setpriv", "--reuid=" + USER, "--clear-groups", "test", "-r", BATCHLIGHT)
    return "" if done.returncode == 0 else "%s cannot read %s" % (USER, BUILD)


MAPS_MANY_FILES = """
import mmap, os, platform, struct, time
machine = {"x86_64": 62, "aarch64": 183}[platform.machine()]
head = struct.pack("<16sHHIQQQIHHHHHH", b"\\x7fELF\\2\\1\\1", 3, machine, 1, 0, 64, 0, 0, 64, 0, 65535, 0, 0, 0)
segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0x1000, 4096, 4096, 4096)
for i in range(2000):
    with open("lib%d.so" % i, "wb+") as file:
        file.write((head + segment).ljust(4096, b"\\0"))
        file.flush()
        mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
os._exit(7)
"""


class ProgramOfAnotherUser(InFolder):
    """Root records as a user who owns the folder and attacks root with it."""

    def setUp(self):
        super().setUp()
        why = cannot_become_user()
        if why:
            self.skipTest(why)
        os.chmod(self.folder, 0o755)
        self.work = self.path("work")
        os.mkdir(self.work)
        shutil.chown(self.work, USER)
        self.secret = self.path("secret")
        with open(self.secret, "w") as file:
            file.write("precious")
        os.chmod(self.secret, 0o600)

    def record(self, script, *flags, **options):
        path = self.path("attack.sh")
        with open(path, "w") as file:
            file.write("#!/bin/bash\n%s operators 100\n%s\nexit 7\n" % (FAULT_PROGRAM, script))
        os.chmod(path, 0o755)
        done = self.batchlight("profile", "--run-as", USER, "-t", "none",
                               "--pytorch=autograd-nvtx", *flags, path, cwd=self.work, **options)
        with open(self.secret) as file:
            self.assertEqual(file.read(), "precious")
        return done

    def test_a_number_that_is_no_user(self):
        for number in ("4294967296", "-1", "4294967295"):
            done = self.batchlight("profile", "--run-as=" + number, "-t", "none", "id", "-u", cwd=self.work)
            self.assertNotEqual(done.returncode, 0, number)
            self.assertEqual(done.stdout, "", number)

    def fine(self, script, *flags):
        done = self.record(script, *flags)
        self.assertEqual(done.returncode, 7, done.stderr)
        return done

    def recorded(self):
        path = os.path.join(self.work, "report1.batchlight")
        self.assertEqual(count(self.opens(path), "OpEnd"), 110)
        return os.lstat(path)

    def test_the_recording_becomes_the_users(self):
        self.fine("")
        info = self.recorded()
        self.assertEqual(stat.S_IMODE(info.st_mode), 0o600)
        self.assertEqual(info.st_uid, os.lstat(self.work).st_uid)
        self.assertEqual(os.listdir(self.work), ["report1.batchlight"])

    def test_links_in_place_of_what_root_writes(self):
        self.fine("for n in $PPID 1 2; do ln -s %s report1.batchlight.partial-$n; done;"
                  " ln -s %s report1.batchlight" % (self.secret, self.secret), "-f")
        self.recorded()

    def test_pipe_in_the_live_folder(self):
        self.fine("mkfifo report1.batchlight.live/0-x.blp report1.batchlight.live/1-2.blp")
        self.recorded()

    def test_links_in_the_live_folder(self):
        self.fine("ln -s %s report1.batchlight.live/0-x.blp" % self.secret)
        self.recorded()

    def test_live_folder_exchanged_for_a_link(self):
        precious = self.path("precious")
        os.mkdir(precious)
        for name in ("control", "tool.blp", "x.blp"):
            open(os.path.join(precious, name), "w").close()
        self.fine("mv report1.batchlight.live away; ln -s %s report1.batchlight.live" % precious)
        self.assertEqual(len(os.listdir(precious)), 3)
        self.recorded()

    def test_files_cut_short(self):
        for name in ("control", "tool.blp", "*-*.blp"):
            done = self.record("for f in report1.batchlight.live/%s; do : > $f; done" % name, "-f",
                               "-o", "report1")
            self.assertEqual(done.returncode, 7, done.stderr)
            self.assertEqual(self.batchlight("trace", "dump", "work/report1.batchlight").returncode,
                             0)

    def test_a_control_page_that_claims_thousands_of_millions_of_captures(self):
        claim = ("printf '\\377\\377\\377\\177' | "
                 "dd of=report1.batchlight.live/control bs=1 seek=28 conv=notrunc 2>/dev/null")
        begun = self.path("begun")
        self.fine(claim, "--after-collection-start=echo >> " + begun)
        self.recorded()
        with open(begun) as file:
            self.assertLess(len(file.readlines()), 200)
        done = self.record(claim, "-f", "-o", "report1", "-c", "nvtx", "-p", "no", "--capture-range-end=repeat")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("more than 10000 are not taken apart", done.stderr)
        self.assertEqual(self.batchlight("clean", "work").returncode, 0)

    def test_endless_files(self):
        """They claim a terabyte and hold nothing."""
        self.fine("for n in 1 2 3; do truncate -s 1T report1.batchlight.live/7-$n.blp; done")
        self.recorded()

    def test_output_folder_exchanged_for_a_link(self):
        os.mkdir(os.path.join(self.work, "sub"))
        shutil.chown(os.path.join(self.work, "sub"), USER)
        target = self.path("roots")
        os.mkdir(target)
        self.fine("mv sub away; ln -s %s sub" % target, "-o", "sub/run")
        self.assertEqual(os.listdir(target), [])
        self.assertEqual(os.listdir(os.path.join(self.work, "away")), ["run.batchlight"])

    def test_what_is_read_and_exported_lies_where_it_was_recorded(self):
        """Though the folder's name leads to root's own recordings by now."""
        os.mkdir(os.path.join(self.work, "sub"))
        shutil.chown(os.path.join(self.work, "sub"), USER)
        target, away = self.path("roots"), os.path.join(self.work, "away")
        os.mkdir(target, 0o700)
        done = self.batchlight("profile", "-t", "none", "--pytorch=none", "-o", target + "/run",
                               sys.executable, "-c", "", "precious")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.fine("mv sub away; ln -s %s sub" % target, "-f", "-o", "sub/run",
                         "--export=jsonlines,csv,parquet,sqlite")
        self.assertEqual(os.listdir(target), ["run.batchlight"])
        self.assertNotIn("precious", done.stderr)
        self.assertIn("attack.sh", done.stderr)
        self.assertEqual(sorted(os.listdir(away)),
                         ["run.batchlight", "run.jsonl", "run.sqlite", "run_csv", "run_parquet"])
        for name in os.listdir(away):
            self.assertEqual(os.lstat(os.path.join(away, name)).st_uid, os.lstat(away).st_uid, name)

    NAMED = (("roots.py", 0o600, "root"), ("groups.py", 0o640, "root"), ("users.py", 0o600, USER))

    def name_files(self, output, files, *flags):
        """The program's code says under which file's name it is compiled."""
        if run("/usr/bin/python3", "-c", "import torch").returncode != 0:
            self.skipTest("no torch")
        program = os.path.join(self.work, "train.py")
        with open(program, "w") as file:
            file.write("import sys, torch\na = torch.ones(100, 100)\nfor name in sys.argv[1:]:\n"
                       "    exec(compile('for i in range(20): a @ a\\n' * 9, name, 'exec'), {'a': a})\n")
        named = []
        for name, mode, owner in files:
            named.append(self.path(name))
            with open(named[-1], "w") as file:
                file.write("line_of = '%s'\n" % name * 9)
            os.chmod(named[-1], mode)
            shutil.chown(named[-1], owner)
        done = self.batchlight("profile", "--run-as", USER, "-e", "HOME=" + self.work, "--python-lines=gpu", "-o",
                               output, *flags, "/usr/bin/python3", program, *named, cwd=self.work, timeout=LONG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def lines_in(self, path, said=""):
        with open(self.path(path)) as file:
            return set(re.findall("line_of = '([a-z/.]+)'", file.read() + said))

    def test_lines_of_roots_files_that_the_program_names(self):
        os.mkdir(self.path("out"), 0o755)
        done = self.name_files(self.path("out/run"), self.NAMED, "--export=jsonlines")  # not the user's
        self.assertEqual(self.lines_in("out/run.jsonl", done.stderr), {"users.py"})

    def test_lines_of_roots_files_in_a_recording_that_root_reads(self):
        """The user may have made it, and it says which files its lines are of."""
        for folder, mode in (("private", 0o700), ("public", 0o711)):
            os.mkdir(self.path(folder), mode)
        self.name_files(os.path.join(self.work, "run"),
                        self.NAMED + (("all.py", 0o644, "root"), ("private/all.py", 0o644, "root"),
                                      ("private/users.py", 0o644, USER), ("public/all.py", 0o644, "root")))
        recording = os.path.join(self.work, "run.batchlight")
        users = {"users.py", "all.py", "public/all.py"}
        for owner, lines in ((USER, users), ("root", {*users, "roots.py", "groups.py", "private/all.py",
                                                      "private/users.py"})):
            shutil.chown(recording, owner)
            done = self.batchlight("export", "-f", "-t", "jsonlines", "-o", self.path("run.jsonl"), recording)
            self.assertEqual((done.returncode, self.lines_in("run.jsonl")), (0, lines), done.stderr)
            done = self.batchlight("report", "-f", "--embed-source", "-o", self.path("report"), recording)
            self.assertEqual((done.returncode, self.lines_in("report/source.html")), (0, lines), done.stderr)

    def venv(self):
        """A virtual environment of the user's; its CUPTI says who loaded it."""
        venv = os.path.join(self.work, "venv")
        packages = os.path.join(venv, "lib", "python3.11", "site-packages", "nvidia", "cu13", "lib")
        os.makedirs(packages)
        os.mkdir(os.path.join(venv, "bin"))
        with open(self.path("cupti.c"), "w") as file:
            file.write("#include <fcntl.h>\n__attribute__((constructor)) static void loaded(void)\n"
                       "{ open(\"%s\", O_WRONLY | O_CREAT, 0600); }\n" % self.path("loaded"))
        built = run("cc", "-shared", "-fPIC", "-o", os.path.join(packages, "libcupti.so.13"),
                    self.path("cupti.c"))
        self.assertEqual(built.returncode, 0, built.stderr)
        program = os.path.join(venv, "bin", "python3")
        with open(program, "w") as file:
            file.write("#!/bin/sh\nexit 7\n")
        os.chmod(program, 0o755)
        return venv, program

    def test_root_loads_no_library_of_the_users(self):
        venv, program = self.venv()
        for flags in (("-t", "none", "--gpu-metrics-devices=all"), ("-t", "cuda", "--step-counters")):
            with self.subTest(flags[-1]):
                run("chown", "-R", "root", venv)
                recorded = ("profile", *flags, "-f", "-o")
                done = self.batchlight(*recorded, self.path("own"), program, cwd=self.work)
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertTrue(os.path.exists(self.path("loaded")), "the user's own tool loads it")
                os.remove(self.path("loaded"))
                run("chown", "-R", USER, venv)
                done = self.batchlight(*recorded, "run", "--run-as", USER, program, cwd=self.work)
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertFalse(os.path.exists(self.path("loaded")))

    def test_root_does_not_look_where_the_users_python_says(self):
        """A file of the user's would lead it to the memory of any process."""
        done = self.fine("/usr/bin/python3 -c 'import time; time.sleep(0.5)'",
                         "--python-sampling=true")
        self.assertIn("Python code is not sampled: --run-as", " ".join(done.stderr.split()))
        records = dump(os.path.join(self.work, "report1.batchlight"))
        self.assertEqual(count(records, "PythonSample"), 0)

    def test_libraries_of_the_users_take_no_memory_of_roots(self):
        """2,000 files of 4 KB, each with a segment that it says it has 65,535 times, which was 4 GB."""
        why = why_no_samples()
        if why:
            self.skipTest(why)
        script = self.path("maps.py")
        with open(script, "w") as file:
            file.write(MAPS_MANY_FILES)
        recorded = [BATCHLIGHT, "profile", "--run-as", USER, "-t", "none", "--pytorch=none",
                    "--python-sampling=false", "-s", "process-tree", "-o", "run",
                    "/usr/bin/python3", script]
        tool = subprocess.Popen(recorded, cwd=self.work, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        self.addCleanup(tool.stderr.close)
        _, status, usage = os.wait4(tool.pid, 0)
        tool.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(tool.returncode, 7, tool.stderr.read())
        self.assertLess(usage.ru_maxrss, 500 << 10)  # KB, the program's is less
        records = dump(os.path.join(self.work, "run.batchlight"))
        self.assertGreater(count(records, "CpuSample"), 0)

    def test_samples_tell_the_user_nothing_of_the_kernel(self):
        why = why_no_samples()
        if why:
            self.skipTest(why)
        burn = "dd if=/dev/zero of=/dev/null bs=1 count=300000 2>/dev/null"
        self.fine(burn, "--sample=process-tree")
        samples = [record for record in dump(os.path.join(self.work, "report1.batchlight"))
                   if record.kind == "NativeStack"]
        self.assertGreater(len(samples), 0, "there are samples")
        for record in samples:
            self.assertLess(int(record.fields["address"], 0), 1 << 47)


class FilesCutShort(InFolder):
    def test_the_program_lives_and_the_loss_is_said(self):
        done = self.profile("-o", "run", "sh", "-c",
                            "for f in $BATCHLIGHT_SESSION_DIR/*; do : > $f; done;"
                            " %s operators 100; exit 6" % FAULT_PROGRAM)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.opens("run.batchlight")

    def test_what_replaces_the_pages_asks_no_shim(self):
        done = self.batchlight("profile", "--stats=false", "-o", "run", "--trace=osrt", "sh", "-c",
                               ": > $BATCHLIGHT_SESSION_DIR/control; %s operators 100; exit 6" % FAULT_PROGRAM)
        self.assertEqual(done.returncode, 6, done.stderr)

    def test_while_a_process_writes(self):
        done = self.profile("-o", "run", FAULT_PROGRAM, "cut-short", "100000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cut a file of the recording short", done.stderr)
        self.opens("run.batchlight")

    def test_a_bus_error_of_the_programs_own_still_ends_it(self):
        done = self.profile(FAULT_PROGRAM, "signal", int(signal.SIGBUS))
        self.assertEqual(done.returncode, 128 + signal.SIGBUS)


if __name__ == "__main__":
    unittest.main()
