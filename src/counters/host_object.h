// What CUPTI knows of a chip without a GPU: which metrics it has, how many passes they need, what
// the raw data of a pass mean.
#pragma once

#include "counters/profiler_api.h"

namespace batchlight::counters {

class HostObject {
 public:
  explicit HostObject(const ProfilerApi& api) : api_(api) {}
  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;
  ~HostObject() { Close(); }

  // All return a CUptiResult. `availability` may be nullptr: everything that the chip has. Else it
  // must outlive MakeImage: CUPTI keeps the pointer.
  uint32_t Open(ProfilerType type, const char* chip, const uint8_t* availability);
  void Close();
  // In one call for all of them: each call would begin another pass. A metric that CUPTI refuses
  // leaves the object unusable.
  uint32_t AddMetrics(const char* const* names, size_t count);
  // After AddMetrics: the image for the GPU, of which passes() tells.
  uint32_t MakeImage();
  uint32_t Evaluate(const uint8_t* data, size_t data_bytes, size_t range, const char* const* names,
                    size_t count, double* values) const;

  void* handle() const { return host_; }
  const uint8_t* image() const { return image_; }
  size_t image_bytes() const { return image_bytes_; }
  size_t passes() const { return passes_; }

 private:
  void FreeImage();

  const ProfilerApi& api_;
  void* host_ = nullptr;
  uint8_t* image_ = nullptr;
  size_t image_bytes_ = 0;
  size_t passes_ = 0;
};

// How many passes these metrics need together; 0: one of them is not to be had.
size_t PassesOf(const ProfilerApi& api, ProfilerType type, const char* chip,
                const uint8_t* availability, const char* const* names, size_t count);

}  // namespace batchlight::counters
