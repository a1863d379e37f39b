"""batchlight view through its HTTP interface: who may ask, that answers agree with the summary, live
runs, two runs, ends by signals and idle time."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from recorded import BATCHLIGHT, LONG_S, SOURCE, run
from viewer import RECORDINGS, TRAIN, Viewer, columns_of


class ViewTest(unittest.TestCase):
    def test_only_who_has_the_token_gets_data(self):
        with Viewer(TRAIN) as viewer:
            self.assertEqual(viewer.call("run")[0], 200)
            for headers, status in (({"Authorization": ""}, 401),
                                    ({"Authorization": "Bearer " + "0" * 64}, 401),
                                    ({"Host": "evil.example"}, 403),
                                    ({"Host": "127.0.0.1.evil.example:80"}, 403),
                                    ({"Origin": "http://evil.example"}, 403),
                                    ({"Origin": "null"}, 403),
                                    ({"Sec_Fetch_Site": "cross-site"}, 403),
                                    ({"Host": "localhost:1"}, 200)):
                self.assertEqual(viewer.call("run", **headers)[0], status, headers)
            status, headers, body = viewer.ask("GET", "/")
            self.assertEqual(status, 200)
            self.assertIn(b"timeline.js", body)
            self.assertNotIn(viewer.token.encode(), body)
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertNotIn("Access-Control-Allow-Origin", headers)
            self.assertEqual(viewer.ask("GET", "/", Host="evil.example")[0], 403)
            self.assertEqual(viewer.ask("OPTIONS", "/api/1/run")[0], 405)

    def test_listens_on_this_machine_alone(self):
        with Viewer(TRAIN) as viewer:
            listening = pathlib.Path("/proc/net/tcp").read_text() + pathlib.Path("/proc/net/tcp6").read_text()
            places = [line.split()[1] for line in listening.splitlines()
                      if line.split()[1].endswith(":%04X" % viewer.port) and line.split()[3] == "0A"]
            self.assertEqual([place.split(":")[0] for place in places], ["0100007F"])

    def test_every_event_is_in_the_picture_at_every_zoom(self):
        with Viewer(TRAIN) as viewer:
            described = viewer.get("run")
            rows = [[track["id"], 0, track["rows"]] for track in described["tracks"] if "counter" not in track]
            events = sum(track["events"] for track in described["tracks"] if "counter" not in track)
            self.assertEqual(events, sum(table["rows"] for table in described["tables"]))
            for step in (2 ** 16, 2 ** 20, 2 ** 40):
                view = columns_of(viewer.get("view", {"from": str(described["from"]), "to": str(described["to"] + 1),
                                                      "step": str(step), "rows": rows}))
                if not view["changed"]:
                    self.assertEqual(sum(view["columns"]["count"]), events, step)

    def test_tables_of_steps_are_those_of_the_table_command(self):
        for recording in (TRAIN, RECORDINGS / "h200_documents.batchlight"):
            self.expect_tables_of_the_command(recording)

    def expect_tables_of_the_command(self, recording):
        with Viewer(recording) as viewer:
            steps = viewer.get("run")["steps"][0]
            place = len(steps["number"]) // 2
            for key in ("phases", "kernels", "operators", "modules"):
                answer = viewer.get("range", {"first_step": steps["number"][place],
                                              "last_step": steps["number"][place + 1], "tables": [key]})
                self.assertTrue(answer["whole_steps"])
                done = run(BATCHLIGHT, "table", key, recording, "-f", "json", "--first-step", place,
                           "--last-step", place + 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = json.loads(done.stdout)
                if isinstance(expected, dict):
                    expected = expected.get("rows", expected)
                table = answer["tables"][0] if answer["tables"] else {"columns": [], "rows": []}  # not recorded
                expected = [row for row in expected if row.get("Calls per Step", 1) != 0]
                self.assertEqual(len(table["rows"]), len(expected), key)
                if recording != TRAIN or key in ("phases", "kernels"):
                    self.assertTrue(expected, key)
                names = [column["name"] for column in table["columns"]]
                # Nothing of the whole run stands beside what is of these steps.
                if key != "phases":  # whose total is that of the steps
                    self.assertFalse({"Calls", "Total", "Min", "Max", "Forward"} & set(names), names)
                # The longest in these steps first; the command's order is that of the whole run.
                first = {"kernels": "Time per Step", "operators": "Self per Step"}.get(key)
                if first in names:
                    times = [row[names.index(first)] for row in table["rows"]]
                    self.assertEqual(times, sorted(times, reverse=True))
                    (full,) = [full for full in expected[0] if full.split(" (")[0] == first]
                    expected.sort(key=lambda row: -row[full])
                for got, wanted in zip(table["rows"], expected):
                    for name, number in zip(names, got):
                        known = next((value for full, value in wanted.items() if full.split(" (")[0] == name), None)
                        if isinstance(number, (int, float)):
                            self.assertAlmostEqual(number, known, delta=max(0.006, 1e-6 * abs(number)), msg=name)

    def test_longest_gap_and_its_cause(self):
        with Viewer(TRAIN) as viewer:
            gap = viewer.get("longest", {"kind": "gap"})["event"]
            self.assertEqual(gap["table"], "gpu_idle")
            self.assertTrue(gap["name"].startswith("idle: "))
            second = viewer.get("longest", {"kind": "gap", "nth": 1})["event"]
            self.assertGreaterEqual(gap["to"] - gap["from"], second["to"] - second["from"])
            counted = viewer.get("longest", {"kind": "gap", "within": "steps"})
            run = viewer.get("run")
            steps = run["steps"][0]
            self.assertEqual(counted["steps"], len(steps["steady"]))
            spans = [(steps["from"][i], steps["to"][i]) for i in steps["steady"]]
            self.assertTrue(any(a <= counted["event"]["from"] < b for a, b in spans))
            self.assertEqual([other["where"] for other in counted["outside"]],
                             ["before the first step", "in step 0 (warm-up)", "after the last step"])
            # The longest of a cause is no gap of another one, though that may be longer.
            rest = viewer.get("next", {"kind": "gap", "at": "0"})["event"]
            while rest and rest["name_id"] == gap["name_id"]:
                rest = viewer.get("next", {"kind": "gap", "at": str(rest["from"])})["event"]
            self.assertIsNotNone(rest)
            for request in ({"nth": 0}, {"nth": 1}):
                same = viewer.get("longest", dict(request, kind="gap", name=rest["name_id"]))["event"]
                if same:
                    self.assertEqual((same["table"], same["name"]), ("gpu_idle", rest["name"]))

    def test_a_kernel_leads_to_its_launch_and_back(self):
        with Viewer(TRAIN) as viewer:
            kernel = viewer.get("event", {"table": "kernels", "row": 10})
            launches = [link for link in kernel["links"] if link["kind"] == "launch"]
            self.assertEqual(len(launches), 1)
            call = viewer.get("event", {"ref": launches[0]["ref"]})
            self.assertEqual(call["table"], "api_calls")
            self.assertIn(kernel["ref"], [link["ref"] for link in call["links"]])
            self.assertTrue(call["parents"])

    def test_gaps_of_one_rank_are_its_own(self):
        counts = []
        for words in ([], ["--rank", "0"], ["--rank", "1"]):
            with Viewer(RECORDINGS / "h200_two_ranks.batchlight", *words) as viewer:
                found = viewer.get("longest", {"kind": "gap", "within": "steps"})
                counts.append(found["count"])
                if words:
                    run = viewer.get("run")
                    group = run["tracks"][found["event"]["track"]]["group"]
                    while run["groups"][group]["rank"] < 0:
                        group = run["groups"][group]["parent"]
                    self.assertEqual(run["groups"][group]["rank"], int(words[1]))
        self.assertEqual(counts[0], counts[1] + counts[2])

    def test_a_range_says_which_steps_it_does_not_count(self):
        with Viewer(TRAIN) as viewer:
            steps = viewer.get("run")["steps"][0]
            self.assertNotIn(0, steps["steady"])
            notes = viewer.get("range", {"first_step": 0, "last_step": 3})["notes"]
            self.assertRegex("; ".join(notes), r"not counted but in the table of steps: step 0 \(warm-up\)")
            self.assertEqual(viewer.get("range", {"first_step": 0, "last_step": 0})["notes"], [])  # alone it counts
            self.assertEqual(viewer.get("range", {"first_step": 2, "last_step": 3})["notes"], [])
            touched = viewer.get("range", {"from": str(steps["from"][2] + 1), "to": str(steps["to"][3] - 1)})["notes"]
            self.assertEqual(touched, ["of exactly this time, in steps 2 to 3, as if it were one step"])

    def test_what_is_found_by_name_is_the_longest_of_the_steps_that_count(self):
        with Viewer(TRAIN) as viewer:
            steps = viewer.get("run")["steps"][0]
            counted = [(steps["from"][i], steps["to"][i]) for i in steps["steady"]]
            found = viewer.get("longest", {"text": "kernel", "within": "steps"})
            self.assertTrue(any(a <= found["event"]["from"] < b for a, b in counted))
            self.assertGreater(viewer.get("longest", {"text": "kernel"})["count"], found["count"])

    def test_notes_lie_beside_the_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "run.batchlight")
            shutil.copy(TRAIN, copy)
            note = {"id": "1", "from": 5, "to": 9, "text": "</script> here", "mine": [1]}
            with Viewer(copy) as viewer:
                self.assertEqual(viewer.get("notes")["notes"], [])
                self.assertEqual(viewer.get("notes_put", {"set": [note]})["notes"], [note])
            self.assertEqual(json.loads(pathlib.Path(folder, "run.batchlight.notes.json").read_text())["notes"], [note])
            with Viewer(copy) as viewer:
                self.assertEqual(viewer.get("notes")["notes"], [note])
                # Each page tells what it changes: what others wrote stays.
                other = {"id": "2", "from": 1, "to": 1, "text": "of another page"}
                self.assertEqual(viewer.get("notes_put", {"set": [other]})["notes"], [note, other])
                self.assertEqual(viewer.get("notes_put", {"set": [], "drop": ["2"]})["notes"], [note])
            # Who writes by hand gives no ids.
            by_hand = [{"id": "file-1", "text": "a"}, {"text": "b"}, {"id": 5, "text": "c"}]
            pathlib.Path(folder, "run.batchlight.notes.json").write_text(json.dumps({"notes": by_hand}))
            with Viewer(copy) as viewer:
                ids = [note["id"] for note in viewer.get("notes")["notes"]]
                self.assertEqual(ids, ["file-1", "file-2", "file-3"])
                all_of = viewer.get("notes_put", {"set": [other]})["notes"]
                self.assertEqual([note["id"] for note in all_of], [*ids, "2"])
                self.assertEqual(viewer.get("notes_put", {"set": [], "drop": ids})["notes"], [other])
            damaged = "[" * 100000
            pathlib.Path(folder, "run.batchlight.notes.json").write_text(damaged)
            with Viewer(copy) as viewer:
                self.assertEqual(viewer.call("notes")[0], 500)
                self.assertEqual(viewer.call("notes_put", {"set": [note]})[0], 500)
                self.assertEqual(pathlib.Path(folder, "run.batchlight.notes.json").read_text(), damaged)
                self.assertEqual(viewer.call("run")[0], 200)

    def test_opens_every_kind_of_input(self):
        kineto = next(pathlib.Path(SOURCE, "tests", "kineto").glob("*.json"))
        for path in (RECORDINGS / "version_1.batchlight", RECORDINGS / "version_1.batchlight.live",
                     RECORDINGS / "h200_two_ranks.batchlight", kineto):
            with Viewer(path) as viewer:
                self.assertGreater(viewer.get("run")["events"], 0, path)

    def test_several_files_are_the_ranks_of_one_job(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(3):
                on = {"ph": "X", "pid": 40 + rank, "tid": 40 + rank, "args": {}}
                events = [dict(on, cat="cpu_op", name="aten::mm", ts=1000 + 100 * i, dur=50 + rank) for i in range(10)]
                events += [dict(on, cat="user_annotation", name="ProfilerStep#%d" % i, ts=995 + 100 * i, dur=90)
                           for i in range(10)]
                pathlib.Path(folder, "r%d.json" % rank).write_text(json.dumps(
                    {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 3},
                     "traceEvents": events}))
            with Viewer(*sorted(pathlib.Path(folder).iterdir())) as viewer:
                self.assertEqual(len(viewer.get("status")["runs"]), 1)
                job = viewer.get("run")
                self.assertEqual([(group["title"], group["rank"]) for group in job["groups"]],
                                 [("rank %d, process (pid %d)" % (rank, 40 + rank), rank) for rank in range(3)])
                self.assertEqual([(steps["rank"], steps["count"]) for steps in job["steps"]], [(0, 10), (1, 10), (2, 10)])

    def test_a_run_that_begins_in_the_folder_removes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            shutil.copy(TRAIN, folder)
            with Viewer(folder) as viewer:
                changed = lambda: viewer.get("status")["runs"][0]["changed"]  # noqa: E731
                self.assertEqual(changed(), "")
                (folder / "next.batchlight.live").mkdir()
                self.assertEqual(changed(), "")
                (folder / TRAIN.name).unlink()
                self.assertNotEqual(changed(), "")

    def test_says_how_far_a_long_reading_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace.json")
            events = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5}
                      for i in range(400_000)]
            path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
            with Viewer(path, wait=False) as viewer:
                seen = viewer.get("status")["runs"]
                while not seen[0]["ready"]:
                    self.assertEqual(len(seen), 1)
                    self.assertRegex(seen[0]["doing"], "^(reading|ordering the events of) .*trace.json$")
                    self.assertTrue(0 <= seen[0]["progress"] <= 1)
                    time.sleep(0.02)
                    seen = viewer.get("status")["runs"]
                self.assertEqual(viewer.get("run")["events"], 400_000)
            with Viewer(path, wait=False) as viewer:  # ended while it reads, or just after
                viewer.tool.send_signal(signal.SIGINT)
                self.assertEqual(viewer.tool.wait(LONG_S), 0)
            path.write_text(json.dumps({"others": events}))  # no trace, as its end shows
            done = run(BATCHLIGHT, "view", "--no-browser", path)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("cannot read", done.stderr)

    def test_two_runs(self):
        with Viewer(TRAIN, RECORDINGS / "h200_memory.batchlight") as viewer:
            self.assertEqual(len(viewer.get("status")["runs"]), 2)
            self.assertNotEqual(viewer.get("run")["hash"], viewer.get("run", {"run": 1})["hash"])
            self.assertEqual(viewer.call("run", {"run": 2})[0], 404)
            compared = viewer.get("compare")
            self.assertEqual(compared["tables"][0]["columns"][3]["key"], "delta_ns")
            self.assertTrue(compared["steps"])
            kernels = next(table for table in compared["tables"] if table["key"] == "kernels")
            calls = [column["key"] for column in kernels["columns"]].index("a_calls")
            self.assertIsNone(kernels["rows"][0][calls])  # what the others add up to is not called
            self.assertTrue(any(row[calls] for row in kernels["rows"]))

    def test_memory_is_a_counter(self):
        with Viewer(RECORDINGS / "h200_memory.batchlight") as viewer:
            described = viewer.get("run")
            counters = [track for track in described["tracks"] if "counter" in track]
            self.assertTrue(counters)
            view = columns_of(viewer.get("view", {"from": described["from"], "to": described["to"], "step": 2 ** 20,
                                                  "rows": [[counters[0]["id"], 0, 1]]}))
            self.assertEqual(max(view["columns"]["max"]), counters[0]["counter"]["max"])

    def test_flags_lead_to_a_place(self):
        for words, rest in ((["--step", "13"], "&step=13"), (["--at", "1.234s"], "&at=1234000000"),
                            (["--find", "a b&c"], "&find=a%20b%26c")):
            with Viewer(TRAIN, *words) as viewer:
                self.assertEqual(viewer.rest, rest)
        for words in (["--at", "soon"], ["--at", "4.1"], ["--step", "x"], ["--step", "1", "--at", "2s"], ["--port", "0"],
                      ["--allow-host", "a:1"], ["--frame-ancestor", "hub"], ["--idle", "x"]):
            done = run(BATCHLIGHT, "view", "--no-browser", TRAIN, *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("batchlight: ", done.stderr)
        self.assertEqual(run(BATCHLIGHT, "view", "/nowhere").returncode, 3)
        self.assertEqual(run(BATCHLIGHT, "view", "--no-browser", TRAIN, "/nowhere").returncode, 3)

    def test_ends_by_signal_and_idle_time(self):
        with Viewer(TRAIN) as viewer:
            viewer.tool.send_signal(signal.SIGINT)
            self.assertEqual(viewer.tool.wait(LONG_S), 0)
        with Viewer(TRAIN, "--idle", "200ms") as viewer:
            self.assertEqual(viewer.tool.wait(LONG_S), 0)

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = run(BATCHLIGHT, "view", "--no-browser", TRAIN, "--port", taken.getsockname()[1])
            self.assertEqual(done.returncode, 2)
            self.assertIn("port", done.stderr)

    def test_a_browser_that_is_started_keeps_neither_port_nor_output(self):
        with tempfile.TemporaryDirectory() as folder:
            browser, seen = os.path.join(folder, "xdg-open"), os.path.join(folder, "seen")
            with open(browser, "w") as file:
                file.write("#!/bin/sh\nls -l /proc/$$/fd > %s.part; mv %s.part %s\n" % (seen, seen, seen))
            os.chmod(browser, 0o755)
            environment = dict(os.environ, DISPLAY=":9", XDG_RUNTIME_DIR=folder,
                               PATH=folder + ":" + os.environ["PATH"])
            tool = subprocess.Popen([BATCHLIGHT, "view", str(TRAIN)], env=environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            try:
                limit = time.time() + LONG_S
                while not os.path.exists(seen) and time.time() < limit:
                    time.sleep(0.05)
            finally:
                tool.kill()
                tool.communicate()
            held = pathlib.Path(seen).read_text()
            self.assertNotIn("socket:", held)
            self.assertNotIn("pipe:", held)

    def test_unix_socket_is_the_users_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "view.sock")
            viewer = Viewer(TRAIN, "--socket", path)
            with viewer:
                self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
                with socket.socket(socket.AF_UNIX) as peer:
                    peer.connect(path)
                    peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    self.assertIn(b" 200 ", peer.recv(100))
                viewer.tool.send_signal(signal.SIGINT)
                viewer.tool.wait(LONG_S)
            self.assertFalse(os.path.exists(path))

    def test_line_for_another_machine_is_safe_in_a_shell(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "it's; touch $HOME.sock")
            # As people type it: ssh takes what has no slash for a host.
            with Viewer(TRAIN, "--socket", os.path.relpath(path)) as viewer:
                line = viewer.tool.stdout.readline()
                command = re.match("From another machine: (.*), then", line)[1]
                self.assertEqual(shlex.split(command),
                                 ["ssh", "-C", "-N", "-L", "8080:" + path, socket.gethostname()])

    def test_unix_socket_of_somebody_else_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "view.sock")

            def refused(said):
                before = os.lstat(path).st_ino
                done = run(BATCHLIGHT, "view", "--no-browser", TRAIN, "--socket", path)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertEqual(os.lstat(path).st_ino, before)

            for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
                with socket.socket(socket.AF_UNIX, kind) as listener:
                    listener.bind(path)
                    if kind != socket.SOCK_DGRAM:
                        listener.listen()
                    refused("listens" if kind == socket.SOCK_STREAM else "may listen")
                    if os.getuid() == 0:
                        os.chown(path, 65534, 65534)
                        refused("another user's")
                os.unlink(path)
            os.symlink(os.path.join(folder, "nowhere"), path)
            refused("is no socket")
            os.unlink(path)
            with socket.socket(socket.AF_UNIX) as dead:  # of this user, and nobody listens
                dead.bind(path)
            with Viewer(TRAIN, "--socket", path) as viewer:
                os.rename(path, path + ".moved")
                with socket.socket(socket.AF_UNIX) as other:
                    other.bind(path)
                viewer.tool.send_signal(signal.SIGINT)
                self.assertEqual(viewer.tool.wait(LONG_S), 0)
                self.assertTrue(os.path.exists(path))  # it is the other's

    def test_a_recording_that_is_replaced_cut_or_removed_stays_as_it_was_read(self):
        def replace(path):
            shutil.copy(RECORDINGS / "h200_compile.batchlight", str(path) + ".new")
            os.replace(str(path) + ".new", path)

        def overwrite(path):
            path.write_bytes((RECORDINGS / "h200_compile.batchlight").read_bytes())

        for change in (replace, overwrite, lambda path: os.truncate(path, 100), os.remove):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "train.batchlight")
                shutil.copy(TRAIN, path)
                with Viewer(path) as viewer, Viewer(TRAIN) as untouched:
                    before = viewer.get("run")
                    change(path)
                    for call, request in (("find", {"text": ""}), ("event", {"ref": 0}),
                                          ("range", {"first_step": before["steps"][0]["number"][1]})):
                        self.assertEqual(viewer.get(call, request), untouched.get(call, request))
                    self.assertEqual(viewer.get("run"), before)
                    self.assertEqual(viewer.get("status")["runs"][0]["generation"], 1)

    def test_browsers_that_die_disturb_no_other(self):
        with Viewer(TRAIN) as viewer:
            known = viewer.get("find", {"text": ""})
            body = json.dumps({"text": ""}).encode()
            head = ("POST /api/1/find HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                    "Content-Length: %d\r\n\r\n" % (viewer.token, len(body))).encode()
            for cut in (0, 10, len(head), len(head) + 3, len(head) + len(body)):
                for _ in range(20):  # more than the connections that the server has
                    with socket.create_connection(("127.0.0.1", viewer.port)) as peer:
                        peer.sendall((head + body)[:cut])
                        # Gone without a word: the answer has no reader.
                        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.assertEqual(viewer.get("find", {"text": ""}), known)
            self.assertIsNone(viewer.tool.poll())

    def test_two_browsers_get_the_same(self):
        with Viewer(TRAIN) as viewer:
            steps = viewer.get("run")["steps"][0]["number"]
            requests = [{"first_step": step, "tables": [table]} for step in steps[:3]
                        for table in ("kernels", "operators", "phases")]
            alone = [viewer.get("range", request) for request in requests]
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                both = [pool.submit(viewer.get, "range", request) for request in requests + requests[::-1]]
                self.assertEqual([one.result() for one in both], alone + alone[::-1])

    def test_follows_a_run_that_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "loop.py")
            program.write_text("import batchlight, time, sys\n"
                               "for i in range(10000):\n"
                               "    with batchlight.annotate('step %d' % i):\n"
                               "        time.sleep(0.02)\n")
            recording = os.path.join(folder, "run.batchlight")
            job = subprocess.Popen([BATCHLIGHT, "profile", "-o", recording, "python3", str(program)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                limit = time.time() + LONG_S
                while time.time() < limit and run(BATCHLIGHT, "summary", recording).returncode != 0:
                    time.sleep(0.5)
                time.sleep(1)
                with Viewer(recording) as viewer:
                    first = viewer.get("run")
                    self.assertTrue(first["growing"])
                    while time.time() < limit:
                        state = viewer.get("status")["runs"][0]
                        later = viewer.get("run")
                        if state["generation"] > 1 and later["events"] > first["events"]:
                            break
                        time.sleep(0.2)
                    self.assertGreater(later["generation"], 1)
                    self.assertGreater(later["events"], first["events"])
                    self.assertEqual(later["hash"], first["hash"])
                    self.assertEqual(viewer.call("names", {"ids": [], "generation": 1})[0], 409)
                    # While nobody looks: under 1 % of a processor.
                    before, began = viewer.cpu_s(), time.monotonic()
                    time.sleep(5)
                    self.assertLess(viewer.cpu_s() - before, 0.01 * (time.monotonic() - began))
            finally:
                job.terminate()
                job.wait(LONG_S)

    def test_of_a_long_run_that_goes_on_only_what_is_new_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "loop.py")
            marker = pathlib.Path(folder, "400 steps")
            program.write_text("import batchlight, pathlib, time\n"
                               "for i in range(3):\n"
                               "    for j in range(1200000):\n"
                               "        with batchlight.annotate('fill'):\n"
                               "            pass\n"
                               "for i in range(100000):\n"
                               "    with batchlight.annotate('step %d' % i):\n"
                               "        time.sleep(0.02)\n"
                               "    if i == 400:\n"
                               f"        pathlib.Path({str(marker)!r}).touch()\n")
            recording = os.path.join(folder, "run.batchlight")
            job = subprocess.Popen([BATCHLIGHT, "profile", "-o", recording, "python3", str(program)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                limit = time.time() + 3 * LONG_S
                while time.time() < limit and not marker.exists():
                    time.sleep(0.2)
                with Viewer(recording) as viewer:
                    first = viewer.get("run")
                    while not first["complete"]:
                        time.sleep(0.1)
                        first = viewer.get("run")
                    self.assertGreater(first["events"], 3_600_000)
                    whole_s, seen, costs = viewer.cpu_s(), 0, []
                    while time.time() < limit and seen < 5:
                        before = viewer.cpu_s()
                        generation = viewer.get("status")["runs"][0]["generation"]
                        if generation != first["generation"]:
                            costs.append(viewer.cpu_s() - before)
                            later = viewer.get("run")
                            self.assertGreater(later["steps"][0]["number"][-1], first["steps"][0]["number"][-1])
                            self.assertGreater(later["events"], first["events"])
                            self.assertEqual(later["hash"], first["hash"])
                            first, seen = later, seen + 1
                        time.sleep(0.3)
                    self.assertEqual(seen, 5)
                    # A look costs a part of a reading of all, on however slow a machine; one that is not sure reads all.
                    self.assertLess(min(costs), whole_s / 3, costs)
                    steps = first["steps"][0]
                    self.assertEqual(steps["number"], list(range(steps["count"])))
                    last = viewer.get("event", {"ref": steps["first_ref"] + steps["count"] - 1})
                    self.assertEqual(last["from"], steps["from"][-1])
            finally:
                job.terminate()
                job.wait(LONG_S)

    def test_a_tool_that_is_killed_is_told_while_the_program_runs_on(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "loop.py")
            program.write_text("import batchlight, time\n"
                               "for i in range(100000):\n"
                               "    with batchlight.annotate('step %d' % i):\n"
                               "        time.sleep(0.02)\n")
            recording = os.path.join(folder, "run.batchlight")
            job = subprocess.Popen([BATCHLIGHT, "profile", "-o", recording, "python3", str(program)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            child = None
            try:
                limit = time.time() + LONG_S
                while time.time() < limit and run(BATCHLIGHT, "summary", recording).returncode != 0:
                    time.sleep(0.5)
                with Viewer(recording) as viewer:
                    child = int(run("pgrep", "-P", job.pid, "-f", "loop.py").stdout.split()[0])
                    self.assertEqual(viewer.get("run")["losses"], [])
                    titles = []
                    while time.time() < limit and "resident memory" not in titles:  # the tool has looked twice
                        time.sleep(0.2)
                        viewer.get("status")
                        titles = [track["title"] for track in viewer.get("run")["tracks"]]
                    job.kill()
                    job.wait(LONG_S)
                    said = ""
                    while time.time() < limit and "killed" not in said:
                        time.sleep(0.5)
                        viewer.get("status")
                        state = viewer.get("run")
                        said = " ".join(loss["text"] for loss in state["losses"])
                    self.assertIn("batchlight itself was killed", said)
                    self.assertIn("trace seal", said)
                    self.assertTrue(state["growing"])
                    tracks = {track["title"]: track for track in state["tracks"]}
                    # What nobody looked at has no value.
                    self.assertLess(tracks["resident memory"]["to"], state["to"] - 1e9)
            finally:
                if child is not None:
                    os.kill(child, signal.SIGKILL)
                job.kill()
                job.wait(LONG_S)

    def test_three_jobs_are_refused_before_an_address_is_printed(self):
        done = run(BATCHLIGHT, "view", "--no-browser", TRAIN, RECORDINGS / "h200_compile.batchlight",
                   RECORDINGS / "h200_memory.batchlight")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
