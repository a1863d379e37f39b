#include "columnar/level_runs.h"

#include <algorithm>
#include <bit>

namespace batchlight {
namespace {

constexpr size_t kGroup = 8;  // values that are packed together

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Whole groups, the lowest bits of a byte first; the last is filled up with zeros.
void AppendPacked(std::span<const uint32_t> values, int bits, std::string& out) {
  const size_t groups = (values.size() + kGroup - 1) / kGroup;
  AppendVarint(groups << 1 | 1, out);
  uint64_t held = 0;
  int held_bits = 0;
  for (size_t i = 0; i < groups * kGroup; ++i) {
    held |= uint64_t{i < values.size() ? values[i] : 0} << held_bits;
    for (held_bits += bits; held_bits >= 8; held_bits -= 8, held >>= 8) {
      out += static_cast<char>(held);
    }
  }
}

void AppendRun(uint32_t value, size_t count, int bits, std::string& out) {
  AppendVarint(uint64_t{count} << 1, out);
  for (int shift = 0; shift < bits; shift += 8) out += static_cast<char>(value >> shift);
}

size_t RunAt(std::span<const uint32_t> values, size_t begin) {
  size_t end = begin + 1;
  while (end < values.size() && values[end] == values[begin]) ++end;
  return end - begin;
}

}  // namespace

int BitsFor(uint32_t largest) { return static_cast<int>(std::bit_width(largest)); }

void AppendRuns(std::span<const uint32_t> values, int bits, std::string& out) {
  size_t packed = 0;  // where what is not written begins, a multiple of eight before `at`
  size_t at = 0;
  const auto write_packed = [&] {
    if (at > packed) AppendPacked(values.subspan(packed, at - packed), bits, out);
  };
  while (at < values.size()) {
    size_t run = RunAt(values, at);
    // Only the last group may be short, so a run fills up the group before it first.
    const size_t missing = (kGroup - (at - packed) % kGroup) % kGroup;
    if (run < missing + kGroup) {
      at += run;
      continue;
    }
    at += missing;
    run -= missing;
    write_packed();
    AppendRun(values[at], run, bits, out);
    at += run;
    packed = at;
  }
  write_packed();
}

}  // namespace batchlight
