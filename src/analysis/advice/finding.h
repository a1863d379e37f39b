// What to change: a finding names a problem that the recording shows, with its evidence, the reason
// why it costs time, what to do, and what that would gain. No rule fires on a run that does not
// have its problem; a rule whose data was not recorded stays silent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

// A thing in the recording that the finding rests on.
struct Evidence {
  std::string kind;  // "operator", "kernel", "module", "step", "call", "setting"
  std::string name;
  uint64_t count = 0;      // times seen, 0 = does not apply
  double per_step_ns = 0;  // 0 = does not apply
};

struct Finding {
  std::string_view rule;  // id: dataloader-wait
  std::string title;      // one line: what is wrong
  std::string seen;       // what was seen, with numbers
  std::string why;        // why it costs time
  std::string action;     // what to do
  // Estimated gain of a step, and how far off that may be. 0: no estimate can be made.
  double gain_ns = 0;
  double uncertainty_ns = 0;
  std::vector<Evidence> evidence;
  // Rules of findings that gain more, and gain part of the same time: the gains do not add up.
  std::vector<std::string_view> same_time_as;
};

}  // namespace batchlight
