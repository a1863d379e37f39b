#include "analysis/ranks/call_times.h"

#include <limits>

namespace batchlight {
namespace {

constexpr int64_t kMostTicks = std::numeric_limits<int64_t>::max() / kCallTickNs;

// A difference; false: the bytes end before it, or it does not fit into 64 bits.
bool TakeDifference(std::string_view& bytes, int64_t& difference) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) return false;
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      difference = static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
      return true;
    }
  }
  return false;
}

}  // namespace

void CallTimes::Append(int64_t time_ns) {
  const int64_t ticks = time_ns / kCallTickNs;
  const int64_t difference = ticks - last_ticks_;
  uint64_t value = static_cast<uint64_t>(difference) << 1 ^ static_cast<uint64_t>(difference >> 63);
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
  last_ticks_ = ticks;
  ++size_;
}

std::vector<int64_t> CallTimes::Decode() const {
  std::vector<int64_t> times;
  times.reserve(size_);
  std::string_view left = bytes_;
  int64_t ticks = 0, difference = 0;
  while (TakeDifference(left, difference)) {
    ticks += difference;
    times.push_back(ticks * kCallTickNs);
  }
  return times;
}

bool CallTimes::Take(std::string_view bytes, size_t size) {
  std::string_view left = bytes;
  int64_t ticks = 0, difference = 0;
  for (size_t i = 0; i < size; ++i) {
    if (!TakeDifference(left, difference)) return false;
    if (__builtin_add_overflow(ticks, difference, &ticks)) return false;
    if (ticks > kMostTicks || ticks < -kMostTicks) return false;
  }
  if (!left.empty()) return false;
  bytes_ = bytes;
  size_ = size;
  last_ticks_ = ticks;
  return true;
}

}  // namespace batchlight
