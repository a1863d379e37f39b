"""What is told of modules that are called again with the same input."""
import sys
import types
import unittest
import unittest.mock

from bridge_case import BridgeCase, Tensor

try:
    import numpy
except ImportError:
    numpy = None


class Versioned(Tensor):
    def __init__(self, array, device="cpu"):
        super().__init__(array, device)
        self.device.index = 0
        self._version = 0


class Parameter(Versioned):
    learns = True

    def numel(self):
        return self.array.size


class Module:
    """A layer that adds its weight."""
    training = True

    def __init__(self, *parts, device="cpu"):
        self._parameters = {"weight": Parameter(numpy.ones(1), device)}
        self._buffers, self._modules = {}, {str(i): part for i, part in enumerate(parts)}

    def forward(self, x):
        return Versioned(x.array + sum(float(weight.array[0]) for weight in self._parameters.values()),
                         x.device.type)


class Loss(Module):
    def __init__(self):
        super().__init__()
        self._parameters = {}


class Dropout(Loss):
    p = 0.1

    def __init__(self, p):
        super().__init__()
        self.p = p


class Noisy(Module):
    def forward(self, x):
        return Versioned(x.array + numpy.random.rand(*x.shape))


class Remembering(Module):
    def forward(self, x):
        self.state = super().forward(x)
        return self.state


@unittest.skipIf(numpy is None, "no NumPy in this Python")
class Repeats(BridgeCase):
    name = "_torch_repeats"

    def setUp(self):
        super().setUp()
        self.random, self.grad, self.graph_task = 0, True, -1
        state = types.SimpleNamespace(numpy=lambda: numpy.array([self.random]))
        generator = types.SimpleNamespace(get_state=lambda: state)
        stub = types.SimpleNamespace(
            Tensor=Versioned, nn=types.SimpleNamespace(Parameter=Parameter), dtype=type("dtype", (), {}),
            device=type("device", (), {}), bfloat16="bfloat16", float16="float16", is_grad_enabled=lambda: self.grad,
            is_autocast_enabled=lambda: False,
            cuda=types.SimpleNamespace(is_initialized=lambda: False, default_generators=[generator]),
            _C=types.SimpleNamespace(_get_tracing_state=lambda: None,
                                     _current_graph_task_id=lambda: self.graph_task))
        patch = unittest.mock.patch.dict(sys.modules, torch=stub)
        patch.start()
        self.addCleanup(patch.stop)
        self.progress = sys.modules["batchlight._bridge._torch_progress"]
        self.depth = 0

    def call(self, module, path, *inputs, forward=None, passes=False):
        """As the wrapper of nn.Module.__call__ does."""
        if self.depth == 0 and module.training and self.grad and self.module.looking:
            self.module.look_at_call(module, passes)
        self.depth += 1
        try:
            if not self.module.watching:
                return (forward or module.forward)(*inputs)
            window = self.module.watching[0]
            call = window.enter(module, inputs, {}, path)
            result = (forward or module.forward)(*inputs)
            if call is not None:
                window.leave(call, result)
            return result
        finally:
            self.depth -= 1

    def train(self, part, times=3, steps=20, between=lambda: None, device="cpu", inputs=None):
        """Steps in which a model calls `part` several times with the same input."""
        model = Module(part, device=device)
        for step in range(steps):
            x = Versioned(numpy.full((4, 100), step), device)

            def forward(x):
                for i in range(times):
                    self.call(part, "encode", x if inputs is None else inputs(x, i))
                    between()
                return model.forward(x)

            self.call(model, "Net", x, forward=forward)
            model._parameters["weight"]._version += 1
            part._parameters["weight"]._version += 1
            self.progress.update_begins()
        self.assertEqual(self.module.watching, [])
        return self.said.get("model.repeats")

    def test_a_part_that_is_called_in_a_loop(self):
        self.assertEqual(self.train(Module()), "6 4 encode")
        # The first three calls are not looked at, those of the four steps after them are, before and after each: of
        # the model and of the three calls of its part.
        looks = self.module.UPDATES * (1 + 3) * 2
        self.assertEqual(self.phases, [(self.module.LOOK, "look at the model")] * looks)

    def test_what_a_repeat_calls_is_not_counted(self):
        inner = Module()
        part = Module(inner)
        part.forward = lambda x: self.call(inner, "encode.0", x)
        self.assertEqual(self.train(part), "6 4 encode")

    def test_a_whole_model_called_for_each_task(self):
        model, loss = Module(), Loss()
        for step in range(5):
            x = Versioned(numpy.full((4, 100), step))
            for _ in range(5):
                self.call(loss, "Loss", self.call(model, "Net", x))
            self.progress.update_begins()
        # Calls 4 to 15: all five with the second of three inputs.
        self.assertEqual(self.said, {"model.repeats": "5 4 Net"})

    def test_the_same_batch_in_every_step_is_no_repeat(self):
        for fused in (True, False):
            self.forget_all()
            model, x = Module(), Versioned(numpy.ones((4, 100)))
            for _ in range(20):
                self.call(model, "Net", x)
                if fused:  # leaves versions alone
                    self.progress.update_begins()
                else:      # an update by hand
                    model._parameters["weight"]._version += 1
            self.assertEqual(self.said, {})

    def test_an_input_that_changed_in_place_or_another_one_is_no_repeat(self):
        def moved(x, _):
            x._version += 1
            return x

        self.assertIsNone(self.train(Module(), inputs=moved))
        self.forget_all()
        self.assertIsNone(self.train(Module(), inputs=lambda x, i: Versioned(x.array)))
        self.forget_all()
        self.assertIsNone(self.train(Module(), times=1))

    def forget_all(self):
        self.said.clear()
        self.module.looking[:] = [True]
        self.module._calls = self.module._learning = 0

    def test_other_arguments_beside_the_tensor_are_another_call(self):
        part = Module()
        part.forward = lambda pair: Module.forward(part, pair[0])
        self.assertIsNone(self.train(part, inputs=lambda x, i: (x, i)))
        self.forget_all()
        self.assertEqual(self.train(part, inputs=lambda x, i: (x, "same")), "6 4 encode")

    def test_keys_of_the_programs_classes_are_neither_asked_nor_kept(self):
        class Key:
            def __hash__(self):
                Key.asked += 1
                return 1

        Key.asked, key = 0, Key()
        held, asked = {key: 1.0}, Key.asked
        counts = sys.getrefcount(key)
        model = Module()
        for step in range(10):
            x = Versioned(numpy.full((4, 100), step))
            for _ in range(2):
                self.call(model, "Net", x, held, forward=lambda x, held: model.forward(x))
        self.assertEqual((Key.asked, sys.getrefcount(key)), (asked, counts))

    def test_a_vocabulary_that_is_handed_through(self):
        looked = []

        class Word:
            @property
            def __class__(self):
                looked.append(self)
                return Word

        words = [Word()] * 10000
        part, model = Module(), Module()
        for step in range(20):
            x = Versioned(numpy.full((4, 100), step))
            self.call(model, "Net", x, forward=lambda x: (
                self.call(part, "embed", words, {"words": words}, x, forward=lambda *given: part.forward(given[2])),
                model.forward(x))[1])
        self.assertEqual(self.module.watching, [])
        self.assertLess(len(looked), 5000)  # each is asked several times

    def test_dropout_noise_and_states_are_left_out(self):
        for part in (Module(Dropout(0.1)), Noisy(), Remembering()):
            self.forget_all()
            self.assertIsNone(self.train(part), type(part).__name__)
        self.forget_all()
        self.assertEqual(self.train(Module(Dropout(0.0))), "6 4 encode")

    def test_a_buffer_that_moves_is_a_state_and_that_of_a_norm_is_none(self):
        for name, told in (("Quantizer", None), ("BatchNorm2d", "6 4 encode"), ("_SpectralNorm", None)):
            self.forget_all()
            norm = type(name, (Loss,), {})()
            norm._buffers["mean"] = Versioned(numpy.ones(1))

            def move(norm=norm):
                norm._buffers["mean"]._version += 1

            self.assertEqual(self.train(Module(norm), between=move), told, name)

    def test_checkpointing_calls_again_inside_of_backward(self):
        part = Module()

        def in_backward():
            self.graph_task = 1

        def forward(x):
            self.graph_task = -1
            return Module.forward(part, x)

        part.forward = forward
        # The first call is of the forward, the others of the backward.
        model = Module(part)
        for step in range(20):
            x = Versioned(numpy.full((4, 100), step))

            def both(x):
                self.call(part, "block", x)
                in_backward()
                self.call(part, "block", x)
                return model.forward(x)

            self.call(model, "Net", x, forward=both)
            self.progress.update_begins()
        self.assertEqual(self.said, {})

    def test_on_a_gpu_nothing_is_read(self):
        part = Module(device="cuda")
        self.assertEqual(self.train(part, device="cuda"), "6 4 encode")

    def test_on_a_gpu_random_numbers_and_backwards_in_between_make_another_call(self):
        def draw(x):
            self.random += 1
            return Versioned(x.array, "cuda")

        part = Module(device="cuda")
        part.forward = draw
        self.assertIsNone(self.train(part, device="cuda"))
        self.forget_all()
        self.assertIsNone(self.train(Module(device="cuda"), device="cuda",
                                     between=self.progress.backward_begins))

    def test_calls_that_are_not_seen_end_the_window(self):
        model, x = Module(), Versioned(numpy.ones((4, 100)))
        for call in range(10):
            self.call(model, "Net", x, passes=call > 5)
        self.assertEqual(self.module.watching, [])
        self.call(model, "Net", x)
        self.assertEqual(self.module.watching, [])

    def mix(self, experts, give, **attributes):
        """20 steps of a layer that calls its experts."""
        layer = Module(*experts)
        layer.__dict__.update(attributes)
        for step in range(20):
            x = Versioned(numpy.full((4, 100), step))

            def forward(x):
                for i, expert in enumerate(experts):
                    self.call(expert, "moe.experts.%d" % i, give(x))
                return x

            self.call(layer, "moe", x, forward=forward)
        return self.said.get("model.experts")

    def test_experts_that_are_all_given_all_tokens(self):
        experts = [Module() for _ in range(8)]
        self.assertEqual(self.mix(experts, lambda x: x, top_k=2), "8 2 moe.experts")
        self.forget_all()
        config = types.SimpleNamespace(num_experts_per_tok=4)
        self.assertEqual(self.mix(experts, lambda x: x, config=config), "8 4 moe.experts")
        self.forget_all()
        self.assertEqual(self.mix(experts, lambda x: x, k=8), "8 0 moe.experts")

    def test_experts_of_their_own_tokens_and_other_modules_in_lists(self):
        experts = [Module() for _ in range(8)]
        self.assertIsNone(self.mix(experts, lambda x: Versioned(x.array[:2]), top_k=2))
        for others in (experts[:3], experts[:7] + [Module(Module())]):
            self.forget_all()
            self.assertIsNone(self.mix(others, lambda x: x, top_k=2))

    def test_cells_that_feed_on_their_own_output(self):
        class Node:
            def __init__(self, *before):
                self.next_functions = [(node, 0) for node in before]

        class LSTMCell(Module):
            def forward(self, x):
                made = Versioned(x.array + 1)
                made.grad_fn = Node(getattr(x, "grad_fn", None))
                return made, made

        for feeds_back in (True, False):
            self.forget_all()
            cell, net = LSTMCell(), Module()

            def forward(x, cell=cell, feeds_back=feeds_back):
                for _ in range(4):
                    given = Versioned(x.array)
                    given.grad_fn = Node(Node(x.grad_fn) if feeds_back else None)
                    x, _ = self.call(cell, "cell", given)
                return x

            for step in range(10):
                first = Versioned(numpy.full((4, 100), step))
                first.grad_fn = Node()
                self.call(net, "Net", first, forward=forward)
                self.progress.update_begins()
            self.assertEqual(self.said.get("model.cells_fed_back"), "cell" if feeds_back else None)

    def test_modules_without_parameters_are_not_looked_at_for_ever(self):
        loss, x = Loss(), Versioned(numpy.ones(3))
        for _ in range(self.module.MOST_OUTERMOST + 1):
            self.call(loss, "Loss", x)
        self.assertEqual(self.module.looking, [])
        self.assertEqual(self.said, {})

    def test_calls_that_raise_are_no_repeats(self):
        part = Module()

        def fails(x):
            raise ValueError

        def between():
            try:
                self.call(part, "encode", Versioned(numpy.ones(3)), forward=fails)
            except ValueError:
                pass

        # Three calls that raise are three inputs a step; the first and the last of all are left out.
        self.assertEqual(self.train(part, between=between), "20 6 encode")

    def test_what_is_odd_ends_the_window(self):
        class Odd(dict):
            def values(self):
                raise RuntimeError("no parts")

        part = Module()
        part._modules = Odd()
        model = Module()
        for _ in range(6):
            x = Versioned(numpy.ones((4, 100)))
            self.call(model, "Net", x, forward=lambda x: self.call(part, "odd", x))
        self.assertEqual((self.module.watching, self.said), ([], {}))

    def test_no_tensor_is_kept_alive(self):
        import gc
        import weakref
        model, seen = Module(), []
        for _ in range(8):
            x = Versioned(numpy.ones((4, 100)))
            seen.append(weakref.ref(x))
            self.call(model, "Net", x)
        self.assertTrue(self.module.watching)
        del x
        gc.collect()
        self.assertEqual([reference() for reference in seen], [None] * 8)


if __name__ == "__main__":
    unittest.main()
