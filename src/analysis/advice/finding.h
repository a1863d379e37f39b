// What to change. A finding names a problem that the recording shows, with the evidence, why it
// costs time, what to do about it and what that would gain. A rule does not fire on a run without
// its problem, and stays silent if the data it needs was not recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

// Something in the recording that supports the finding.
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
  // Rules whose findings save more, and partly the same time: their gains do not add up.
  std::vector<std::string_view> same_time_as;
};

}  // namespace batchlight
