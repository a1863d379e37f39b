#include "counters/host_object.h"

#include <sys/mman.h>

namespace batchlight::counters {

namespace {

constexpr uint32_t kOutOfMemory = 8;  // CUPTI_ERROR_OUT_OF_MEMORY

// The injected library does not use the program's malloc.
uint8_t* MapBytes(size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

}  // namespace

uint32_t HostObject::Open(ProfilerType type, const char* chip, const uint8_t* availability) {
  HostInitializeParams params{};
  params.type = type;
  params.chip = chip;
  params.availability = availability;
  const uint32_t result = Call(api_.host_initialize, params);
  if (result == kSuccess) host_ = params.host;
  return result;
}

void HostObject::Close() {
  FreeImage();
  if (host_ == nullptr) return;
  HostDeinitializeParams params{};
  params.host = host_;
  Call(api_.host_deinitialize, params);
  host_ = nullptr;
}

void HostObject::FreeImage() {
  if (image_ != nullptr) munmap(image_, image_bytes_);
  image_ = nullptr;
  image_bytes_ = 0;
}

uint32_t HostObject::AddMetrics(const char* const* names, size_t count) {
  AddMetricsParams params{};
  params.host = host_;
  params.names = names;
  params.count = count;
  return Call(api_.add_metrics, params);
}

uint32_t HostObject::MakeImage() {
  ConfigImageSizeParams size{};
  size.host = host_;
  uint32_t result = Call(api_.config_image_size, size);
  if (result != kSuccess) return result;
  FreeImage();
  image_ = MapBytes(size.image_bytes);
  if (image_ == nullptr) return kOutOfMemory;
  image_bytes_ = size.image_bytes;
  ConfigImageParams image{};
  image.host = host_;
  image.image_bytes = image_bytes_;
  image.image = image_;
  result = Call(api_.config_image, image);
  if (result != kSuccess) return result;
  PassesParams passes{};
  passes.image_bytes = image_bytes_;
  passes.image = image_;
  result = Call(api_.passes, passes);
  if (result == kSuccess) passes_ = passes.passes;
  return result;
}

uint32_t HostObject::Evaluate(const uint8_t* data, size_t data_bytes, size_t range,
                              const char* const* names, size_t count, double* values) const {
  EvaluateParams params{};
  params.host = host_;
  params.data = data;
  params.data_bytes = data_bytes;
  params.range = range;
  params.names = names;
  params.count = count;
  params.values = values;
  return Call(api_.evaluate, params);
}

size_t PassesOf(const ProfilerApi& api, ProfilerType type, const char* chip,
                const uint8_t* availability, const char* const* names, size_t count) {
  HostObject host(api);
  if (host.Open(type, chip, availability) != kSuccess) return 0;
  if (host.AddMetrics(names, count) != kSuccess || host.MakeImage() != kSuccess) return 0;
  return host.passes();
}

}  // namespace batchlight::counters
