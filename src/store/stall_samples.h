// Samples of instructions that GPUs executed, with what kept their warps waiting. They are many and
// few answers need them, so that they are read by themselves and are no table of the store.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

// What counter_ranges.counter_set says of the steps in which instructions were sampled.
inline constexpr std::string_view kSerializedStalls = "stalls";
inline constexpr std::string_view kContinuousStalls = "stalls, continuous";

struct StallWindow {
  uint32_t pid = 0;
  uint32_t number = 0;  // in the process, from 1
  uint32_t device = 0;
  uint64_t iteration = 0;
  int64_t length_ns = 0;
  int64_t switch_ns = 0;
  uint64_t period_cycles = 0;  // 0: not known
  bool serialized = false;
  bool is_short = false;  // it ended where a graph began to be captured
  bool buffer_full = false;
  bool is_whole = false;  // all of its samples got into the recording
  uint64_t samples = 0;   // that the hardware took
  uint64_t dropped = 0;   // of these, lost
  uint64_t foreign = 0;   // of these, in kernels that are not the program's
  uint32_t modules_unloaded = 0;
};

struct StallSample {
  uint32_t function = 0;     // of StallSamples::names, mangled
  uint32_t reason = 0;       // of StallSamples::names
  uint32_t instruction = 0;  // of StallSamples::names, disassembled; 0: not known
  uint32_t file = 0;         // of StallSamples::names; 0: not known
  uint32_t line = 0;         // 0: not known
  uint32_t source = 0;       // of StallSamples::names, the line's text; 0: not known
  uint32_t samples = 0;
  uint64_t code = 0;    // checksum of the module
  uint64_t offset = 0;  // of the instruction in the function
};

struct StallSamples {
  std::vector<StallWindow> windows;
  std::vector<StallSample> samples;  // of one instruction and reason, of all windows
  std::vector<std::string> names = {""};
  std::set<uint32_t> owners;  // users whose files the samples are in
};

}  // namespace batchlight
