"""What is told of modules that are given no tensor that requires a gradient."""
import collections
import sys
import types
import unittest
import unittest.mock

from bridge_case import BridgeCase


class Tensor:
    is_leaf = True

    def __init__(self, requires_grad=False):
        self.learns = requires_grad

    @property
    def requires_grad(self):
        return self.learns


class Parameter(Tensor):
    def __init__(self, requires_grad=True):
        super().__init__(requires_grad)


class Module:
    def __init__(self, *parts, parameter=None, **own):
        self._parameters = {"weight": parameter or Parameter(), "bias": None}
        self._buffers, self._modules = {}, {str(i): part for i, part in enumerate(parts)}
        self._forward_pre_hooks, self._forward_hooks = collections.OrderedDict(), collections.OrderedDict()
        vars(self).update(own)


class Given(BridgeCase):
    name = "_torch_given"

    def setUp(self):
        super().setUp()
        self.grad, self.graph_task, self.traced = True, -1, None
        stub = types.SimpleNamespace(
            Tensor=Tensor, nn=types.SimpleNamespace(Parameter=Parameter), dtype=type("dtype", (), {}),
            device=type("device", (), {}), is_grad_enabled=lambda: self.grad,
            cuda=types.SimpleNamespace(is_initialized=lambda: False),
            _C=types.SimpleNamespace(_get_tracing_state=lambda: self.traced,
                                     _current_graph_task_id=lambda: self.graph_task))
        patch = unittest.mock.patch.dict(sys.modules, torch=stub)
        patch.start()
        self.addCleanup(patch.stop)
        self.given = self.module.Given(stub)

    def told(self):
        self.said.clear()
        self.given.say()
        return self.said.get("model.given_no_gradient")

    def is_told(self, module, *arguments, **named):
        """Of a module that is called once, with this."""
        self.given = self.module.Given(sys.modules["torch"])
        self.given.look(module, arguments, named, "teacher")
        return self.told() == "teacher"

    def test_numbers_images_ids_and_nothing_at_all(self):
        for given in ((), (Tensor(),), (1, "train", None, slice(3)), ([Tensor(), {"ids": (Tensor(),)}],)):
            self.assertTrue(self.is_told(Module(), *given), given)
        self.assertTrue(self.is_told(Module(), images=Tensor()))

    def test_a_gradient_may_be_anywhere(self):
        learns = Tensor(True)
        for given in (learns, [learns], {"a": [Tensor(), (learns,)]}, [[[[[learns]]]]], [Tensor()] * 999 + [learns]):
            self.assertFalse(self.is_told(Module(), given), given)
            self.assertFalse(self.is_told(Module(), Tensor(), more=given), given)

    def test_what_may_hold_one_is_not_known(self):
        for given in (types.SimpleNamespace(x=Tensor()), lambda: None, iter(()), [[[[[]]]]]):
            self.assertFalse(self.is_told(Module(), given), given)

    def test_many_things_in_each_other_are_not_looked_through(self):
        tree = [0] * 200
        for _ in range(3):
            tree = [tree] * 200
        self.assertFalse(self.is_told(Module(), tree))
        self.assertFalse(self.is_told(Module(kept=tree), Tensor()))

    def test_any_call_with_a_gradient_is_enough(self):
        critic, other = Module(), Module()
        for learns in (False, True, False):
            self.given.look(critic, (Tensor(learns),), {}, "critic")
            self.given.look(other, (Tensor(),), {}, "critic.0")
        self.assertEqual(self.told(), "critic.0")

    def test_only_of_what_asks_for_gradients(self):
        self.assertFalse(self.is_told(Module(parameter=Parameter(False)), Tensor()))
        self.assertTrue(self.is_told(Module(Module(), parameter=Parameter(False)), Tensor()))

    def test_parameters_that_are_computed_or_no_parameters(self):
        computed = Parameter()
        computed.is_leaf = False
        for parameter in (computed, Tensor(True)):
            self.assertFalse(self.is_told(Module(parameter=parameter), Tensor()))
            self.assertFalse(self.is_told(Module(Module(parameter=parameter)), Tensor()))
        self.assertFalse(self.is_told(Module(_attr_to_path={"weight": "weight"}), Tensor()))

    def test_what_a_part_keeps(self):
        for kept in (Tensor(True), [Tensor(), Tensor(True)], {"prompts": Tensor(True)}):
            self.assertFalse(self.is_told(Module(Module(kept=kept)), Tensor()))
            self.assertFalse(self.is_told(Module(_buffers={"kept": Tensor(True)}), Tensor()))
        self.assertTrue(self.is_told(Module(Module(kept=[Tensor(), "a", object(), None])), Tensor()))

    def test_hooks_may_bring_what_learns(self):
        for hooks in ("_forward_pre_hooks", "_forward_hooks"):
            module = Module()
            vars(module)[hooks][0] = print
            self.assertFalse(self.is_told(Module(module), Tensor()))

    def test_where_it_is_not_looked(self):
        self.grad = False
        self.assertFalse(self.is_told(Module(), Tensor()))
        self.grad, self.graph_task = True, 3
        self.assertFalse(self.is_told(Module(), Tensor()))
        self.graph_task, self.traced = -1, object()
        self.assertFalse(self.is_told(Module(), Tensor()))

    def test_wrappers_and_modules_without_a_name(self):
        for path in ("", "Net (DistributedDataParallel)"):
            self.given.look(Module(), (Tensor(),), {}, path)
        self.assertIsNone(self.told())

    def test_classes_of_the_program_are_not_asked(self):
        class Odd(Tensor):
            @property
            def requires_grad(self):
                raise SystemExit("asked")

        self.assertTrue(self.is_told(Module(kept=Odd()), Odd(), {"more": Odd()}))
        self.assertFalse(self.is_told(Module(), Odd(True)))
        self.assertFalse(self.is_told(Module(kept=Odd(True)), Odd()))

    def test_what_is_odd_is_left_out(self):
        self.assertFalse(self.is_told(object(), Tensor()))

    def test_the_outer_ones_of_many(self):
        for i in range(100):
            self.given.look(Module(), (), {}, "layers.%d.words" % i)
        self.given.look(Module(), (), {}, "teacher")
        told = self.told().split("\n")
        self.assertEqual((len(told), told), (64, sorted(told)))
        self.assertIn("teacher", told)


if __name__ == "__main__":
    unittest.main()
