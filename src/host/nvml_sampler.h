// What NVIDIA's management library tells of a GPU ten times a second, whoever asks and whatever
// else reads its counters: power, temperature, clocks, why they are held back, and whether it was
// busy.
#pragma once

#include "host/frame_writer.h"

namespace batchlight::host {

class NvmlSampler {
 public:
  // False: the library is not there, or does not know the GPU of that UUID.
  bool Start(uint32_t device, const char* uuid, FrameWriter& out);
  void Read(FrameWriter& out);

  static constexpr uint64_t kIntervalNs = 100'000'000;

 private:
  void* handle_ = nullptr;
  uint32_t device_ = 0;
  uint64_t next_ns_ = 0;
};

}  // namespace batchlight::host
