"""Threads that train at the same time, as they may without a GIL, get no error of ours."""
import threading
import types
import unittest

from bridge_case import BridgeCase

THREADS, ROUNDS, EACH = 4, 200, 2


class Updates(BridgeCase):
    name = "_torch_updates"

    def setUp(self):
        super().setUp()
        parameter = types.SimpleNamespace(numel=lambda: 4, dtype="torch.float64")
        self.optimizer = types.SimpleNamespace(param_groups=[{"params": [parameter]}])

    def test_optimizers_of_threads_take_their_first_steps_at_once(self):
        barrier, errors = threading.Barrier(THREADS), []

        def train(thread):
            for _ in range(ROUNDS):
                barrier.wait()
                if thread == 0:
                    self.module._numbers.clear()
                barrier.wait()
                try:
                    for step in range(EACH):
                        self.module.say_precision(self.optimizer, "%d.%d" % (thread, step))
                except Exception as error:
                    errors.append(error)

        threads = [threading.Thread(target=train, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(self.said, {"torch.float64_parameters": "1.0000"})

    def test_a_table_that_changes_is_no_error_of_the_program(self):
        class Changing(dict):
            def values(self):
                raise RuntimeError("dictionary changed size during iteration")

        self.module._numbers = Changing()
        self.module.say_precision(self.optimizer, "Adam.step")
        self.assertEqual(self.said, {})


if __name__ == "__main__":
    unittest.main()
