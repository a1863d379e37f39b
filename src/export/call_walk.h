// The calls of one thread, whatever their source, as one sequence of nested begins and ends, from
// which stack formats are made.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "export/event_selection.h"
#include "store/store.h"

namespace batchlight {

enum class CallSource : uint8_t { kNvtx, kPhase, kModule, kOperator, kApi };

struct Call {
  int64_t start_ns;
  int64_t end_ns;  // closed, and never beyond the enclosing call
  CallSource source;
  uint32_t row;
  StringId name;
};

// Calls of the thread ordered by (start, longest first, source). Push/pop ranges only: start/end
// ranges do not nest. Of calls that overlap without nesting (two NVTX domains), the later one is
// cut where the earlier one ends.
std::vector<Call> CallsOf(const Store& store, ThreadId thread, const EventSelection& selection);

// Calls open(call) and close(call, end_ns) so that they nest.
template <typename Open, typename Close>
void WalkCalls(const std::vector<Call>& calls, Open&& open, Close&& close) {
  std::vector<const Call*> stack;
  for (const Call& call : calls) {
    while (!stack.empty() && stack.back()->end_ns <= call.start_ns) {
      close(*stack.back(), stack.back()->end_ns);
      stack.pop_back();
    }
    open(call);
    stack.push_back(&call);
  }
  for (; !stack.empty(); stack.pop_back()) close(*stack.back(), stack.back()->end_ns);
}

}  // namespace batchlight
