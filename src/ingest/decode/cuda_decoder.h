// Records of CUDA (64-82). The fragment's tables keep CUPTI's times; PlaceCuda() (cuda_join.h) puts
// them on the recording's clock once all chunks are decoded.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ingest/decode/chunk_context.h"

namespace batchlight {

class CudaDecoder {
 public:
  explicit CudaDecoder(ChunkContext& context) : context_(context) {}

  void BeginChunk();
  // Takes the record into the fragment; false if its kind is unknown.
  bool Decode(const format::RecordView& view);

 private:
  // What all kernels with one launch key share.
  struct Launch {
    uint32_t row = UINT32_MAX;  // in the fragment's kernel_launches; max = not looked at
    uint32_t device = 0;
    uint32_t context = 0;
    uint32_t stream = 0;
  };

  // Each appends to its table; `start_ns` is CUPTI time.
  void Take(const format::KernelRecord& record, int64_t start_ns);
  void Take(const format::MemcpyRecord& record, int64_t start_ns);
  void Take(const format::MemsetRecord& record, int64_t start_ns);
  void Take(const format::CudaCallRecord& record, int64_t start_ns);
  void Take(const format::GpuWaitRecord& record, int64_t start_ns);
  void Take(const format::CudaEventRecord& record, int64_t start_ns);
  void Take(const format::GraphLaunchRecord& record, int64_t start_ns);
  void Take(const format::GpuMemoryRecord& record, int64_t start_ns);
  void Take(const format::GpuMemoryPoolRecord& record, int64_t start_ns);
  void Take(const format::CudaOverheadRecord& record, int64_t start_ns);
  void Take(const format::CudaJitRecord& record, int64_t start_ns);
  void Take(const format::UnifiedMemoryRecord& record, int64_t start_ns);
  void TakeMigration(const format::UnifiedMemoryRecord& record, int64_t start_ns, bool to_device);
  void Take(const format::GpuContextRecord& record);
  void Take(const format::GpuStreamRecord& record);
  void Take(const format::GpuDeviceRecord& record);
  void Take(const format::RecordCostRecord& record);
  // At a time of the thread.
  void TakeGraphNode(const format::RecordView& view);
  void TakeClock(const format::RecordView& view);

  // CUPTI time of a [gpu time] record.
  int64_t GpuTime(const format::RecordView& view) const {
    return base_ns_ + static_cast<int64_t>(view.ticks) - format::kGpuTimeBias;
  }
  const Launch& LaunchOf(uint32_t ref);

  ChunkContext& context_;
  int64_t base_ns_ = 0;
  std::vector<Launch> launches_;  // by string id of the chunk
};

}  // namespace batchlight
