// What to record of processors: --sample, --cpuctxsw and their like, as plain values.
#pragma once

#include <cstdint>

namespace batchlight::capture {

// --backtrace
enum class Backtrace { kNone, kFramePointers, kUnwindTables };

// As recordings say it (sampling.backtrace).
constexpr const char* NameOf(Backtrace backtrace) {
  return backtrace == Backtrace::kNone            ? "none"
         : backtrace == Backtrace::kFramePointers ? "fp"
                                                  : "dwarf";
}

struct CpuOptions {
  bool samples = false;
  bool switches = false;
  int64_t period_ns = 0;           // of processor time, between samples of a thread
  uint32_t samples_per_stack = 1;  // the others have their innermost frame alone
  Backtrace backtrace = Backtrace::kUnwindTables;
  bool resolve_symbols = true;

  bool Any() const { return samples || switches; }
};

}  // namespace batchlight::capture
