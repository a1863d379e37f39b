"""batchlight.show(run, served=True): what a notebook saves of it is worth nothing to others, and later."""
import json
import os
import re
import sys
import unittest
from html import unescape

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from intruders_test import USER, cannot_become_user  # noqa: E402
from recorded import BATCHLIGHT, SOURCE, run  # noqa: E402
from viewer import TRAIN, Viewer  # noqa: E402

sys.path.insert(0, os.path.join(SOURCE, "python"))
from batchlight import _show  # noqa: E402


class SavedOutput(unittest.TestCase):
    def setUp(self):
        before = os.environ["PATH"]
        os.environ["PATH"] = os.path.dirname(BATCHLIGHT) + os.pathsep + before
        self.addCleanup(os.environ.__setitem__, "PATH", before)

    def show(self):
        """(the saved output, a Viewer that is its server)"""
        shown = _show.show(TRAIN, step=3, served=True)
        self.addCleanup(shown.close)
        output = unescape(unescape(shown._repr_html_()))
        server = Viewer.__new__(Viewer)
        server.token = ""
        server.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", output)[1])
        return output, server, shown

    def redeem(self, server, ticket):
        status, _, body = server.ask("POST", "/api/1/token", "{}", Authorization="Ticket " + ticket)
        return status, json.loads(body)

    def test_it_opens_for_one_page(self):
        output, server, shown = self.show()
        self.assertNotIn("token=", output)
        self.assertIn("step=3", output)
        ticket = re.search(r"ticket=([0-9a-f]{64})", output)[1]
        self.assertEqual(server.call("run", Authorization="Bearer " + ticket)[0], 401)
        self.assertEqual(server.call("ticket", Authorization="Ticket " + ticket)[0], 401)
        status, answer = self.redeem(server, ticket)
        self.assertEqual(status, 200, answer)
        server.token = answer["token"]
        self.assertNotIn(server.token, output)
        server.wait_until_read()
        status, answer = self.redeem(server, ticket)
        self.assertEqual(status, 401)
        self.assertEqual(answer["error"]["code"], "ticket")
        self.assertIn("run the cell again", answer["error"]["message"])
        again = unescape(unescape(shown._repr_html_()))
        other = re.search(r"ticket=([0-9a-f]{64})", again)[1]
        self.assertNotEqual(other, ticket)
        self.assertEqual(self.redeem(server, other)[0], 200)

    def test_another_user_gets_nothing_for_it(self):
        why = cannot_become_user()
        if why:
            self.skipTest(why)
        output, server, _ = self.show()
        ticket = re.search(r"ticket=([0-9a-f]{64})", output)[1]
        asks = ("import http.client as h; c = h.HTTPConnection('127.0.0.1', %d); c.request('POST', '/api/1/token', '{}', "
                "{'Authorization': 'Ticket %s'}); print(c.getresponse().status)" % (server.port, ticket))
        for _ in range(2):
            self.assertEqual(run("setpriv", "--reuid=" + USER, "--clear-groups", "/usr/bin/python3", "-c", asks).stdout, "401\n")
        self.assertEqual(self.redeem(server, ticket)[0], 200)

    def test_others_get_no_ticket(self):
        with Viewer(TRAIN) as server:
            self.assertEqual(server.call("ticket", Authorization="")[0], 401)
            self.assertEqual(self.redeem(server, "0" * 64)[0], 401)
            tickets = [server.get("ticket")["ticket"] for _ in range(200)]  # the oldest are forgotten
            self.assertEqual(self.redeem(server, tickets[0])[0], 401)
            self.assertEqual(self.redeem(server, tickets[-1])[0], 200)

    def test_after_the_server_it_says_so(self):
        _, _, shown = self.show()
        shown.close()
        self.assertIn("run the cell again", shown._repr_html_())


if __name__ == "__main__":
    unittest.main()
