#include "report/charts/picture.h"

#include <algorithm>

namespace batchlight {
namespace {

constexpr Picture kPictures[] = {
    {"cuda_gpu_kern_hist", Picture::Kind::kBars, "from", "instances"},
    {"cuda_gpu_kern_pace", Picture::Kind::kLine, "instance", "duration"},
    {"cuda_gpu_time_util_map", Picture::Kind::kMap, "start", "in_use", "device", "pid"},
    {"mpi_gpu_time_util_map", Picture::Kind::kMap, "start", "in_use"},
    {"nccl_gpu_overlap_trace", Picture::Kind::kLine, "start", "exposed", "device"},
    {"nccl_gpu_time_util_map", Picture::Kind::kMap, "start", "in_use"},
    {"nvtx_gpu_proj_pace", Picture::Kind::kLine, "instance", "duration"},
    {"nvtx_pace", Picture::Kind::kLine, "instance", "duration"},
    {"rank_stats", Picture::Kind::kLine, "rank", "total", "name"},
    {"probe_storage", Picture::Kind::kBars, "workers", "bytes_per_s", "series"},
};

}  // namespace

std::span<const Picture> Pictures() { return kPictures; }

const Picture* PictureOf(std::string_view report) {
  const auto found = std::find_if(std::begin(kPictures), std::end(kPictures),
                                  [&](const Picture& picture) { return picture.report == report; });
  return found == std::end(kPictures) ? nullptr : &*found;
}

}  // namespace batchlight
