"""Which modules are told to be given no gradient, of programs as they are written; run by torch_checks.py."""
import textwrap

from torch_case import TorchCase

LOOP = """
    import torch, torch.nn as nn
    torch.manual_seed(0)
    def net(): return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    def train(loss, *learning):
        optimizer = torch.optim.SGD([p for part in learning for p in part.parameters()], 1e-3)
        for _ in range(20):
            loss(torch.randn(4, 8)).backward()
            optimizer.step(); optimizer.zero_grad()
    class Both(nn.Module):
        def __init__(self, **parts):
            super().__init__()
            for name, part in parts.items(): setattr(self, name, part)
"""


class Given(TorchCase):
    def told(self, code):
        session = self.same(textwrap.dedent(LOOP) + textwrap.dedent(code), model=False)
        return session.properties().get("model.given_no_gradient", "").split("\n")

    def test_a_teacher_in_a_loss_module(self):
        told = self.told("""
            class Loss(nn.Module):
                def __init__(self, teacher): super().__init__(); self.teacher = teacher
                def forward(self, x, y): return (self.teacher(x) - y).square().mean()
            student, loss = net(), Loss(net().eval())
            train(lambda x: loss(x, student(x)), student)
        """)
        self.assertEqual(told, ["loss.teacher", "loss.teacher.0", "student", "student.0"])

    def test_a_teacher_in_eval_mode_behind_the_student(self):
        told = self.told("""
            student, teacher = net(), net().eval()
            train(lambda x: (student(x) - teacher(input=x)).square().mean(), student)
        """)
        self.assertEqual(told, ["student", "student.0", "teacher", "teacher.0"])

    def test_a_teacher_of_token_ids_in_a_dict(self):
        told = self.told("""
            class Model(nn.Module):
                def __init__(self): super().__init__(); self.words, self.out = nn.Embedding(9, 8), nn.Linear(8, 8)
                def forward(self, batch): return self.out(self.words(batch["ids"][0]))
            student, teacher = Model(), Model().eval()
            def loss(x):
                batch = {"ids": [torch.randint(0, 9, (4, 8))], "name": "train", "more": None}
                return (student(batch) - teacher(batch)).square().mean()
            train(loss, student)
        """)
        self.assertEqual(told, ["student", "student.words", "teacher", "teacher.words"])

    def test_a_teacher_without_gradients(self):
        told = self.told("""
            student, teacher, frozen = net(), net().eval(), net().eval().requires_grad_(False)
            def loss(x):
                with torch.no_grad(): answer = teacher(x)
                return (student(x) - answer - frozen(x)).square().mean()
            train(loss, student)
        """)
        self.assertEqual(told, ["student", "student.0"])

    def test_a_critic_that_is_given_fakes(self):
        told = self.told("""
            generator, critic = net(), net()
            others = torch.optim.SGD(critic.parameters(), 1e-3)
            def loss(x):
                (critic(generator(x).detach()) - critic(x)).mean().backward()
                others.step(); others.zero_grad()
                return critic(generator(x)).mean()
            train(loss, generator)
        """)
        self.assertEqual(told, ["generator", "generator.0"])

    def test_features_of_what_the_student_makes(self):
        told = self.told("""
            class Perceptual(nn.Module):
                def __init__(self): super().__init__(); self.features = net().eval()
                def forward(self, x, y):
                    return (self.features(x) - self.features(y)).square().mean()
            student, perceptual, in_eval = net(), Perceptual(), Perceptual().eval()
            def loss(x):
                y = student(x)
                return perceptual(x, y) + in_eval(x, y) + in_eval.features(x).mean()
            train(loss, student)
        """)
        self.assertIn("student", told)
        self.assertFalse([path for path in told if path.startswith(("perceptual", "in_eval"))], told)

    def test_soft_prompts_that_learn(self):
        told = self.told("""
            class Decoder(nn.Module):
                def __init__(self): super().__init__(); self.layers, self.prompts = net(), None
                def forward(self, x, prompts=None):
                    return self.layers(torch.cat((x, self.prompts if prompts is None else prompts["prompts"][0])))
            own = Both(prompts=nn.Parameter(torch.zeros(2, 8)), student=net())
            named, kept, hooked = Decoder(), Decoder().eval(), net().eval()
            object.__setattr__(kept, "prompts", own.prompts)
            hooked.register_forward_pre_hook(lambda _, given: (torch.cat((given[0], own.prompts)),))
            def loss(x):
                y = named(x, prompts={"prompts": [own.prompts]}) + kept(x) + hooked(x)
                return (own.student(x).mean() - y.mean()).square()
            train(loss, own)
        """)
        self.assertEqual(told, ["own.student", "own.student.0"])

    def test_parameters_that_another_model_makes(self):
        told = self.told("""
            try: from torch.func import functional_call
            except ImportError: from torch.nn.utils.stateless import functional_call
            made, target, student = net(), nn.Linear(8, 1).eval(), net()
            def loss(x):
                weights = {"weight": made(x).mean(0, keepdim=True), "bias": torch.zeros(1)}
                return functional_call(target, weights, (x,)).mean() + student(x).mean()
            train(loss, made, student)
        """)
        self.assertEqual(told, ["made", "made.0", "student", "student.0"])

    def test_adapters_inside_of_a_frozen_model(self):
        told = self.told("""
            class Lora(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.base, self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 2), nn.Linear(2, 8)
                    self.base.requires_grad_(False)
                def forward(self, x): return self.base(x) + self.b(self.a(x))
            model = nn.Sequential(nn.Linear(8, 8).requires_grad_(False), Lora(), Lora())
            train(lambda x: model(x).mean(), model[1].a, model[1].b, model[2].a, model[2].b)
        """)
        self.assertEqual(told, ["1", "1.a", "Sequential"])

    def test_what_cannot_be_looked_into(self):
        told = self.told("""
            class Batch:
                def __init__(self, x): self.x = x
            class Model(nn.Module):
                def __init__(self): super().__init__(); self.layers = net()
                def forward(self, batch): return self.layers(batch.x)
            student, teacher = net(), Model().eval()
            train(lambda x: (student(x) - teacher(Batch(x))).mean(), student)
        """)
        self.assertEqual(told, ["student", "student.0", "teacher.layers", "teacher.layers.0"])


class Half(TorchCase):
    """Whether modules return 16-bit numbers on the CPU."""

    def told(self, forward):
        code = textwrap.dedent(LOOP) + "model = net()\ntrain(lambda x: %s, model)\n" % forward
        return self.same(code, model=False).properties().get("model.half_on_cpu", "")

    def test_types(self):
        self.assertEqual(self.told("model(x).sum()"), "")
        self.assertEqual(self.told("torch.autocast('cpu', torch.bfloat16)(model)(x).sum()"), "bfloat16")
        self.assertEqual(self.told("model.bfloat16()(x.bfloat16()).float().sum()"), "bfloat16")
