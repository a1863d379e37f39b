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
        labels._given = Counted()
        given = [labels.of("Net", model) for model in models]
        self.assertEqual(given[::333], ["Net", "Net#334", "Net#667", "Net#1000"])
        self.assertLess(Counted.count, 3 * len(models))
        self.assertEqual(labels.of("Net", models[9]), "Net#10")
        gone = models[1]
        del models[1:3], gone
        self.assertEqual(labels.of("Net", Module(), keeps=False), "Net#2")
        models.append(Module())
        self.assertEqual(labels.of("Net", models[-1]), "Net#2", "the lowest of what is gone")

    def test_labels_of_what_is_gone_are_given_again(self):
        labels, kept = self.module.RootLabels(), [Module() for _ in range(10)]
        for model in kept:
            labels.of("Net", model)
        names = set()
        for _ in range(500):
            pair = Module(), Module()
            names.update(labels.of("Net", model) for model in pair)
            self.assertTrue(labels.has(pair[0]))
        del pair
        self.assertEqual(names, {"Net#11", "Net#12"})
        self.assertTrue(labels.has(kept[0]))  # what is gone is forgotten when the next is asked for
        self.assertEqual((len(labels._given), len(labels._roots)), (10, 10))

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
