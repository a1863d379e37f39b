"""python -m batchlight VERB ...: `run` and `kernprof`, which take the flags of cProfile and kernprof;
any other verb is the program's: python -m batchlight summary run.batchlight."""
import os
import sys

if not __package__:  # python3 FOLDER/batchlight, as `batchlight kernprof` starts it
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The user's, for what is started from here: this interpreter has begun without entries of the present folder.
if "BATCHLIGHT_PYTHONPATH" in os.environ:
    os.environ["PYTHONPATH"] = os.environ.pop("BATCHLIGHT_PYTHONPATH")

from batchlight._tool import ToolError, find_tool  # noqa: E402


def main(words):
    verb = words[0] if words else "--help"
    if verb == "run":
        from batchlight._run import main as run
        return run(words[1:])
    if verb == "kernprof":
        from batchlight._kernprof import main as kernprof
        return kernprof(words[1:])
    if verb == "probe-loader":  # as `batchlight probe loader` starts it
        from batchlight._probe_loader import main as probe_loader
        return probe_loader(words[1:])
    if verb == "probe-gpu":  # as `batchlight probe gpu` starts it
        from batchlight._probe_gpu import main as probe_gpu
        return probe_gpu(words[1:])
    if verb == "dask-engine":  # as `batchlight ranks --engine dask` starts it
        from batchlight._dask_engine import main as dask_engine
        return dask_engine(words[1:])
    tool = find_tool()
    os.execv(tool, [tool] + (words or [verb]))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ToolError as problem:
        sys.exit("batchlight: %s" % problem)
