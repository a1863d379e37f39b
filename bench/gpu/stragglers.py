#!/usr/bin/env python3
"""Is the rank that all others wait for the first thing said? On all GPUs of this machine, two or more.

    bench/gpu/stragglers.py [--build build/release] [--python python3] [--steps 60] [--only ddp,...] [--json FILE]
                             [--out FOLDER]

A training loop as DDP and as FSDP, each healthy and with one trouble on the last rank: it sleeps 30 ms in every
fifth step, its loader is slow, its GPU has a tenth more to do in every step. Each is recorded by one
`profile torchrun`. Prints the first finding of the summary, who is waited for by `ranks`, and whether that is the
trouble; of the healthy loops, whether a rank is blamed. Exit status 1 if an answer is wrong.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

TROUBLES = ("none", "sleep", "loader", "gpu")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--build", default="build/release")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--only", default="ddp,fsdp")
parser.add_argument("--json")
parser.add_argument("--out", help="where the recordings stay")
parser.add_argument("--loop", help=argparse.SUPPRESS)
parser.add_argument("--trouble", choices=TROUBLES, help=argparse.SUPPRESS)
options = parser.parse_args()


def loop(kind, trouble):
    import torch
    import torch.distributed as distributed
    from torch import nn
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl")
    torch.manual_seed(0)
    model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(2048, 2048), nn.GELU())]).cuda()
    if kind == "fsdp":
        from torch.distributed.fsdp import FullyShardedDataParallel
        model = FullyShardedDataParallel(model, use_orig_params=True)
    else:
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    troubled = rank == size - 1

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 512 * options.steps

        def __getitem__(self, index):
            if troubled and trouble == "loader":
                time.sleep(0.00004)
            return torch.full((2048,), float(index % 7))

    loader = torch.utils.data.DataLoader(Rows(), batch_size=512, num_workers=3, pin_memory=True)
    busy = torch.randn(4096, 4096, device="cuda")
    for step, rows in enumerate(loader):
        rows = rows.cuda(non_blocking=True)
        if troubled and trouble == "sleep" and step % 5 == 4:
            time.sleep(0.03)
        if troubled and trouble == "gpu":
            for _ in range(2):
                busy @ busy
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
    torch.cuda.synchronize()
    distributed.destroy_process_group()


def answer(tool, recording):
    """(rule of the first finding, its title, what `ranks` says in a line)."""
    summary = json.loads(subprocess.run([tool, "summary", "--json", recording], stdout=subprocess.PIPE,
                                        text=True).stdout)
    first = (summary["advice"] or [{"rule": "", "title": "nothing to change", "gain": ""}])[0]
    ranks = subprocess.run([tool, "ranks", recording], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = [line.strip() for line in ranks.stdout.splitlines() if "rank" in line]
    rules = [finding["rule"] for finding in summary["advice"]]
    return first["rule"], first["title"] + ": " + first["gain"], rules, " | ".join(lines[:6])


def main():
    import torch
    gpus = torch.cuda.device_count()
    if gpus < 2:
        print("needs two GPUs; here is", gpus)
        return 0
    tool = os.path.join(options.build, "bin", "batchlight")
    folder = options.out or tempfile.mkdtemp(prefix="stragglers-")
    rows, right = [], True
    for kind in options.only.split(","):
        for trouble in TROUBLES:
            recording = os.path.join(folder, "%s_%s.batchlight" % (kind, trouble))
            command = [tool, "profile", "-f", "true", "-o", recording, options.python, "-m", "torch.distributed.run",
                       "--standalone", "--nproc-per-node", str(gpus), os.path.abspath(__file__), "--loop", kind,
                       "--trouble", trouble, "--steps", str(options.steps)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                print("%s, %s: exit %d\n%s" % (kind, trouble, done.returncode, done.stdout[-2000:]), flush=True)
                right = False
                continue
            rule, title, rules, said = answer(tool, recording)
            ok = "straggler" not in rules if trouble == "none" else rule == "straggler"
            right = right and ok
            rows.append({"loop": kind, "trouble": trouble, "first": title, "rules": rules, "ranks": said, "right": ok})
            print("%-4s %-6s %s: first \"%s\" (%s)\n            ranks: %s" % (
                kind, trouble, "ok   " if ok else "WRONG", title, ", ".join(rules[:4]), said), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(loop(options.loop, options.trouble) if options.loop else main())
