#include "report/text/event_of.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "analysis/gpu/gpu_breakdown.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

bool IsIdleTime(std::string_view name) {
  for (size_t part = 0; part < kGpuPartCount; ++part) {
    if (IsIdle(GpuPart(part)) && name == GpuPartName(GpuPart(part))) return true;
  }
  return false;
}

bool HasEvents(const Store& store, const Evidence& item) {
  const std::string event = EventOf(item);
  if (event.empty() || event.starts_with('-')) return false;
  // Names of functions, copies and idle time are no texts of the recording.
  if (item.kind == "function" || item.kind == "copy" || IsIdleTime(item.name)) return true;
  if (!store.strings.Find(event).IsNone()) return true;  // most often, and at once
  for (size_t row = 0; row < store.strings.size(); ++row) {
    if (store.Text(StringId::At(row)).find(event) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string EventOf(const Evidence& item) {
  constexpr std::string_view kEvents[] = {"operator", "kernel", "module", "range", "call", "phase"};
  constexpr size_t kMostBytes = 400;  // a link takes fewer
  if (!item.event.empty()) return CleanText(item.event.substr(0, kMostBytes));
  const bool is_event =
      std::find(std::begin(kEvents), std::end(kEvents), item.kind) != std::end(kEvents);
  return is_event || IsIdleTime(item.name) ? CleanText(item.name.substr(0, kMostBytes)) : "";
}

std::string_view TableOf(const Evidence& item) {
  constexpr std::pair<std::string_view, std::string_view> kTables[] = {
      {"operator", "operator_calls"},
      {"kernel", "kernels"},
      {"module", "module_calls"},
      {"range", "nvtx_ranges"},
      {"phase", "step_phases"},
      {"function", "python_stretches"},
      {"copy", "memcpys"}};
  for (const auto& [kind, table] : kTables) {
    if (item.kind == kind) return table;
  }
  return "";
}

const Evidence* ToBeSeen(const Store& store, const Finding& finding) {
  const Evidence* most = nullptr;
  for (const Evidence& item : finding.evidence) {
    if (most != nullptr && item.per_step_ns <= most->per_step_ns) continue;
    const bool is_placed = item.step >= 0 || item.longest.duration_ns() > 0;
    if (is_placed || HasEvents(store, item)) most = &item;
  }
  return most;
}

}  // namespace batchlight
