"""show() in a notebook, with a shell script for the program."""
import errno
import json
import os
import re
import socket
import stat
import sys
import tempfile
import unittest
from html import unescape
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from batchlight import _show  # noqa: E402

PAGE = '<html lang="en"><body>"events" & all</body></html>'
SCRIPT = """#!/bin/sh
echo "$@" >>'%(folder)s/calls'
case "$*" in
*foreign*) echo "http://127.0.0.1:4711/?token=abc"; exec sleep 600 ;;
*missing*) echo "batchlight: missing is not there" >&2; exit 3 ;;
*--html*) case "$*" in *large*) echo "NOTE: 5 of 9 events" >&2 ;; esac
          printf '%%s' '%(page)s' ;;
*) echo "http://127.0.0.1:4711/#token=abc&step=3"; exec sleep 600 ;;
esac
"""


class Show(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        program = os.path.join(self.folder, "batchlight")
        with open(program, "w") as file:
            file.write(SCRIPT % {"folder": self.folder, "page": PAGE})
        os.chmod(program, stat.S_IRWXU)
        for name, value in (("find_tool", program), ("_notebook", ("http://localhost:8890", "/")),
                            ("_has_proxy", False)):
            patch = mock.patch.object(_show, name, lambda value=value: value)
            patch.start()
            self.addCleanup(patch.stop)
        self.tickets = iter("123")
        patch = mock.patch.object(_show._Server, "_ticket", lambda server: next(self.tickets))
        patch.start()
        self.addCleanup(patch.stop)

    def page(self, shown):
        """In the frame of what is shown."""
        frame = shown._repr_html_()
        self.assertTrue(frame.startswith("<iframe srcdoc="))
        return unescape(frame.split('srcdoc="')[1].split('"')[0])

    def calls(self):
        with open(os.path.join(self.folder, "calls")) as file:
            return file.read().splitlines()

    def test_a_small_run_is_a_page_in_the_notebook(self):
        self.assertEqual(self.page(_show.show("run.batchlight")), PAGE)
        self.assertEqual(self.calls(), ["view --html /dev/stdout -- run.batchlight"])

    def test_opens_at_a_place(self):
        _show.show("run", find="a b&c")
        self.assertEqual(self.calls(), ["view --html /dev/stdout --find=a b&c -- run"])
        with self.assertRaises(ValueError):
            _show.show("run", step=1, at="2s")

    def test_a_name_is_no_flag(self):
        _show.show("--socket=elsewhere", find="--html=elsewhere")
        self.assertEqual(self.calls(), ["view --html /dev/stdout --find=--html=elsewhere -- --socket=elsewhere"])

    def test_a_large_run_is_served_until_it_is_closed(self):
        shown = _show.show("large.batchlight", step=3)
        self.addCleanup(shown.close)
        for ticket in "12":
            page = self.page(shown)
            of = self.of(page)
            self.assertEqual((of["at"], of["fragment"]), ("http://127.0.0.1:4711/", "#ticket=%s&step=3" % ticket))
            self.assertEqual(of["channels"], "", "of no kernel")
            self.assertNotIn("abc", page)
        served = self.calls()[-1]
        self.assertIn("--frame-ancestor http://localhost:8890 --frame-ancestor http://127.0.0.1:8890", served)
        self.assertIn("--step=3 -- large.batchlight", served)
        server = shown._server._process
        self.assertIsNone(server.poll())
        shown.close()
        self.assertIsNotNone(server.poll())
        shown.close()

    def of(self, page):
        """What its script knows."""
        return json.loads(page.split("const of = ")[1].split(";\n")[0])

    def test_its_port_is_nobody_elses_for_as_long_as_this_process_lives(self):
        shown = _show.show("run", served=True)
        port = int(re.search("--share-port --port=([0-9]+)", self.calls()[-1])[1])
        shown.close()
        for again in (0, 1):
            with socket.socket() as other, self.assertRaises(OSError):
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, again)
                other.bind(("127.0.0.1", port))
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    def test_its_port_is_nobody_elses_at_the_other_loopback_address(self):
        def binds(port):
            with socket.socket(socket.AF_INET6) as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    other.bind(("::1", port))
                except OSError:
                    return False
                return True

        if not binds(0):
            self.skipTest("this machine has no IPv6")
        asked, bound = [], _show._bound

        def taken_once(family, address, port):
            asked.append(address)
            if len(asked) == 2:
                raise OSError(errno.EADDRINUSE, "taken")
            return bound(family, address, port)

        with mock.patch.object(_show, "_bound", taken_once):
            port = _show._held_port()
        self.assertEqual(asked, ["127.0.0.1", "::1"] * 2)
        self.assertFalse(binds(port))

    def test_goes_through_the_proxy_of_jupyter(self):
        with mock.patch.object(_show, "_has_proxy", lambda: True), \
                mock.patch.object(_show, "_kernel", lambda: ("12-ab", "5e-55")), \
                mock.patch.dict(os.environ, {"JUPYTERHUB_SERVICE_PREFIX": "/user/ann/"}):
            shown = _show.show("run", served=True, origin="https://hub.example.org")
        self.addCleanup(shown.close)
        page = self.page(shown)
        of = self.of(page)
        self.assertEqual((of["at"], of["fragment"]), ("/user/ann/proxy/4711/", "#ticket=1&step=3&kernel=12-ab,5e-55"))
        self.assertEqual((of["channels"], of["session"]), ("/user/ann/api/kernels/12-ab/channels", "5e-55"))
        self.assertIn("--frame-ancestor https://hub.example.org --allow-host hub.example.org", self.calls()[-1])

    def test_a_server_whose_address_is_unknown_is_ended(self):
        begun = []
        popen = _show.subprocess.Popen
        with mock.patch.object(_show.subprocess, "Popen", lambda *args, **more: begun.append(popen(*args, **more)) or begun[0]):
            with self.assertRaisesRegex(_show.NotShown, r"\?token=abc' is no address"):
                _show.show("foreign", served=True)
        self.assertIsNotNone(begun[0].poll())

    def test_says_why_nothing_is_shown(self):
        for served in (None, True):
            with self.assertRaisesRegex(_show.NotShown, "missing is not there"):
                _show.show("missing", served=served)


if __name__ == "__main__":
    unittest.main()
