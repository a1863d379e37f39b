#include "analysis/steps/graph_use.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace batchlight {
namespace {

enum class GraphCall : uint8_t { kNone, kBegin, kEnd, kInstantiate, kLaunch };

// "cudaGraphLaunch_v10000", "cuGraphLaunch": runtime and driver name them alike.
GraphCall KindOf(std::string_view name) {
  if (!name.starts_with("cu")) return GraphCall::kNone;
  name.remove_prefix(name.starts_with("cuda") ? 4 : 2);
  if (name.starts_with("GraphLaunch")) return GraphCall::kLaunch;
  if (name.starts_with("GraphInstantiate")) return GraphCall::kInstantiate;
  if (name.starts_with("StreamBeginCapture")) return GraphCall::kBegin;
  if (name.starts_with("StreamEndCapture")) return GraphCall::kEnd;
  return GraphCall::kNone;
}

}  // namespace

GraphUse FindGraphUse(const Store& store, ThreadId thread) {
  GraphUse use;
  const ApiCallsTable& calls = store.api_calls;
  const auto rows = std::equal_range(calls.thread.begin(), calls.thread.end(), thread);
  std::unordered_map<StringId, GraphCall> kinds;
  int64_t capture_begin_ns = kOpenEnd;
  for (auto at = rows.first; at != rows.second; ++at) {
    const auto row = static_cast<size_t>(at - calls.thread.begin());
    const auto [kind, added] = kinds.try_emplace(calls.name[row], GraphCall::kNone);
    if (added) kind->second = KindOf(store.Text(calls.name[row]));
    if (kind->second == GraphCall::kNone || calls.end_ns[row] == kOpenEnd) continue;
    if (kind->second == GraphCall::kLaunch) {
      // A runtime call may hold the driver's.
      if (use.replays.empty() || calls.start_ns[row] >= calls.end_ns[use.replays.back()]) {
        use.replays.push_back(static_cast<uint32_t>(row));
      }
    } else if (kind->second == GraphCall::kBegin) {
      capture_begin_ns = std::min(capture_begin_ns, calls.start_ns[row]);
    } else if (kind->second == GraphCall::kInstantiate) {
      use.captures.push_back({calls.start_ns[row], calls.end_ns[row]});
    } else if (capture_begin_ns != kOpenEnd) {
      use.captures.push_back({capture_begin_ns, calls.end_ns[row]});
      capture_begin_ns = kOpenEnd;
    }
  }
  return use;
}

}  // namespace batchlight
