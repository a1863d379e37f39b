// Where warps of sampled kernels waited, and for what: by kernel, and by line of source or, where
// the code has none, by instruction.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/stall_samples.h"

namespace batchlight {

struct StallReason {
  std::string_view name;  // as Nsight Compute has it
  std::string_view title;
  std::string_view help;    // what is waited for
  std::string_view advice;  // "": none
};
inline constexpr size_t kStallReasons = 20;
extern const std::array<StallReason, kStallReasons> kStallReasonList;

struct StallRow {
  std::string kernel;       // demangled
  std::string file;         // "": not known
  uint32_t line = 0;        // 0: not known
  std::string source;       // the line's text; "": not known
  std::string instruction;  // the one with most samples; "": not known
  uint64_t offset = 0;      // of that instruction
  uint64_t samples = 0;
  uint64_t not_issued = 0;  // of these, while no warp of the scheduler went on
  double share = 0;         // of all samples
  double kernel_share = 0;  // of its kernel's
  std::array<uint64_t, kStallReasons + 1> by_reason{};  // the last: others
};

struct StallProfile {
  std::vector<StallRow> kernels;  // most samples first
  std::vector<StallRow> lines;    // likewise
  uint64_t samples = 0;
  size_t windows = 0;
  size_t windows_cut = 0;                        // whose samples did not all get into the recording
  size_t windows_short = 0;                      // that the capture of a graph ended
  uint64_t taken = 0, dropped = 0, foreign = 0;  // by the hardware
  bool buffer_full = false;
  bool has_lines = false;
};

StallProfile ProfileStalls(const StallSamples& samples);

// "Long Scoreboard 61 %, Wait 12 %": the greatest reasons.
std::string MainStalls(const StallRow& row);
// What to do about the greatest; "" if nothing.
std::string StallAdvice(const StallRow& row);

}  // namespace batchlight
