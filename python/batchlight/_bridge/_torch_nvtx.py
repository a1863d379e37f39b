"""torch.cuda.nvtx on a PyTorch without CUDA: recorded instead of raising.

On builds with CUDA these calls reach the profiler through NVTX itself and nothing is changed.
"""
import _batchlight_native as _native


class Recorder:
    """Stands in for the extension module torch._C._nvtx."""

    @staticmethod
    def rangePushA(message):
        return _native.push_plain(message)

    @staticmethod
    def rangePop():
        return _native.pop()

    @staticmethod
    def rangeStartA(message):
        return _native.start_plain(message)

    @staticmethod
    def rangeEnd(range_id):
        _native.end(range_id)

    @staticmethod
    def markA(message):
        _native.mark_plain(message)

    # Ranges on the device's own time line need a device.
    @staticmethod
    def deviceRangeStart(message, stream):
        return _native.start_plain(message)

    @staticmethod
    def deviceRangeEnd(range_id, stream):
        _native.end(range_id)


def install(nvtx):
    if type(getattr(nvtx, "_nvtx", None)).__name__ == "_NVTXStub":
        nvtx._nvtx = Recorder
