"""The program for Windows (preset windows), run by wine: it answers what this one answers,
byte for byte but for SQLite files, whose rows are compared. Skipped where the program was not built or wine is not there."""
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from recorded import LONG_S, SOURCE
from same_answers import READING, answer, content_of, files_of, here, make_inputs

PROGRAM = pathlib.Path(os.environ.get("BATCHLIGHT_WINDOWS", os.path.join(SOURCE, "build", "windows"))) / "bin/batchlight.exe"
WINE = shutil.which("wine")
# No connection to wine's server; the low byte of STATUS_DLL_INIT_FAILED (0xc0000142, ntstatus.h).
NOT_STARTED = (1, 0x42)
NEED_LINUX = ("profile", "kernels", "clean", "dlprof", "kernprof", "launch", "start", "stop", "cancel",
              "shutdown", "sessions", "status", "probe", "doctor", "counters")


def with_png(data):
    """Charts are SVG there; all else of a text is the same."""
    return re.sub(rb"(top10(_kernels)?)\.svg", rb"\1.png", data)


def with_svg(name):
    return name[:-4] + ".svg" if name.endswith(".png") else name


class WindowsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.folder.name)
        cls.environment = {"WINEPREFIX": str(cls.place / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
        cls.server("-p")  # what all programs of the prefix ask stays from one to the next
        # Makes the prefix. Its services keep what they are started with: no pipe that a test reads to its end.
        subprocess.run([WINE, str(PROGRAM), "version"], cwd=cls.place, env=dict(os.environ, **cls.environment),
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=10 * LONG_S, check=True)

    @classmethod
    def tearDownClass(cls):
        cls.server("-k")
        cls.server("-w")
        cls.folder.cleanup()

    @classmethod
    def server(cls, flag):
        subprocess.run(["wineserver", flag], env=dict(os.environ, **cls.environment), stderr=subprocess.DEVNULL)

    @classmethod
    def there(cls, *words, folder):
        """Wine that cannot start a program, as while its own services start, ends without a word and with one of
        NOT_STARTED. Ours never does: it is asked again."""
        for _ in range(3):
            given = answer([WINE, str(PROGRAM)], words, folder, **cls.environment)
            if given[0] not in NOT_STARTED or given[1:] != (b"", b""):
                break
        return given

    def test_answers_as_on_linux(self):
        ours, theirs = self.place / "linux", self.place / "windows"
        make_inputs(ours)
        make_inputs(theirs)
        for words in READING:
            with self.subTest(words=" ".join(words)):
                expected = here(words, ours)
                code, output, errors = self.there(*words, folder=theirs)
                self.assertEqual((code, with_png(output), with_png(errors)), expected)
        written, expected = files_of(theirs), files_of(ours)
        charts = {name for name in expected if name.endswith(".png")}
        self.assertTrue(charts)
        for name in charts:
            self.assertIn(b"<svg", written.pop(name[:-4] + ".svg"))
            expected.pop(name)
        self.assertEqual(set(written), set(expected))
        for name, content in expected.items():
            self.assertEqual(with_png(written[name]), content, name)

    def test_commands_that_record_say_what_they_need(self):
        for verb in NEED_LINUX:
            with self.subTest(verb=verb):
                code, output, errors = self.there(verb, "python", "train.py", folder=self.place)
                self.assertEqual((code, output), (2, b""))
                self.assertRegex(errors, rb"^batchlight: batchlight %s needs Linux .*\n$" % verb.encode())

    def test_takes_paths_as_windows_writes_them(self):
        place = self.place / "paths"
        make_inputs(place)
        expected = here(["summary", "out/../train.batchlight"], place)
        self.assertEqual(self.there("summary", "out\\..\\train.batchlight", folder=place), expected)
        self.assertEqual(self.there("summary", "--run=out\\..\\train.batchlight", folder=place), expected)
        code, _, errors = self.there("export", "-t", "chrome", "-o", "out\\a.json", "train.batchlight", folder=place)
        self.assertEqual(code, 0, errors)
        self.assertTrue((place / "out" / "a.json").is_file())
        self.assertEqual(sorted(path.name for path in (place / "out").iterdir()), ["a.json"])

    def test_takes_paths_from_the_root(self):
        place = self.place / "root"
        make_inputs(place)
        run = str(place / "train.batchlight")
        expected = here(["summary", run], place)
        self.assertEqual(expected[0], 0)
        self.assertEqual(self.there("summary", run, folder=place), expected)
        self.assertEqual(self.there("summary", run.replace("/", "\\"), folder=place), expected)

    def test_ends_in_silence_when_nobody_reads(self):
        place = self.place / "unread"
        make_inputs(place)
        for words in (["table", "kernels", "train.batchlight"], ["export", "-t", "chrome", "-o", "-", "train.batchlight"]):
            with self.subTest(words=" ".join(words)):
                reader, writer = os.pipe()
                os.close(reader)
                tool = subprocess.run([WINE, str(PROGRAM), *words], cwd=place, stdin=subprocess.DEVNULL, stdout=writer,
                                      stderr=subprocess.PIPE, timeout=10 * LONG_S, env=dict(os.environ, **self.environment))
                os.close(writer)
                self.assertEqual((tool.returncode, tool.stderr), (141, b""))

    def test_one_click(self):
        place = self.place / "click"
        make_inputs(place)
        shutil.copyfile(place / "train.batchlight", place / "out" / "train.batchlight")
        examples = pathlib.Path(SOURCE, "examples")
        for name in (PROGRAM, examples / "report_run.bat", examples / "train_h200.batchlight"):
            shutil.copy(name, place)
        click = [WINE, "cmd", "/c", "report_run.bat"]
        code, output, errors = answer(click, ["out\\train.batchlight"], place, BATCHLIGHT_NO_BROWSER="1", **self.environment)
        self.assertEqual(code, 0, errors)
        here(["report", "-o", "expected", "out/train.batchlight"], place)
        self.assertEqual({path.name for path in (place / "out" / "train_report").iterdir()},
                         {with_svg(path.name) for path in (place / "expected").iterdir()})
        here(["export", "-t", "sqlite", "-o", "expected.sqlite", "out/train.batchlight"], place)
        self.assertEqual(content_of(place / "out" / "train.sqlite"), content_of(place / "expected.sqlite"))
        code, _, errors = answer(click, ["out\\none.batchlight"], place, BATCHLIGHT_NO_BROWSER="1", **self.environment)
        self.assertEqual(code, 3)
        self.assertIn(b"there is no out\\none.batchlight", errors)
        # With nothing named: the recording that lies beside the script.
        code, output, errors = answer(click, [], place, BATCHLIGHT_NO_BROWSER="1", **self.environment)
        self.assertEqual(code, 0, errors)
        self.assertEqual({path.name for path in (place / "train_h200_report").iterdir()},
                         {with_svg(path.name) for path in (place / "expected").iterdir()})
        self.assertEqual(content_of(place / "train_h200.sqlite"), content_of(place / "expected.sqlite"))

    def test_what_stands_there_stays(self):
        place = self.place / "stays"
        make_inputs(place)
        (place / "out" / "a.json").write_text("mine")
        code, _, errors = self.there("export", "-t", "chrome", "-o", "out/a.json", "train.batchlight", folder=place)
        self.assertEqual((code, (place / "out" / "a.json").read_text()), (4, "mine"), errors)
        code, _, errors = self.there("export", "-t", "chrome", "-o", "out/a.json", "-f", "true", "train.batchlight",
                                     folder=place)
        self.assertEqual(code, 0, errors)
        json.loads((place / "out" / "a.json").read_text())

    def test_serves_the_timeline(self):
        place = self.place / "view"
        make_inputs(place)
        tool = subprocess.Popen([WINE, str(PROGRAM), "view", "--no-browser", "--idle", "60s", "train.batchlight"],
                                cwd=place, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                env=dict(os.environ, LC_ALL="C.UTF-8", **self.environment))
        try:
            found = re.match(rb"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})", tool.stdout.readline())
            self.assertTrue(found)
            connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=LONG_S)
            connection.request("POST", "/api/1/run", "{}", {"Authorization": "Bearer " + found[2].decode()})
            reply = connection.getresponse()
            self.assertEqual(reply.status, 200)
            self.assertTrue(json.loads(reply.read())["steps"])
            connection.request("GET", "/")
            self.assertIn(b"<script", connection.getresponse().read())
            connection.close()
        finally:
            tool.kill()
            tool.communicate()


if __name__ == "__main__":
    if WINE is None:
        print("skipped: there is no wine (apt-get install wine wine64)")
        sys.exit(77)
    if not PROGRAM.exists():
        print(f"skipped: there is no {PROGRAM} (tools/windows_sysroot.sh && tools/build.sh windows batchlight)")
        sys.exit(77)
    unittest.main()
