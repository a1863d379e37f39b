"""What is said while the operator recorder is built."""
import contextlib
import io
import os
import sys
import unittest
import unittest.mock

from bridge_case import BridgeCase


class Said(BridgeCase):
    name = "_torch_library"

    def test_nothing_is_said_into_what_the_program_captures(self):
        real, captured = io.StringIO(), io.StringIO()
        with unittest.mock.patch.dict(os.environ, LOCAL_RANK="0"), \
                unittest.mock.patch.multiple(sys, stderr=real, __stderr__=real):
            self.module.say("building")
            with contextlib.redirect_stderr(captured):
                self.module.say("building")
        self.assertEqual((real.getvalue(), captured.getvalue()), ("batchlight: building\n", ""))


if __name__ == "__main__":
    unittest.main()
