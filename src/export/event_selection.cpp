#include "export/event_selection.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/nearest.h"
#include "export/table_names.h"

namespace batchlight {
namespace {

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

Result<TimeRange> ParseRange(std::string_view text) {
  const std::string whole(text);
  TimeRange range;
  if (text.starts_with(':')) {
    range.may_cross_start = true;
    text.remove_prefix(1);
  }
  if (text.ends_with(':')) {
    range.may_cross_end = true;
    text.remove_suffix(1);
  }
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return UsageError("--times takes [:][start]/[end][:], as in 1s/2s500ms:, not \"" + whole +
                      "\"");
  }
  if (slash > 0) {
    ASSIGN_OR_RETURN(range.start_ns, ParseDuration(text.substr(0, slash)));
  }
  if (slash + 1 < text.size()) {
    ASSIGN_OR_RETURN(range.end_ns, ParseDuration(text.substr(slash + 1)));
  }
  if (range.end_ns < range.start_ns) {
    return UsageError("--times " + whole + ": the end is before the start");
  }
  return range;
}

}  // namespace

Status EventSelection::SetTimes(std::string_view text) {
  times_text_ = text;
  for (const std::string& part : SplitAtCommas(text)) {
    ASSIGN_OR_RETURN(const TimeRange range, ParseRange(part));
    times_.push_back(range);
  }
  return Status();
}

Status EventSelection::SetTables(std::string_view text) {
  tables_text_ = text;
  for (const std::string& part : SplitAtCommas(text)) {
    ASSIGN_OR_RETURN(NamePattern pattern,
                     NamePattern::Make("--tables", part, NamePattern::Kind::kBasicInAnyCase));
    const std::vector<std::string>& known = KnownTableNames();
    if (std::none_of(known.begin(), known.end(),
                     [&](const std::string& name) { return pattern.Matches(name); })) {
      const std::string near = DidYouMean(NearestFew(part, {known.begin(), known.end()}));
      return UsageError("--tables: no table's name matches \"" + part + "\"" + near);
    }
    tables_.push_back(std::move(pattern));
  }
  return Status();
}

void EventSelection::KeepProcesses(std::vector<bool> kept,
                                   const std::vector<ProcessId>& process_of_thread) {
  kept_ = std::move(kept);
  process_of_thread_ = &process_of_thread;
}

bool EventSelection::HasTable(std::string_view name) const {
  if (tables_.empty()) return true;
  std::vector<std::string> names = OtherTableNames(name);
  names.emplace_back(name);
  return std::any_of(tables_.begin(), tables_.end(), [&](const auto& pattern) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& one) { return pattern.Matches(one); });
  });
}

bool EventSelection::HasTime(int64_t start_ns, int64_t end_ns) const {
  if (times_.empty()) return true;
  return std::any_of(times_.begin(), times_.end(), [&](const TimeRange& range) {
    if (end_ns < range.start_ns || start_ns > range.end_ns) return false;
    if (start_ns < range.start_ns && !range.may_cross_start) return false;
    return end_ns <= range.end_ns || range.may_cross_end;
  });
}

TimeRange EventSelection::AllTimes() const {
  if (times_.empty()) return {};
  TimeRange all = times_.front();
  for (const TimeRange& range : times_) {
    all.start_ns = std::min(all.start_ns, range.start_ns);
    all.end_ns = std::max(all.end_ns, range.end_ns);
  }
  return all;
}

bool EventSelection::MeetsTimes(int64_t start_ns, int64_t end_ns) const {
  return times_.empty() || std::any_of(times_.begin(), times_.end(), [&](const TimeRange& range) {
           return range.start_ns <= end_ns && start_ns <= range.end_ns;
         });
}

}  // namespace batchlight
