"""What Holistic Trace Analysis says of folders of traces, as JSON. Runs in the readers' environment."""
import json
import logging
import os
import sys
import warnings

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis  # noqa: E402


def rows(frame):
    return json.loads(frame.to_json(orient="records"))


def numbers(folder):
    analysis = TraceAnalysis(trace_dir=folder)
    kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
    path, ok = analysis.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=1)
    bound = path.get_critical_path_breakdown().groupby("bound_by")["duration"].sum()
    queue = analysis.get_queue_length_time_series(ranks=[0])[0]
    return {
        "temporal": rows(analysis.get_temporal_breakdown(visualize=False)),
        "overlap": rows(analysis.get_comm_comp_overlap(visualize=False)),
        "launches": rows(analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]),
        "kinds": rows(kinds),
        "kernels": rows(kernels),
        "queue": {str(stream): int(count) for stream, count in
                  queue.groupby("stream")["queue_length"].max().items()},
        "critical_path": {"ok": bool(ok), "nodes": len(path.critical_path_nodes),
                          "bound_by": {name: value for name, value in bound.items()}},
    }


json.dump({folder: numbers(folder) for folder in sys.argv[1:]}, sys.stdout)
