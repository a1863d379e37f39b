// binaryData of nsys's NVTX_EVENTS: the number of payloads; for each its schema, size and offset;
// then the bytes. All numbers have 8 bytes, little-endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight::nsys {

struct Payload {
  uint64_t schema_id;
  std::string_view bytes;
};

// The result points into `data`. It is empty for bytes of another form.
inline std::vector<Payload> UnpackPayloads(std::string_view data) {
  constexpr uint64_t kMostPayloads = 1024;
  const auto number = [&](uint64_t index) {
    uint64_t value = 0;
    std::memcpy(&value, data.data() + index * 8, 8);
    return value;
  };
  if (data.size() < 8) return {};
  const uint64_t count = number(0);
  if (count == 0 || count > kMostPayloads || data.size() < 8 + count * 24) return {};
  std::vector<Payload> payloads;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t size = number(2 + i * 3);
    const uint64_t place = number(3 + i * 3);
    if (place < 8 + count * 24 || place > data.size() || size > data.size() - place) return {};
    payloads.push_back({number(1 + i * 3), data.substr(place, size)});
  }
  return payloads;
}

inline std::string PackPayloads(const std::vector<Payload>& payloads) {
  std::string data;
  const auto append = [&](uint64_t value) {
    char bytes[8];
    std::memcpy(bytes, &value, 8);
    data.append(bytes, 8);
  };
  append(payloads.size());
  uint64_t place = 8 + payloads.size() * 24;
  for (const Payload& payload : payloads) {
    append(payload.schema_id);
    append(payload.bytes.size());
    append(place);
    place += payload.bytes.size();
  }
  for (const Payload& payload : payloads) data.append(payload.bytes);
  return data;
}

}  // namespace batchlight::nsys
