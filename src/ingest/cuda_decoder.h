// Records of CUDA (64-82). Their times are CUPTI's and stay so in the fragment's tables; TieCuda()
// (cuda_join.h) puts them on the recording's clock once all chunks are decoded.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ingest/chunk_context.h"

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

  void DecodeKernel(const format::RecordView& view);
  void DecodeMemcpy(const format::RecordView& view);
  void DecodeMemset(const format::RecordView& view);
  void DecodeCall(const format::RecordView& view);
  void DecodeWait(const format::RecordView& view);
  void DecodeEvent(const format::RecordView& view);
  void DecodeGraphLaunch(const format::RecordView& view);
  void DecodeMemory(const format::RecordView& view);
  void DecodeMemoryPool(const format::RecordView& view);
  void DecodeOverhead(const format::RecordView& view);
  void DecodeDevice(const format::RecordView& view);
  void DecodeJit(const format::RecordView& view);
  void DecodeUnifiedMemory(const format::RecordView& view);
  void DecodeCost(const format::RecordView& view);
  bool DecodeFact(const format::RecordView& view);

  // CUPTI time of a [gpu time] record.
  int64_t Start(const format::RecordView& view) const {
    return base_ns_ + static_cast<int64_t>(view.ticks) - format::kGpuTimeBias;
  }
  const Launch& LaunchOf(uint32_t ref);

  ChunkContext& context_;
  int64_t base_ns_ = 0;
  std::vector<Launch> launches_;  // by string id of the chunk
};

}  // namespace batchlight
