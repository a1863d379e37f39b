"""Names of thousands of models of one class."""
import unittest

from bridge_case import BridgeCase


class Counted(dict):
    """Counts what is looked up, all of it where all is gone through."""
    count = 0

    def get(self, *args):
        Counted.count += 1
        return super().get(*args)

    def values(self):
        Counted.count += len(self)
        return super().values()


class Module:
    def __init__(self, **parts):
        self._modules, self._parameters, self.training = parts, {} if parts else {"weight": object()}, True


class Part(Module):
    pass


class ManyModels(BridgeCase):
    name = "_torch_modules"

    def setUp(self):
        super().setUp()
        Counted.count = 0

    def test_a_name_is_found_at_once(self):
        labels, models = self.module.RootLabels(), [Module() for _ in range(1000)]
        labels._roots = Counted()
        for model in models:
            labels.take(labels.free("Net", model), self.module.weakref.ref(model))
        self.assertEqual(list(labels._roots)[::333], ["Net", "Net#334", "Net#667", "Net#1000"])
        self.assertLess(Counted.count, 50 * len(models))
        models[1:3] = []
        self.assertEqual(labels.free("Net", Module()), "Net#2", "of one that is gone")

    def test_whether_there_are_others_is_known(self):
        owners = self.module.Owners()
        owners.of = Counted()
        models = [Module(part=Part()) for _ in range(1000)]
        for model in models:
            owners.note(model, "part", model._modules["part"])
        self.assertTrue(all(owners.has_others(model) for model in models))
        self.assertLess(Counted.count, 20 * len(models))
        del models[1:], model
        self.assertFalse(owners.has_others(models[0]))


if __name__ == "__main__":
    unittest.main()
