// Gates for CI: "step>3%", "forward>1ms", "operator:aten::mm>5%".
//
//   METRIC > LIMIT [, ...]
//   METRIC  step, a phase (forward, data_loading), or operator:NAME, module:NAME, kernel:NAME,
//           phase:NAME, gpu:NAME
//   LIMIT   3% of the first run, or an absolute 1.5ms, 200us, 10ns, 0.1s
//
// A gate fails when B is slower than A by more than the limit. `step` fails only if the 95 %
// interval is also above 0, so that noise alone cannot fail a build.
#pragma once

#include <string>
#include <vector>

#include "analysis/diff/run_diff.h"
#include "base/status.h"

namespace batchlight {

struct Gate {
  std::string text;  // as written
  std::string list;  // key of the ChangeList; "" = the step
  std::string name;
  double limit = 0;  // fraction, or ns
  bool relative = true;
};

struct GateResult {
  std::string text;
  bool failed = false;
  std::string finding;  // "step is 5.2 % slower (1.04 ms), the limit is 3 %"
};

// Errors (kUsage): what is wrong with the text, and an example.
Result<std::vector<Gate>> ParseGates(const std::string& text);

// Errors (kUsage): a name that is in neither run, with the nearest.
Result<std::vector<GateResult>> CheckGates(const std::vector<Gate>& gates, const RunDiff& diff);

}  // namespace batchlight
