// The calls that a user's key names: by the name of a range, a traced call or an operator, by the
// path of a module, or as dlprof names its ops ("encoder.head/aten::linear").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/steps/step_inputs.h"

namespace batchlight {

struct KeyEnd {
  int64_t time_ns;
  ThreadId thread;
};

// The ends of those calls, thread by thread; empty if there are none.
std::vector<KeyEnd> EndsOfKey(const StepInputs& inputs, ProcessId process, const std::string& key);

}  // namespace batchlight
