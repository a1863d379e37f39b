// What to change. A finding names a problem that the recording shows, with the evidence, why it
// costs time, what to do about it and what that would gain. A rule does not fire on a run without
// its problem, and stays silent if the data it needs was not recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"

namespace batchlight {

// Something in the recording that supports the finding.
struct Evidence {
  std::string kind;  // "operator", "kernel", "module", "step", "call", "setting"
  std::string name;
  uint64_t count = 0;      // times seen, 0 = does not apply
  double per_step_ns = 0;  // 0 = does not apply
  // What names of its events contain, where its own name does not tell: of functions, kernels.
  std::string event;
  // Where it is to be seen, where that is known better than by a name: the longest of it, or a
  // step.
  TimeSpan longest{};
  int64_t step = -1;  // its number; -1: none
};

// The change itself, where it can be written down.
struct Patch {
  std::string place;  // "train.py:41", as recorded; "": not known
  std::string diff;   // lines that begin with '-', '+' or ' ', to copy

  bool empty() const { return diff.empty(); }
};

enum class FindingKind : uint8_t {
  kCause,    // of slow steps, or of what lies between them again and again
  kOnce,     // a cause that is paid once, however long the run trains: start-up, not validation
  kMachine,  // others slow the machine down: nothing in the program is to be changed
  kSymptom,  // says that something is slow, not why, and promises nothing
};

// Where a finding stands, best first; within a rank by what it saves of the run.
enum class FindingRank : uint8_t {
  kOfTheLoop,  // a cause that a longer run pays again and again, and that is worth it
  kOther,      // other causes, and those without an estimate
  kMachine,
  kSymptom,
};

struct Finding {
  std::string_view rule;  // id: dataloader-wait
  std::string title;      // one line: what is wrong
  std::string seen;       // what was seen, with numbers
  std::string why;        // why it costs time
  std::string action;     // what to do
  // Estimated gain of every step, and how far off that may be. 0: none, or none can be estimated.
  double gain_ns = 0;
  double uncertainty_ns = 0;
  std::vector<Evidence> evidence;
  // The same of the run as a whole, for what lies beside the steps: validation, start-up.
  double run_gain_ns = 0;
  double run_uncertainty_ns = 0;
  FindingKind kind = FindingKind::kCause;
  Patch patch;
  // From here on FindAdvice fills in.
  double run_share = 0;   // both gains as a share of the run's wall time
  double step_share = 0;  // gain_ns as a share of the mean step
  // Both gains as a share of the loop: its steps and what lies between them. 0: paid once.
  double loop_share = 0;
  FindingRank rank = FindingRank::kOther;
  // Rules whose findings save more, and partly the same time: their gains do not add up.
  std::vector<std::string_view> same_time_as;

  bool has_gain() const { return gain_ns > 0 || run_gain_ns > 0; }
};

}  // namespace batchlight
