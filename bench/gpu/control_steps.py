#!/usr/bin/env python3
"""What recording adds to a step, by the clock and by what the recording says of itself.

    bench/gpu/control_steps.py [--build build/release] [--python python3] [--rounds 2]
                               [--seconds 4] [--only vit,gpt2,...] [--json FILE]

Runs six loops plain and recorded in turn: ViT, GPT-2, the same compiled, an MLP that is bound by
launches, replays of a CUDA graph, a loop that waits for data. Prints for each the step of either
(wall time of all steps by their number, the median of rounds), what the recording said (measured on
control steps, or estimated), and whether that is true: within a quarter of the difference or 1 % of
the step, or the difference within the stated interval. Then what --every 10 --window 1 and
--overhead 3% cost. Five to seven minutes on an H100. Exit status 1 if a statement is not true.

    control_steps.py --loop vit --seconds 4    one loop, alone: RESULT {...}
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

LOOPS = ("vit", "gpt2", "compiled", "launches", "graph", "data")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--build", default="build/release")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("--seconds", type=float, default=4)
parser.add_argument("--only", default=",".join(LOOPS))
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
    elif name in ("vit", "compiled"):
        model, x, y = transformer(torch, 768, 12, 12, 196, 32, 100)
    else:
        model, x, y = transformer(torch, 256, 4, 8, 64, 16, 100)
    model.train()
    run = torch.compile(model) if name == "compiled" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=name == "graph")

    def step(x=x, y=y):
        optimizer.zero_grad(set_to_none=name != "graph")
        with torch.autocast("cuda", torch.bfloat16):
            out = run(x)
            loss = functional.cross_entropy(out.flatten(0, -2), y.flatten())
        loss.backward()
        optimizer.step()
        return loss

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


def loop(name):
    import torch
    torch.manual_seed(0)
    step = make_step(torch, name)
    for _ in range(30):
        step()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    each = (time.perf_counter() - started) / 10
    count = max(150, min(4000, int(options.seconds / each)))
    ends = [time.perf_counter()]
    started = ends[0]
    for _ in range(count):
        step()
        ends.append(time.perf_counter())
    torch.cuda.synchronize()
    mean = (time.perf_counter() - started) / count
    median = statistics.median(b - a for a, b in zip(ends, ends[1:]))
    print("RESULT " + json.dumps({"mean_ms": mean * 1e3, "median_ms": median * 1e3, "steps": count}),
          flush=True)


def run(command, environment=None):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, **(environment or {})), timeout=180)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return json.loads(line[len("RESULT "):])
    print("%s: no result (exit %d)\n%s" % (" ".join(command), done.returncode, done.stdout[-2000:]))
    return None


def statement(tool, recording):
    """(the summary's "recording", its sentence)."""
    done = subprocess.run([tool, "summary", "--json", recording], stdout=subprocess.PIPE, text=True)
    words = subprocess.run([tool, "summary", recording], stdout=subprocess.PIPE, text=True).stdout
    words = " ".join(words.split())
    at = words.find("recording adds")
    return json.loads(done.stdout).get("recording", {}), words[at:words.find("; nothing", at)]


def is_true(said, added_ms, plain_ms):
    """Whether what was said agrees with the clock."""
    slack = max(abs(added_ms) / 4, plain_ms / 100)
    if "measured" not in said:
        estimate = said.get("estimate", {"low_ns": 0, "high_ns": 0})
        return estimate["low_ns"] / 1e6 - slack <= added_ms <= estimate["high_ns"] / 1e6 + slack
    measured = said["measured"]
    return (abs(measured["ns"] / 1e6 - added_ms) <= slack
            or measured["low_ns"] <= added_ms * 1e6 <= measured["high_ns"])


def main():
    tool = os.path.join(options.build, "bin", "batchlight")
    folder = tempfile.mkdtemp(prefix="control-steps-")
    program = [options.python, os.path.abspath(__file__), "--seconds", str(options.seconds), "--loop"]
    environment = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor")}
    flags = ["--pytorch", options.pytorch] if options.pytorch else []
    rows, all_true = [], True

    def recorded(name, *more):
        output = os.path.join(folder, name)
        result = run([tool, "profile", "-f", "true", "-o", output, *flags, *more, "--", *program, name],
                     environment)
        return result and (result, *statement(tool, output + ".batchlight"))

    for name in options.only.split(","):
        plain, with_recording, said, words = [], [], {}, ""
        for _ in range(options.rounds):
            result = run([*program, name], environment)
            found = recorded(name, "--control-steps", "16")
            if not result or not found:
                all_true = False
                break
            plain.append(result["mean_ms"])
            with_recording.append(found[0]["mean_ms"])
            said, words = found[1], found[2]
        if not plain:
            continue
        plain_ms = statistics.median(plain)
        steps = said.get("steps_with_detail", 1) + said.get("steps_without_detail", 0)
        # A step with detail: the mean of the run has control steps in it.
        added_ms = ((statistics.median(with_recording) - plain_ms) * steps
                    / max(1, said.get("steps_with_detail", 1)))
        true = is_true(said, added_ms, plain_ms)
        all_true = all_true and true
        row = {"loop": name, "plain_ms": plain_ms, "recorded_ms": statistics.median(with_recording),
               "rounds": [plain, with_recording], "added_ms": added_ms, "said": said, "words": words,
               "true": true}
        print("%-9s plain %.3f ms, recorded %.3f: %+.3f ms (%+.1f %%)  %s" % (
            name, plain_ms, row["recorded_ms"], added_ms, 100 * added_ms / plain_ms,
            "ok" if true else "NOT AS SAID"))
        print("          " + words, flush=True)
        for label, more in (("--every 10 --window 1", ("--every", "10", "--window", "1")),
                            ("--overhead 3%", ("--overhead", "3%"))):
            found = recorded(name, *more)
            if not found:
                continue
            ratio = found[0]["mean_ms"] / plain_ms
            row[label] = {"ms": found[0]["mean_ms"], "ratio": ratio, "said": found[1]}
            print("          %s: %.3f ms, %.3f of plain; %s" % (
                label, found[0]["mean_ms"], ratio, found[2]), flush=True)
        rows.append(row)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if all_true and rows else 1


if __name__ == "__main__":
    sys.exit(loop(options.loop) if options.loop else main())
