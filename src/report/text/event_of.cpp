#include "report/text/event_of.h"

#include <algorithm>
#include <iterator>
#include <string_view>

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

}  // namespace

std::string EventOf(const Evidence& item) {
  constexpr std::string_view kEvents[] = {"operator", "kernel", "module", "range", "call", "phase"};
  constexpr size_t kMostBytes = 400;  // a link takes fewer
  if (!item.event.empty()) return CleanText(item.event.substr(0, kMostBytes));
  const bool is_event =
      std::find(std::begin(kEvents), std::end(kEvents), item.kind) != std::end(kEvents);
  return is_event || IsIdleTime(item.name) ? CleanText(item.name.substr(0, kMostBytes)) : "";
}

std::string EventOf(const Store& store, const Finding& finding) {
  for (const Evidence& item : finding.evidence) {
    std::string event = EventOf(item);
    if (event.empty() || event.starts_with('-')) continue;
    // Names of functions and of idle time are no texts of the recording.
    if (event == item.event || IsIdleTime(item.name)) return event;
    if (!store.strings.Find(event).IsNone()) return event;  // most often, and at once
    for (size_t row = 0; row < store.strings.size(); ++row) {
      if (store.Text(StringId::At(row)).find(event) != std::string_view::npos) return event;
    }
  }
  return "";
}

}  // namespace batchlight
