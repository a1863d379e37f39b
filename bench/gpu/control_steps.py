#!/usr/bin/env python3
"""What recording adds to a step, by the clock and by what the recording says of itself.

    bench/gpu/control_steps.py [--build build/release] [--python python3] [--seconds 30]
                               [--control-steps 8] [--only vit,gpt2,...] [--json FILE]

Six loops: ViT, GPT-2, the same compiled, an MLP that is bound by launches, replays of a CUDA graph,
a loop that waits for data. Each runs plain, recorded, with control steps, with --every 10 --window 1,
with --overhead 3% and with --pytorch-depth 1, all six programs at the same time and taking turns of eight steps: a
machine whose speed changes from second to second changes it for all. Prints the ratios of
neighbouring turns, what each recording said, and whether that is true: within a quarter of the
difference or 1 % of the step, or the difference within the stated interval. A minute a loop.
Exit status 1 if a statement is not true.
"""
import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time

LOOPS = ("vit", "gpt2", "compiled", "launches", "graph", "data", "average", "trainer")
MODES = {  # None: without the profiler
    "recorded": (),
    "control": ("--control-steps", "8"),
    "window": ("--every", "10", "--window", "1"),
    "budget": ("--overhead", "3%"),
    "outermost": ("--pytorch-depth", "1"),
    "again": None,
    "marks": ("-t", "nvtx", "--pytorch", "none", "--python-sampling", "false"),
    "unsampled": ("--python-sampling", "false"),
    "cuda": ("--pytorch", "none"),
    "pytorch": ("-t", "nvtx"),
    "operators": ("--pytorch", "autograd-nvtx"),
    "modules": ("--pytorch", "functions-trace"),
    "stalls": ("--stalls",),
    "metrics": ("--gpu-metrics-devices", "all"),
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--build", default="build/release")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--seconds", type=float, default=30)
parser.add_argument("--control-steps", type=int, default=8)
parser.add_argument("--only", default=",".join(LOOPS))
parser.add_argument("--modes", default="control,window,budget,outermost",
                    help="besides recorded: " + ", ".join(name for name in MODES if name != "recorded"))
parser.add_argument("--pytorch", help="--pytorch of the recorded runs")
parser.add_argument("--json")
parser.add_argument("--loop", choices=LOOPS, help=argparse.SUPPRESS)
options = parser.parse_args()


def transformer(torch, width, layers, heads, tokens, batch, classes):
    """(model, input, target): blocks of a ViT or, with classes for each token, of a GPT."""
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, dropout=0.0,
                                       norm_first=True, activation="gelu")
    model = nn.Sequential(nn.Linear(width, width),
                          nn.TransformerEncoder(layer, layers, enable_nested_tensor=False),
                          nn.Linear(width, classes))
    return (model.cuda(), torch.randn(batch, tokens, width, device="cuda"),
            torch.randint(0, classes, (batch, tokens), device="cuda"))


def make_step(torch, name):
    """A function that does one step."""
    nn = torch.nn
    functional = nn.functional
    if name == "launches":
        model = nn.Sequential(*[m for _ in range(30) for m in (nn.Linear(64, 64), nn.ReLU())]).cuda()
        x, y = torch.randn(32, 64, device="cuda"), torch.randint(0, 64, (32,), device="cuda")
    elif name == "gpt2":
        model, x, y = transformer(torch, 768, 12, 12, 512, 8, 4096)
    elif name == "average":
        blocks = [m for _ in range(24) for m in (nn.LayerNorm(1024), nn.Linear(1024, 1024), nn.SiLU())]
        model = nn.Sequential(*blocks).cuda()
        x, y = torch.randn(1024, 1024, device="cuda"), torch.arange(1024, device="cuda")
    elif name in ("vit", "compiled"):
        model, x, y = transformer(torch, 768, 12, 12, 196, 32, 100)
    else:
        model, x, y = transformer(torch, 256, 4, 8, 64, 16, 100)
    model.train()
    run = torch.compile(model) if name == "compiled" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=name == "graph", fused=name == "average")

    def step(x=x, y=y):
        optimizer.zero_grad(set_to_none=name != "graph")
        with torch.autocast("cuda", torch.bfloat16):
            out = run(x)
            loss = functional.cross_entropy(out.flatten(0, -2), y.flatten())
        loss.backward()
        optimizer.step()
        return loss

    if name == "average":
        return averaging(model, step)
    if name == "graph":
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return graph.replay
    if name == "data":
        class Slow(torch.utils.data.Dataset):
            def __len__(self):
                return 1 << 20

            def __getitem__(self, index):
                time.sleep(0.016)
                return torch.randn(64, 256)

        loader = iter(torch.utils.data.DataLoader(Slow(), batch_size=1, num_workers=1))
        return lambda: step(next(loader).cuda().expand(16, -1, -1))
    return step


def averaging(model, step):
    """The step with an average of all weights on the CPU, tensor by tensor."""
    shadow = {key: value.cpu() for key, value in model.state_dict().items()}

    def averaged_step():
        step()
        for key, value in model.state_dict().items():
            shadow[key] = 0.999 * shadow[key] + 0.001 * value.cpu()

    return averaged_step


def loop(name):
    """Steps in turns that the parent gives out: "warm N", then "turn N" as often as it likes."""
    import torch
    torch.manual_seed(0)
    if name == "trainer":
        return trainer_loop(torch)
    step = make_step(torch, name)
    turn = Turn()
    while turn.take():
        step()
        torch.cuda.synchronize()
        turn.step_ended()


def trainer_loop(torch):
    import transformers

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            ids = torch.arange(128) + index % 1000
            return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": index % 20}

    class Turns(transformers.TrainerCallback):
        def on_train_begin(self, args, state, control, **more):
            self.turn = Turn()

        def on_step_begin(self, args, state, control, **more):
            if not self.turn.take():
                control.should_training_stop = True  # after a step that nobody waits for

        def on_step_end(self, args, state, control, **more):
            torch.cuda.synchronize()
            self.turn.step_ended()

    config = transformers.BertConfig(vocab_size=8000, hidden_size=512, num_hidden_layers=6,
                                     num_attention_heads=8, intermediate_size=2048, num_labels=20)
    with tempfile.TemporaryDirectory() as folder:
        arguments = transformers.TrainingArguments(
            folder, max_steps=1 << 20, per_device_train_batch_size=32, save_strategy="no", logging_steps=25,
            report_to=[], disable_tqdm=True, bf16=True)
        transformers.Trainer(model=transformers.BertForSequenceClassification(config), args=arguments,
                             train_dataset=Data(), callbacks=[Turns()]).train()


class Turn:
    """Steps that the Ring lets a program do."""

    def __init__(self):
        self._left, self._times = 0, []
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(os.environ["CONTROL_STEPS_SOCKET"])
        self._lines = peer.makefile("rw")
        self._say(os.environ["CONTROL_STEPS_NAME"])

    def take(self):
        """Whether there is a step to do; waits for a turn."""
        if self._left == 0:
            line = self._lines.readline()
            if not line:
                return False
            self._left = int(line)
        self._began = time.perf_counter_ns()
        return True

    def step_ended(self):
        if self._left == 0:
            return
        self._times.append(time.perf_counter_ns() - self._began)
        self._left -= 1
        if self._left == 0:
            self._say(json.dumps(self._times))
            self._times = []

    def _say(self, line):
        self._lines.write(line + "\n")
        self._lines.flush()


class Ring:
    """Programs that are all there and take turns, a few steps each: a machine whose speed changes
    from second to second changes it for all of them."""

    TURN_STEPS, WARM_STEPS = 8, 40

    def __init__(self, folder, commands):
        path = os.path.join(folder, "turns")
        if os.path.exists(path):
            os.unlink(path)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(len(commands))
        listener.settimeout(120)
        self.programs, self.logs, self.lines = {}, {}, {}
        for name, command in commands.items():
            self.logs[name] = open(os.path.join(folder, "log." + name.replace(" ", "_")), "w+")
            self.programs[name] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=self.logs[name], stderr=subprocess.STDOUT,
                env=dict(os.environ, CONTROL_STEPS_SOCKET=path, CONTROL_STEPS_NAME=name,
                         TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "inductor")))
        for _ in commands:
            lines = listener.accept()[0].makefile("rw")
            self.lines[lines.readline().strip()] = lines
        for name in commands:
            self.take_turn(name, self.WARM_STEPS)

    def take_turn(self, name, steps=TURN_STEPS):
        self.lines[name].write("%d\n" % steps)
        self.lines[name].flush()
        return [ns / 1e6 for ns in json.loads(self.lines[name].readline())]

    def turns(self, seconds):
        """{name: [median step of each turn, ms]}, the order of each round another one."""
        taken = {name: [] for name in self.lines}
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            order = list(taken)
            random.shuffle(order)
            for name in order:
                taken[name].append(statistics.median(self.take_turn(name)))
        return taken

    def end(self):
        for lines in self.lines.values():
            lines.close()
        for name, program in self.programs.items():
            if program.wait(timeout=120):
                self.logs[name].seek(0)
                print("%s: exit %d\n%s" % (name, program.returncode, self.logs[name].read()[-2000:]))


def ratio_of(turns, plain):
    """(median of the rounds' ratios, half of its 95 % interval)."""
    ratios = sorted(a / b for a, b in zip(turns, plain))
    n = len(ratios)
    half = max(1, round(0.98 * n ** 0.5))
    low, high = ratios[max(0, n // 2 - half)], ratios[min(n - 1, n // 2 + half)]
    return statistics.median(ratios), (high - low) / 2


def statement(tool, recording):
    """(the summary's "recording", its sentence)."""
    done = subprocess.run([tool, "summary", "--json", recording], stdout=subprocess.PIPE, text=True)
    words = subprocess.run([tool, "summary", recording], stdout=subprocess.PIPE, text=True).stdout
    words = " ".join(words.split())
    at = words.find("recording adds")
    return json.loads(done.stdout).get("recording", {}), words[at:words.find("; nothing", at)]


def is_true(said, added_ms, slack_ms, plain_ms):
    """Whether what was said agrees with the clock, which itself is known to slack_ms."""
    slack = max(abs(added_ms) / 4, plain_ms / 100) + slack_ms
    if "measured" not in said:
        estimate = said.get("estimate", {"low_ns": 0, "high_ns": 0})
        return estimate["low_ns"] / 1e6 - slack <= added_ms <= estimate["high_ns"] / 1e6 + slack
    measured = said["measured"]
    return (abs(measured["ns"] / 1e6 - added_ms) <= slack
            or measured["low_ns"] - slack_ms * 1e6 <= added_ms * 1e6
            <= measured["high_ns"] + slack_ms * 1e6)


def main():
    tool = os.path.join(options.build, "bin", "batchlight")
    folder = tempfile.mkdtemp(prefix="control-steps-")
    flags = ["--pytorch", options.pytorch] if options.pytorch else []
    modes = {name: MODES[name] for name in ["recorded"] + options.modes.split(",")}
    if "control" in modes:
        modes["control"] = ("--control-steps", str(options.control_steps))
    rows, all_true = [], True
    for loop_name in options.only.split(","):
        program = [options.python, os.path.abspath(__file__), "--loop", loop_name]
        commands = {"plain": program}
        for name, more in modes.items():
            output = os.path.join(folder, name)
            commands[name] = program if more is None else [tool, "profile", "-f", "true", "-o", output, *flags,
                              *more, "--", *program]
        try:
            ring = Ring(folder, commands)
            turns = ring.turns(options.seconds)
            ring.end()
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            print("%s: %s" % (loop_name, error), flush=True)
            all_true = False
            continue
        plain_ms = statistics.median(turns["plain"])
        row = {"loop": loop_name, "plain_ms": plain_ms, "rounds": len(turns["plain"]), "modes": {}}
        print("%-9s plain %.3f ms, %d rounds of %d steps" % (
            loop_name, plain_ms, len(turns["plain"]), Ring.TURN_STEPS))
        recorded, half = ratio_of(turns["recorded"], turns["plain"])
        for name in modes:
            ratio, spread = ratio_of(turns[name], turns["plain"])
            recording = os.path.join(folder, name + ".batchlight")
            said, words = ({}, "") if modes[name] is None else statement(tool, recording)
            row["modes"][name] = {"ratio": ratio, "spread": spread, "said": said, "words": words}
            verdict = ""
            if name in ("recorded", "control"):
                # What a step with detail takes, which is what is said, is that of the program
                # where all steps have it.
                true = is_true(said, (recorded - 1) * plain_ms, half * plain_ms, plain_ms)
                row["modes"][name]["true"] = true
                all_true = all_true and true
                verdict = "  ok" if true else "  NOT AS SAID"
            print("          %-9s %.3f of plain (+-%.3f)%s; %s" % (name, ratio, spread, verdict, words),
                  flush=True)
        rows.append(row)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all_true and rows else 1


if __name__ == "__main__":
    sys.exit(loop(options.loop) if options.loop else main())
