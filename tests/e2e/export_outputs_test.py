"""Where `batchlight export` writes: full disks, killed programs, pipes, folders that are there, and
flags that do not go together. Nothing partial ever has the final name."""
import csv
import json
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import PROGRAM, NsysFiles  # noqa: E402

STREAMS = ("jsonlines", "chrome", "perfetto", "folded", "speedscope")
FORMATS = STREAMS + ("sqlite", "csv", "parquet", "arrow")


class Outputs(NsysFiles):
    def setUp(self):
        self.place = self.path(self.id().split(".")[-1])
        os.mkdir(self.place)
        self.out = os.path.join(self.place, "out")

    def export(self, kind, *flags, code=0, out=None, **options):
        done = subprocess.run([PROGRAM, "export", "-t", kind, "-o", out or self.out, *flags,
                               self.sqlite], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120, **options)
        self.assertEqual(done.returncode, code, (kind, flags, done.stderr))
        return done


class FullDisk(Outputs):
    def export_limited(self, kind, *flags):
        # Bytes of a file: less than the format needs, and for csv more than some of its files.
        size = 500 if kind == "folded" else 20000
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return self.export(kind, *flags, code=4, preexec_fn=limit).stderr.decode()

    def test_every_format_leaves_nothing_and_says_what_to_do(self):
        for kind in FORMATS:
            said = self.export_limited(kind)
            # SQLite does not tell what the system said.
            self.assertIn("disk I/O error" if kind == "sqlite" else "File too large", said, kind)
            self.assertRegex(said, "nothing was left under that name. Free space or choose", kind)
            self.assertEqual(os.listdir(self.place), [], kind)

    def test_a_folder_of_ranks_or_tables_stays_as_it_was(self):
        self.export("csv", "--tables", "^gpus$,^kernels$")
        before = {name: os.stat(os.path.join(self.out, name)).st_mtime_ns
                  for name in os.listdir(self.out)}
        for flags in (["--append"], ["-f"]):
            self.export_limited("csv", *flags)
            self.assertEqual(os.listdir(self.place), ["out"])
            self.assertEqual({name: os.stat(os.path.join(self.out, name)).st_mtime_ns
                              for name in os.listdir(self.out)}, before)

    def test_a_file_that_was_there_stays(self):
        for kind in STREAMS + ("sqlite",):
            with open(self.out, "w", encoding="utf-8") as old:
                old.write("old")
            self.export_limited(kind, "-f")
            with open(self.out, encoding="utf-8") as old:
                self.assertEqual(old.read(), "old", kind)
            self.assertEqual(os.listdir(self.place), ["out"], kind)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_device_without_room(self):
        for kind in STREAMS:
            said = self.export(kind, out="/dev/full", code=4).stderr.decode()
            self.assertIn("No space left on device", said, kind)
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    @unittest.skipUnless(os.geteuid() == 0, "mounting takes root")
    def test_a_file_system_without_room(self):
        for kind in FORMATS:
            script = ('mount -t tmpfs -o size=$SIZE none "$PLACE" 2>/dev/null || exit 99; '
                      '"$@"; code=$?; ls -A "$PLACE"; exit $code')
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", script, "sh", PROGRAM, "export", "-q",
                 "-t", kind, "-o", self.out, self.sqlite],
                env=dict(os.environ, PLACE=self.place, SIZE="4k" if kind == "folded" else "32k"),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
            if done.returncode == 99 or b"unshare" in done.stderr:
                self.skipTest("no mounts here")
            self.assertEqual(done.returncode, 4, (kind, done.stderr))
            self.assertIn(b"disk is full" if kind == "sqlite" else b"No space left on device",
                          done.stderr, kind)
            self.assertIn(b"Free space or choose another folder", done.stderr, kind)
            self.assertEqual(done.stdout, b"", kind)


class Killed(Outputs):
    def test_what_is_left_does_not_have_the_name(self):
        for kind in FORMATS:
            self.export(kind)
            whole = self.content()
            self.clear()
            for _ in range(20):
                process = subprocess.Popen(
                    [PROGRAM, "export", "-q", "-t", kind, "-o", self.out, self.sqlite])
                while process.poll() is None and not os.listdir(self.place):
                    time.sleep(0.0005)
                process.kill()
                # Also a program killed between the renaming of its file and its exit was too fast.
                if process.wait() == -signal.SIGKILL and not os.path.exists(self.out):
                    break
                self.assertEqual(self.content(), whole, kind)
                self.clear()
            else:
                self.skipTest("%s is too fast to be killed" % kind)
            for name in os.listdir(self.place):
                self.assertRegex(name, r"^out\.partial-[a-z]{16}$", kind)
            self.clear()
            self.export(kind)
            self.clear()

    def content(self):
        """The bytes of the output by name, or of every file of a folder."""
        files = [self.out] if os.path.isfile(self.out) else [
            os.path.join(self.out, name) for name in sorted(os.listdir(self.out))]
        found = {}
        for path in files:
            with open(path, "rb") as file:
                found[os.path.basename(path)] = file.read()
        return found

    def clear(self):
        subprocess.run(["rm", "-rf", self.place], check=True)
        os.mkdir(self.place)


class Streams(Outputs):
    def test_standard_output_has_the_bytes_of_the_file(self):
        for kind in STREAMS:
            self.export(kind, "-f")
            with open(self.out, "rb") as file:
                self.assertEqual(self.export(kind, out="-").stdout, file.read(), kind)
        self.assertEqual(os.listdir(self.place), ["out"])

    def test_a_pipe_and_a_device_are_written_to_and_stay(self):
        os.mkfifo(self.out)
        with subprocess.Popen(["cat", self.out], stdout=subprocess.PIPE) as reader:
            self.export("folded")
            text = reader.stdout.read()
        self.assertIn(b"cudaLaunchKernel", text)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.out).st_mode))
        self.export("folded", "-f", out="/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_what_cannot_be_a_stream_says_why(self):
        self.assertIn(b"not written from begin to end", self.export("sqlite", out="-",
                                                                    code=2).stderr)
        self.assertIn(b"a folder of files", self.export("csv", out="-", code=2).stderr)
        self.assertIn(b"several files", self.export("chrome", "--per-rank", out="-",
                                                    code=2).stderr)
        self.assertFalse(os.path.exists("-"))


class CsvFolder(Outputs):
    def rows(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8", newline="") as table:
            return list(csv.DictReader(table))

    def test_replacing_takes_the_files_of_before_away_and_no_others(self):
        self.export("csv", "--tables", "kernels,memcpys")
        with open(os.path.join(self.out, "notes.txt"), "w", encoding="utf-8") as notes:
            notes.write("mine")
        self.export("csv", "--tables", "^kernels$", code=4)
        self.export("csv", "--tables", "^kernels$", "-f")
        self.assertEqual(sorted(os.listdir(self.out)), ["kernels.csv", "notes.txt"])
        self.assertEqual(os.listdir(self.place), ["out"])

    def test_appending_adds_rows_and_tables(self):
        self.export("csv", "--tables", "^memsets$")
        count = len(self.rows("memsets.csv"))
        self.assertGreater(count, 0)
        self.export("csv", "--tables", "^memsets$,^gpus$", "--append")
        self.assertEqual(len(self.rows("memsets.csv")), 2 * count)
        self.assertEqual(sorted(os.listdir(self.out)), ["gpus.csv", "memsets.csv"])

    def test_appending_reads_no_table_that_others_can_have_put_there(self):
        """Whoever may write the folder could have our private tables copied into it."""
        self.export("csv", "--tables", "^memsets$")
        table, private = os.path.join(self.out, "memsets.csv"), os.path.join(self.place, "private")
        os.rename(table, private)
        os.chmod(private, 0o600)
        for name, put in (("link", os.symlink), ("second name", os.link),
                          ("pipe", lambda _, path: os.mkfifo(path))):
            put(private, table)
            before = os.lstat(table)
            said = self.export("csv", "--tables", "^memsets$", "--append", code=4).stderr
            self.assertIn(b"remove it, or append to another folder", said, name)
            self.assertEqual(os.lstat(table).st_ino, before.st_ino, name)
            os.remove(table)
        self.assertEqual(sorted(os.listdir(self.place)), ["out", "private"])

    def test_a_table_that_is_added_to_is_shown_to_nobody_else(self):
        before = os.umask(0o002)
        self.addCleanup(os.umask, before)
        self.export("csv", "--tables", "^memsets$")
        table = os.path.join(self.out, "memsets.csv")
        for mode in (0o640, 0o664, 0o666):
            os.chmod(table, mode)
            self.export("csv", "--tables", "^memsets$,^gpus$", "--append")
            self.assertEqual(stat.S_IMODE(os.stat(table).st_mode), mode & 0o664)

    def test_appending_to_other_columns_is_refused(self):
        os.mkdir(self.out)
        path = os.path.join(self.out, "memsets.csv")
        with open(path, "w", encoding="utf-8") as table:
            table.write("row,other\n1,2\n")
        said = self.export("csv", "--append", code=4).stderr
        self.assertIn(b"other columns", said)
        with open(path, encoding="utf-8") as table:
            self.assertEqual(table.read(), "row,other\n1,2\n")
        self.assertEqual(os.listdir(self.out), ["memsets.csv"])


class Flags(Outputs):
    def test_append_is_for_folders(self):
        for kind in STREAMS + ("sqlite",):
            self.assertIn(b"--append", self.export(kind, "--append", code=2).stderr)
        self.assertEqual(os.listdir(self.place), [])

    def test_outputs_of_the_wrong_form(self):
        os.mkdir(self.out)
        self.assertIn(b"is a folder", self.export("chrome", "-f", code=4).stderr)
        os.rmdir(self.out)
        with open(self.out, "wb"):
            pass
        self.assertIn(b"is not a folder", self.export("csv", "-f", code=4).stderr)
        for kind in FORMATS:
            missing = os.path.join(self.place, "no", "out")
            self.assertIn(b"create", self.export(kind, out=missing, code=4).stderr, kind)
        self.assertEqual(os.listdir(self.place), ["out"])

    def test_tables_by_the_names_of_nsys(self):
        def tables(text):
            self.export("jsonlines", "-f", "--tables", text)
            with open(self.out, encoding="utf-8") as lines:
                return {json.loads(line)["table"] for line in lines}
        self.assertEqual(tables("CUPTI_ACTIVITY_KIND_MEMSET"), {"memsets"})
        self.assertEqual(tables("cupti_activity_kind_kernel"), {"kernels", "kernel_launches"})
        self.assertIn("nvtx_ranges", tables("NVTX_EVENTS"))
        self.export("csv", "-f", "--tables", "NVTX_EVENTS,ThreadNames", out=self.out + "_csv")
        self.assertLessEqual({"nvtx_ranges.csv", "threads.csv"},
                             set(os.listdir(self.out + "_csv")))
        self.assertNotIn("kernels.csv", os.listdir(self.out + "_csv"))
        # And the other way round.
        self.export("sqlite", "-f", "--tables", "^memsets$")
        with sqlite3.connect(self.out) as database:
            names = {name for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type='table'")}
        self.assertEqual(names, {"CUPTI_ACTIVITY_KIND_MEMSET", "StringIds"})

    def test_a_table_that_there_cannot_be(self):
        for kind in FORMATS:
            said = self.export(kind, "--tables", "kernels,NVTX_EVNTS", code=2).stderr.decode()
            self.assertIn('no table\'s name matches "NVTX_EVNTS"; did you mean NVTX_EVENTS', said)
        self.assertEqual(os.listdir(self.place), [])

    def test_times_outside_are_said(self):
        said = self.export("chrome", "--times", "100h/101h").stderr.decode()
        self.assertIn("no event lies within --times=100h/101h", said)
        with open(self.out, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual({event["ph"] for event in events}, {"M"})

    def test_shift_and_normalize_add_up(self):
        def first(*flags):
            self.export("jsonlines", "-f", "--tables", "^kernels$", *flags)
            with open(self.out, encoding="utf-8") as lines:
                return json.loads(lines.readline())["start_ns"]
        plain = first()
        self.assertEqual(first("--ts-shift", "-5000"), plain - 5000)
        epoch = first("--ts-normalize") - plain
        self.assertGreater(epoch, 10 ** 18)
        self.assertEqual(first("--ts-normalize", "--ts-shift", "7"), plain + epoch + 7)
        self.assertEqual(first("--ts-shift", "1759276800000000123"), plain + 1759276800000000123)
        self.export("jsonlines", "-f", "--ts-shift", "2000000h", code=2)


if __name__ == "__main__":
    unittest.main()
