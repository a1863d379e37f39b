"""What PyTorch's TensorBoard plugin says of traces, as JSON. Runs in the readers' environment."""
import json
import logging
import sys
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from torch_tb_profiler.profiler.data import RunProfileData  # noqa: E402


def numbers(path):
    data = RunProfileData.parse("worker", None, path, None)
    data.process()
    return {
        "steps": data.steps_names,
        "costs": data.avg_costs.costs,  # kernel, memcpy, memset, runtime, ..., the step
        "devices": [int(device) for device in data.used_devices],
        "operators": sorted([op.name, op.calls, op.device_duration, op.self_device_duration,
                             op.host_duration, op.self_host_duration]
                            for op in data.op_list_groupby_name),
        "kernels": sorted([str(name), int(row["count"]), float(row["sum"])]
                          for name, row in data.kernel_stat.iterrows()),
    }


json.dump([numbers(path) for path in sys.argv[1:]], sys.stdout)
