"""What `batchlight view` answers and to whom: the same as other commands, links of a real run, all columns of an
event, inputs of nsys, and limits with their real numbers."""
import json
import lzma
import os
import pathlib
import re
import shlex
import socket
import tempfile
import unittest

from recorded import BATCHLIGHT, SOURCE, run
from viewer import RECORDINGS, TRAIN, Viewer

DOCUMENTS = RECORDINGS / "h200_documents.batchlight"
CONNECTIONS = 32  # at once


class ViewAnswersTest(unittest.TestCase):
    def test_two_runs_are_compared_as_by_diff(self):
        runs = TRAIN, RECORDINGS / "h200_memory.batchlight"
        done = run(BATCHLIGHT, "diff", *runs, "-f", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        lists = json.loads(done.stdout)["lists"]
        with Viewer(*runs) as viewer:
            tables = {table["key"]: table for table in viewer.get("compare")["tables"]}
        self.assertEqual(set(tables), set(lists))
        compared = 0
        for key, known in lists.items():
            columns = [column["key"] for column in tables[key]["columns"]]
            rows = {row[columns.index("name")]: row for row in tables[key]["rows"]}
            whole = rows.get(known["whole"])
            if whole is not None:
                self.assertAlmostEqual(whole[columns.index("a_ns")], known["a_ns"], delta=1)
            for change in known["changes"]:
                row = dict(zip(columns, rows[change["name"]]))
                for side in ("a_ns", "b_ns"):
                    self.assertAlmostEqual(row[side], change[side], delta=1, msg=(key, change["name"]))
                self.assertAlmostEqual(row["delta_ns"], change["b_ns"] - change["a_ns"], delta=1)
                if row.get("a_calls") is not None:
                    self.assertAlmostEqual(row["a_calls"], change["a_calls"], places=6)
                compared += 1
        self.assertGreater(compared, 20)

    def test_a_forward_leads_to_its_backward_and_back(self):
        with Viewer(DOCUMENTS) as viewer:
            run_ = viewer.get("run")
            (operators,) = [table for table in run_["tables"] if table["key"] == "operator_calls"]
            refs = list(range(operators["first_ref"], operators["first_ref"] + min(1000, operators["rows"])))
            links = viewer.get("links", {"refs": refs, "from": str(run_["from"]), "to": str(run_["to"])})["links"]
            backward = [link for link in links if link["kind"] == "backward"]
            self.assertTrue(backward)
            forward, to = backward[0]["from"]["ref"], backward[0]["to"]["ref"]
            for ref, other, onward in ((forward, to, True), (to, forward, False)):
                found = [link for link in viewer.get("event", {"ref": ref})["links"] if link["kind"] == "backward"]
                self.assertIn((other, onward), [(link["ref"], link["forward"]) for link in found])
            self.assertIn("Backward", viewer.get("event", {"ref": to})["name"])

    def test_an_event_has_its_columns_and_arguments(self):
        kineto = pathlib.Path(SOURCE, "tests", "kineto", "training.json")
        for path, table, wanted in (
                (DOCUMENTS, "kernels", {"stream": r"^\d+$", "device": r"^\d+$", "correlation": r"^\d+$",
                                        "launch": r"^grid \d+ x \d+ x \d+, block \d+ x \d+ x \d+, \d+ registers",
                                        "demangled_name": r"\w+<.*>\(.*\)$"}),
                (kineto, "operator_calls", {"name": "^aten::", "shapes": r"^\[\[\d+, \d+\], ", "inputs": r"^f32\[\d+, \d+\], ",
                                            "thread": r"\w", "depth": r"^\d+$"})):
            with Viewer(path) as viewer:
                longest = viewer.get("longest", {"text": "", "table": table})["event"]
                fields = {field["key"]: field["text"] for field in viewer.get("event", {"ref": longest["ref"]})["fields"]}
                for key, text in wanted.items():
                    self.assertRegex(fields.get(key, ""), text, (key, fields))

    def test_opens_an_export_of_nsys(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "train5.sqlite")
            path.write_bytes(lzma.decompress((RECORDINGS / "nsys-2025.3" / "train5.sqlite.xz").read_bytes()))
            with Viewer(path) as viewer:
                opened = viewer.get("run")
                self.assertGreater(opened["events"], 20_000)
                self.assertEqual(opened["steps"][0]["count"], 8)
                tables = viewer.get("range", {"first_step": opened["steps"][0]["number"][4]})["tables"]
                self.assertTrue({"phases", "gpu_parts", "kernels"} <= {table["key"] for table in tables})

    def test_the_33rd_connection_is_refused_and_room_comes_again(self):
        with Viewer(TRAIN) as viewer:
            request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            peers = []
            try:
                for _ in range(CONNECTIONS):  # each answered, and kept
                    peer = socket.create_connection(("127.0.0.1", viewer.port), 30)
                    peers.append(peer)
                    peer.sendall(request)
                    self.assertIn(b" 200 ", peer.recv(100))
                with socket.create_connection(("127.0.0.1", viewer.port), 30) as late:
                    late.sendall(request)
                    self.assertIn(b" 503 ", late.recv(100))
            finally:
                for peer in peers:
                    peer.close()
            self.assertEqual(viewer.ask("GET", "/")[0], 200)

    def test_a_port_that_is_asked_for_and_its_line_for_ssh(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Viewer(TRAIN, "--port", port) as viewer:
            self.assertEqual(viewer.port, port)
            command = re.match("From another machine: (.*), then", viewer.tool.stdout.readline())[1]
            self.assertEqual(shlex.split(command), ["ssh", "-C", "-N", "-L", "%d:127.0.0.1:%d" % (port, port),
                                                    socket.gethostname()])

    def test_a_page_on_another_port_is_of_this_machine(self):
        with Viewer(TRAIN) as viewer:  # as behind `ssh -L`
            self.assertEqual(viewer.call("run", Origin="http://127.0.0.1:1")[0], 200)
            self.assertEqual(viewer.call("run", Origin="http://127.0.0.2:%d" % viewer.port)[0], 403)

    def test_notes_longer_than_a_mebibyte_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "run.batchlight")
            copy.write_bytes(TRAIN.read_bytes())
            notes = pathlib.Path(folder, "run.batchlight.notes.json")
            with Viewer(copy) as viewer:
                half = [{"id": str(i), "from": 1, "to": 2, "text": "x" * 600_000} for i in range(2)]
                self.assertEqual(viewer.call("notes_put", {"set": half[:1]})[0], 200)
                before = notes.read_bytes()
                self.assertNotEqual(viewer.call("notes_put", {"set": half[1:]})[0], 200)
                self.assertEqual(notes.read_bytes(), before)
            notes.write_text(json.dumps({"notes": half}))
            with Viewer(copy) as viewer:
                self.assertNotEqual(viewer.call("notes")[0], 200)
                self.assertEqual(viewer.call("run")[0], 200)

    def sockets_of(self, pid):
        """(local, remote, state) of the process's TCP sockets, and how many others of the network it has."""
        inodes = set()
        for descriptor in pathlib.Path("/proc/%d/fd" % pid).iterdir():
            found = re.match(r"socket:\[(\d+)\]", os.readlink(descriptor))
            inodes |= {found[1]} if found else set()
        tcp, others = [], 0
        for name in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
            for line in pathlib.Path("/proc/net", name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[9] not in inodes:
                    continue
                if name.startswith("tcp"):
                    tcp.append((fields[1], fields[2], fields[3]))
                else:
                    others += 1
        return tcp, others

    def test_the_program_connects_to_nobody(self):
        with Viewer(DOCUMENTS) as viewer:
            port = ":%04X" % viewer.port
            for name, request in (("run", {}), ("find", {"text": "mm"}), ("range", {"first_step": 3}), ("notes", {})):
                viewer.get(name, request)
                tcp, others = self.sockets_of(viewer.tool.pid)
                self.assertEqual(others, 0)
                self.assertTrue(any(state == "0A" for _, _, state in tcp))
                for local, _, _ in tcp:  # what it listens on, and what came there
                    self.assertTrue(local.endswith(port), tcp)


if __name__ == "__main__":
    unittest.main()
