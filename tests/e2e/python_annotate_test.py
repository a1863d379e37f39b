"""import batchlight under the library: every call is the record that it should be."""
import glob
import json
import os
import struct
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from python_session import NVTX, PYTHON, PythonSession  # noqa: E402

DEBIAN = "/usr/bin/python3"
RANGES = ("RangePush", "RangePushEx", "RangePop", "RangePopDomain", "RangeStart", "RangeEnd", "Mark")


class Annotate(unittest.TestCase):
    def run_in(self, session, code):
        done = session.run(DEBIAN, "-c", "import batchlight as b\n" + textwrap.dedent(code))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done

    def recorded(self, code, *kinds, **members):
        with PythonSession(**members) as session:
            self.run_in(session, code)
            return session.events(*(kinds or RANGES))

    def test_push_and_pop(self):
        records = self.recorded("""
            with b.annotate("outer"):
                with b.annotate("inner", color="red", domain="data", category="io", payload=-3): pass
            b.push_range("plain"); b.pop_range()
        """)
        self.assertEqual([r.kind for r in records], [
            "RangePush", "RangePushEx", "RangePopDomain", "RangePop", "RangePush", "RangePop"])
        inner = records[1]
        self.assertEqual((inner.message, inner.domain, inner.color, inner.category),
                         ("inner", "data", 0xFFFF0000, 1))
        self.assertEqual((inner.payload_type, inner.payload), (2, (1 << 64) - 3))
        self.assertEqual(inner.flags, 3)
        self.assertEqual(records[0].flags, 1)
        self.assertEqual(records[2].domain, "data")

    def test_functions_of_the_script_by_name(self):
        script = textwrap.dedent("""
            import sys
            def train_step(x):
                return x + 1
            class Trainer:
                @staticmethod
                def fit():
                    return train_step(1)
            if __name__ == "__main__":
                assert Trainer.fit() == 2
                assert sys.gettrace() is None
        """)
        pythons = [DEBIAN] + sorted(path for minor in ("8", "9", "1[0-3]") for path in glob.glob(
            os.path.expanduser("~/.pyenv/versions/3.%s.*/bin/python3" % minor)))
        with tempfile.TemporaryDirectory() as folder:
            wanted, path = os.path.join(folder, "f.json"), os.path.join(folder, "train.py")
            with open(wanted, "w") as file:
                json.dump([{"module": "__main__", "functions": ["train_step", "Trainer.fit", "no"]}],
                          file)
            with open(path, "w") as file:
                file.write(script)
            for python in pythons:
                for words in ((path,), ("-m", "train"), ("-c", script)):
                    with self.subTest(python=python, words=words[0]), \
                            PythonSession(functions_trace=wanted) as session:
                        done = session.run(python, *words, cwd=folder)
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertEqual([r.message for r in session.events("RangePush")],
                                         ["__main__.Trainer.fit", "__main__.train_step"])
                        self.assertEqual([text for _, text in session.reasons()],
                                         ["f.json: __main__.no is not traced: the script defines "
                                          "no such function; the rest of the file is"])

    def test_a_misspelt_function_is_named_and_leaves_the_rest_on(self):
        with tempfile.TemporaryDirectory() as folder:
            wanted = os.path.join(folder, "functions.json")
            with open(wanted, "w") as file:
                json.dump([{"module": "json", "functions": ["dmups", "dumps", "JSONEncoder.encod"]},
                           {"module": "__main__", "functions": ["Trainer.fi", "Trainer.fit"]}], file)
            script = os.path.join(folder, "train.py")
            with open(script, "w") as file:
                file.write("import json\nclass Trainer:\n    def fit(self):\n        json.dumps(1)\n"
                           "Trainer().fit()\n")
            with PythonSession(functions_trace=wanted) as session:
                done = session.run(DEBIAN, script)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual([r.message for r in session.events("RangePush")],
                                 ["__main__.Trainer.fit", "json.dumps"])
                self.assertEqual(sorted(text for _, text in session.reasons()), [
                    "functions.json: %s is not traced: it has no such function (did you mean %s?); "
                    "the rest of the file is" % names for names in (
                        ("__main__.Trainer.fi", "fit"), ("json.JSONEncoder.encod", "encode"),
                        ("json.dmups", "dumps"))])

    def test_payloads(self):
        records = self.recorded("""
            for value in (1.5, True, 1 << 63, 7, "no number", None): b.mark("m", payload=value)
        """)
        double = struct.unpack("<Q", struct.pack("<d", 1.5))[0]
        self.assertEqual([(r.payload_type, r.payload) for r in records],
                         [(3, double), (2, 1), (1, 1 << 63), (2, 7), (0, 0), (0, 0)])

    def test_start_and_end_across_threads(self):
        records = self.recorded("""
            import threading
            range_id = b.start_range("long", domain="d")
            t = threading.Thread(target=b.end_range, args=(range_id,)); t.start(); t.join()
        """)
        start, end = sorted(records, key=lambda r: r.kind, reverse=True)
        self.assertEqual((start.kind, start.message, start.domain), ("RangeStart", "long", "d"))
        self.assertEqual(end.range_id, start.range_id)
        self.assertNotEqual(end.chunk.tid, start.chunk.tid)

    def test_categories_and_domains(self):
        records = self.recorded("""
            b.mark("m", domain="d", category="c"); b.mark("m", category="c")
        """, "CategoryName", "DomainLife")
        self.assertEqual(sorted((r.kind, r.domain, r.get("name")) for r in records), [
            ("CategoryName", "", "c"), ("CategoryName", "d", "c"), ("DomainLife", "d", None)])

    def test_as_the_nvtx_package(self):
        records = self.recorded("""
            domain = b.get_domain("d")
            attributes = domain.get_event_attributes("m", category="c")
            attributes.payload = 5; domain.mark(attributes)
            attributes.message = domain.get_registered_string("n"); domain.mark(attributes)
            def work(): return len("x")
            profile = b.Profile(linenos=False); profile.enable(); work(); profile.disable()
        """)
        self.assertEqual([(r.message, r.payload) for r in records if r.kind == "Mark"],
                         [("m", 5), ("n", 5)])
        calls = [(r.kind, r.get("message")) for r in records if r.domain == "nvtx.py"]
        self.assertEqual(calls[:4], [("RangePushEx", "work"), ("RangePushEx", "len"),
                                     ("RangePopDomain", None), ("RangePopDomain", None)])

    def test_names_of_any_kind(self):
        records = self.recorded("""
            for name in ("h\\u00e9", "\\ud800", "\\U0001f600", "", 5, None, "x" * 70000, b"y"):
                b.mark(name)
        """)
        self.assertEqual([r.message for r in records[:6]],
                         ["h\u00e9", "\\ud800", "\U0001f600", "", "5", ""])
        self.assertEqual(len(records[6].message), 64 * 1024)

    def test_unbalanced_pops(self):
        self.assertEqual(self.recorded("b.pop_range(); b.pop_range(domain='d'); b.end_range(0)"), [])

    def test_switched_off(self):
        with PythonSession(state=0) as session:
            self.assertEqual(self.run_in(session, """
                with b.annotate("x"): b.mark("y")
                print(b.collecting(), b.enabled())
            """).stdout, "False True\n")
            self.assertEqual(session.events(*RANGES), [])
        self.assertEqual(self.recorded("b.mark('x'); b.push_range('y'); b.pop_range()",
                                       trace=PYTHON), [])

    def test_domain_filter(self):
        records = self.recorded("""
            b.mark("yes", domain="wanted"); b.mark("no", domain="other"); b.mark("no")
        """, domain_filter=1, domains="wanted\0\0", trace=NVTX | PYTHON)
        self.assertEqual([r.message for r in records], ["yes"])

    def test_capture_by_range(self):
        records = self.recorded("""
            for i in range(3):
                b.mark("before")
                with b.annotate("step", domain="train"): b.mark("inside")
        """, "Mark", state=0, trigger=1, capture_repeat=2, capture_message="step",
            capture_domain="train", capture_registered_only=1)
        self.assertEqual([r.message for r in records], ["inside", "inside"])

    def test_capture_by_profile_start(self):
        records = self.recorded("""
            b.mark("before"); b.profile_start(); b.mark("inside"); b.profile_stop(); b.mark("after")
        """, "Mark", state=0, trigger=2, capture_repeat=1)
        self.assertEqual([r.message for r in records], ["inside"])


if __name__ == "__main__":
    unittest.main()
