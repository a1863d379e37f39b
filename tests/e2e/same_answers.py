"""What the program of another system or processor answers, beside this one's, byte for byte."""
import contextlib
import gzip
import lzma
import os
import pathlib
import shutil
import sqlite3
import subprocess

from recorded import BATCHLIGHT, LONG_S, SOURCE

TESTS = pathlib.Path(SOURCE, "tests")
# Name in the folder that both work in: where it comes from.
INPUTS = {
    "train.batchlight": TESTS / "recordings" / "h200_train.batchlight",
    "ranks.batchlight": TESTS / "recordings" / "h200_two_ranks.batchlight",
    "gpt2.batchlight": TESTS / "recordings" / "h200_tuned_gpt2.batchlight",
    "resnet50.batchlight": TESTS / "recordings" / "h200_tuned_resnet50.batchlight",
    "graph.batchlight": TESTS / "recordings" / "h200_graph_node.batchlight",
    "old.batchlight": TESTS / "recordings" / "version_1.batchlight",
    "left.batchlight.live": TESTS / "recordings" / "version_1.batchlight.live",
    "kineto.json": TESTS / "kineto" / "training.json",
}
NSYS = TESTS / "recordings" / "nsys-2025.3" / "train5.sqlite.xz"

# Command lines that read. What they write lies in the folder `out`.
READING = [
    ["version"],
    *(["summary", name] for name in [*INPUTS, "nsys.sqlite", "kineto.json.gz"]),
    *([verb, name] for verb in ("stats", "analyze") for name in ("train.batchlight", "nsys.sqlite", "kineto.json")),
    ["tree", "gpt2.batchlight"],
    ["ranks", "ranks.batchlight"],
    ["table", "--list"],
    ["table", "steps", "train.batchlight", "-f", "csv"],
    ["table", "kernels", "resnet50.batchlight", "-f", "json"],
    ["table", "operators", "kineto.json", "-f", "markdown"],
    ["diff", "gpt2.batchlight", "resnet50.batchlight"],
    ["diff", "train.batchlight", "graph.batchlight", "-f", "json"],
    ["diff", "train.batchlight", "graph.batchlight", "--fail-on", "step>1%"],
    *(["report", name, "-o", f"out/{name}_report"] for name in ("train.batchlight", "nsys.sqlite", "kineto.json")),
    *(["export", "-t", kind, "-o", f"out/train.{kind}", "train.batchlight"]
      for kind in ("sqlite", "jsonlines", "csv", "chrome", "perfetto", "folded", "speedscope", "parquet")),
    ["export", "-t", "sqlite", "-o", "out/kineto.sqlite", "kineto.json"],
    ["export", "-t", "chrome", "-o", "-", "nsys.sqlite"],
    ["export", "-t", "csv", "--per-rank", "-o", "out/per_rank", "ranks.batchlight"],
    ["export", "-t", "sqlite", "--tables", "kernel\\|memcpy", "-o", "out/some.sqlite", "train.batchlight"],
    ["stats", "-r", "gpukernsum", "-f", "csv", "-o", "out/nsys", "nsys.sqlite"],
    ["view", "--html", "out/view.html", "train.batchlight"],
    ["trace", "dump", "old.batchlight"],
    # What fails says the same.
    ["summary", "none.batchlight"],
    ["summary", "notes.txt"],
    ["summary", "cut.batchlight"],
    ["summary", "empty.sqlite"],
    ["summary", "x*.batchlight"],
    ["table", "stps", "train.batchlight"],
    ["export", "-o", "train.batchlight", "-f", "true", "train.batchlight"],
    ["export", "-t", "sqlite", "--tables", "[", "train.batchlight"],
    ["report", "-o", "notes.txt", "train.batchlight"],
    ["sumary", "train.batchlight"],
]


def make_inputs(folder):
    """Everything that READING names, in a new folder."""
    folder.mkdir()
    (folder / "out").mkdir()
    for name, source in INPUTS.items():
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, folder / name)
    (folder / "nsys.sqlite").write_bytes(lzma.decompress(NSYS.read_bytes()))
    (folder / "kineto.json.gz").write_bytes(gzip.compress(INPUTS["kineto.json"].read_bytes(), mtime=0))
    (folder / "notes.txt").write_text("no recording\n")
    (folder / "empty.sqlite").write_bytes(b"")
    (folder / "cut.batchlight").write_bytes(INPUTS["train.batchlight"].read_bytes()[:40_000])


def answer(program, words, folder, **environment):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([*program, *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=10 * LONG_S, env=dict(os.environ, LC_ALL="C.UTF-8", **environment))
    return done.returncode, done.stdout, done.stderr


def here(words, folder):
    return answer([BATCHLIGHT], words, folder)


def files_of(folder):
    """{name: bytes} of all below it; of a SQLite file what it holds, but for the time when it was written."""
    return {path.relative_to(folder).as_posix(): content_of(path) for path in sorted(folder.rglob("*"))
            if path.is_file()}


def content_of(path):
    content = path.read_bytes()
    if not content.startswith(b"SQLite format 3\0"):
        return content
    with contextlib.closing(sqlite3.connect(path)) as database:
        return "\n".join(line for line in database.iterdump() if "EXPORT_TIME_UTC" not in line).encode()
