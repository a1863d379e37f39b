"""How modules are named; imported by torch_checks.py, which runs it."""
from torch_case import TorchCase


class ModuleNames(TorchCase):
    def paths(self, session):
        return [record.path for record in session.events("ModuleBegin")]

    def test_several_roots(self):
        session = self.same("""
            net, x = Net(), torch.ones(1, 8)
            net.encoder(x)                 # a part first: named from what holds it
            net(x)
            other = nn.Sequential(nn.Linear(8, 8)); other(x)
            twin = Net(); twin(x)
            nn.MSELoss()(x, x); nn.MSELoss()(x, x)
        """)
        paths = self.paths(session)
        self.assertEqual(paths[0], "encoder")
        self.assertEqual(paths.count("encoder"), 2)
        for path in ("Net", "head", "other", "other.0", "twin", "twin.encoder.layers.0"):
            self.assertEqual(paths.count(path), 1, path)
        self.assertEqual(paths.count("MSELoss"), 2)

    def test_modules_are_named_from_what_owns_them(self):
        session = self.same("""
            import copy, gc
            def layers(n): return nn.Sequential(*[nn.Linear(8, 8) for _ in range(n)])
            class Part(nn.Module):
                def __init__(self, n): super().__init__(); self.net = layers(n)
                def forward(self, x): return self.net(x)
            class Gan(nn.Module):
                def __init__(self):
                    super().__init__(); self.G, self.D, self.rest = Part(3), Part(2), nn.ModuleList([])
                    self.rest.append(nn.ReLU())
            class Lightning(nn.Module):
                def __init__(self): super().__init__(); self.n = layers(2)
                def training_step(self, x): return self.n(x)
            x, gan = torch.ones(1, 8), Gan()
            gan.G(x); gan.D.net(x); gan.rest[0](x)
            lightning = Lightning(); lightning.training_step(x)
            old = gan.D; gan.D = Part(1)      # not held any more: on its own
            old(x); gan.D(x)
            part = Part(1); wrapper = nn.Sequential(part); del wrapper; gc.collect(); part(x)
            copy.deepcopy(gan).G(x)           # nobody registered its parts
        """)
        paths = self.paths(session)
        self.assertEqual(paths[:5], ["G", "G.net", "G.net.0", "G.net.1", "G.net.2"])
        self.assertEqual(paths[5:9], ["D.net", "D.net.0", "D.net.1", "rest.0"])
        self.assertEqual(paths[9:12], ["lightning.n", "lightning.n.0", "lightning.n.1"])
        self.assertEqual(len(paths), 27)
        self.assertNotIn("0", paths)

    def test_attributes_of_an_object_that_is_no_module(self):
        session = self.same("""
            def layers(n): return nn.Sequential(*[nn.Linear(8, 8) for _ in range(n)])
            class Part(nn.Module):
                def __init__(self, n): super().__init__(); self.net = layers(n)
                def forward(self, x): return self.net(x)
            class Base:
                def train(self, x):
                    return self.criterion(self.D(self.G(x)), x)
            class Gan(Base):
                def __init__(self):
                    self.G, self.D, self.criterion = Part(2), layers(1), nn.MSELoss()
                    self.cycle = self
            class Trainer:            # one model, wrapped: plain paths
                def __init__(self): self.model = Part(1); self.wrapped = nn.DataParallel(self.model)
                def train(self, x): return self.wrapped(x)
            x = torch.ones(1, 8)
            first, second = Gan(), Gan()
            first.train(x); second.train(x)
            Trainer().train(x)
        """)
        paths = self.paths(session)
        gan = ["G", "G.net", "G.net.0", "G.net.1", "D", "D.0", "criterion"]
        self.assertEqual(paths[:7], gan)
        self.assertEqual(paths[7:14], ["G#2", "G#2.net", "G#2.net.0", "G#2.net.1", "D#2", "D#2.0",
                                       "criterion"])
        self.assertEqual(paths[14:], ["DataParallel", "Part", "net", "net.0"])

    def test_models_beside_each_other_are_named_by_their_variables(self):
        session = self.same("""
            class Net(nn.Module):
                def __init__(self, n): super().__init__(); self.main = nn.Sequential(nn.Linear(8, n))
                def forward(self, x): return self.main(x)
            block = nn.TransformerEncoderLayer(8, 2)   # copied: no model beside the encoder
            encoder = nn.TransformerEncoder(block, 1); encoder.eval()(torch.ones(1, 1, 8))
            del encoder, block
            def call(net, x): return net(x)
            def train():
                netD, netG = Net(1), Net(8)
                call(netD, call(netG, torch.ones(1, 8)))
                netD.main[0](torch.ones(1, 8))
            train()
            nets = [Net(2), Net(3)]; nets[1](torch.ones(1, 8))   # no variable of its own
        """)
        paths = self.paths(session)
        self.assertIn("layers.0", paths)
        self.assertEqual(paths[-10:], [
            "netG", "netG.main", "netG.main.0", "netD", "netD.main", "netD.main.0", "netD.main.0",
            "Net", "Net.main", "Net.main.0"])

    def test_locals_of_the_program_die_as_before(self):
        self.same("""
            import weakref
            class Gan:
                def __init__(self): self.G, self.D = nn.Sequential(nn.Linear(8, 8)), nn.Linear(8, 8)
                def train(self):
                    x = torch.ones(1, 8)
                    alive, before = weakref.ref(x), locals()
                    self.G(x); self.D(x)
                    print(sorted(before), self.rest())
                def rest(self):
                    y = torch.ones(1, 8)
                    alive = weakref.ref(y)
                    self.D(y)
                    del y
                    return alive() is None
            Gan().train()
        """)

    def test_what_a_debugger_sets_stays(self):
        self.same("""
            import io, pdb
            class Gan:
                def __init__(self): self.G, self.D = nn.Sequential(nn.Linear(8, 8)), nn.Linear(8, 8)
                def typed(self):
                    a, x = 1, torch.ones(1, 8)
                    commands = "!a = 42\\np self.G(x).shape\\np a\\nc\\n"
                    pdb.Pdb(stdin=io.StringIO(commands), stdout=sys.stdout, nosigint=True, readrc=False).set_trace()
                    return a
                def embedded(self):
                    a, x = 1, torch.ones(1, 8)
                    shell(self.G, x)
                    return sys.version_info >= (3, 13) or a
                def followed(self):
                    a, x = 1, torch.ones(1, 8)
                    return a
            def shell(net, x):
                variables = sys._getframe(1).f_locals
                variables["a"] = 42; net(x); print(variables["a"])
            def follow(frame, event, argument):
                if event == "line" and "x" in frame.f_locals:
                    frame.f_locals["self"].G(frame.f_locals["x"])
                return follow
            print(Gan().typed(), Gan().embedded())
            gan = Gan()
            sys.settrace(lambda frame, *_: follow if frame.f_code.co_name == "followed" else None)
            print(gan.followed())
            sys.settrace(None)
        """)
