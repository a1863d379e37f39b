#include "report/terminal/findings_text.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "analysis/advice/advice_text.h"
#include "base/printable_text.h"
#include "report/text/event_of.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kSeenIndent = 9;  // behind "   Seen: "

// "; in part the same time as launch-bound, small-kernels", or "".
std::string SameTime(const Finding& finding) {
  std::string text;
  for (const std::string_view rule : finding.same_time_as) {
    text.append(text.empty() ? "; in part the same time as " : ", ").append(rule);
  }
  return text;
}

// The lines to change, below "Patch:" with file and line where they are known.
void WritePatch(SummaryText& out, const Patch& patch) {
  if (patch.empty() && !patch.place.empty()) out.Line("   Where: " + patch.place);
  if (patch.empty()) return;
  out.Line("   Patch:" + (patch.place.empty() ? "" : " " + patch.place));
  for (size_t begin = 0; begin < patch.diff.size();) {
    const size_t end = std::min(patch.diff.find('\n', begin), patch.diff.size());
    out.Line("     " + patch.diff.substr(begin, end - begin));
    begin = end + 1;
  }
}

// "--step 13", "--at 1.234567s" or "--find NAME"; "": it is nowhere to be seen.
std::string PlaceFlag(const Evidence& item) {
  constexpr size_t kMostLetters = 80;  // a part of a name finds it too
  if (item.step >= 0) return "--step " + std::to_string(item.step);
  if (item.longest.duration_ns() > 0) {
    char seconds[40];
    const int64_t middle_ns = item.longest.start_ns + item.longest.duration_ns() / 2;
    std::snprintf(seconds, sizeof seconds, "--at %.6fs", double(middle_ns) / 1e9);
    return seconds;
  }
  std::string event = EventOf(item);
  if (event.size() > kMostLetters)
    event = CleanText(event.substr(0, event.find_last_of(" ,<(", kMostLetters)));
  return event.empty() ? "" : "--find " + ShellPath(event);
}

// A command on one line, to copy.
void WriteView(SummaryText& out, const Store& store, const std::vector<std::string>& runs,
               const Finding& finding) {
  const Evidence* item = ToBeSeen(store, finding);
  const std::string place = item == nullptr ? "" : PlaceFlag(*item);
  if (place.empty()) return;
  std::string command = "   View: batchlight view ";
  for (const std::string& run : runs) command += ShellPath(run) + ' ';
  out.Line(command + place);
}

}  // namespace

std::string FindingsText(const std::vector<Finding>& findings, TerminalStyle style,
                         const Store* store, const std::vector<std::string>& runs) {
  if (findings.empty()) return "Nothing found.\n";
  if (style.terminal_width == 0) style = {.width = std::numeric_limits<int>::max()};
  SummaryText out(style);
  bool first = true;
  for (const Finding& finding : findings) {
    if (!first) out.EndLine();
    first = false;
    out.Wrapped(finding.title + " (" + std::string(finding.rule) + ")", 0);
    out.Put("   Seen: ").Wrapped(finding.seen, kSeenIndent);
    out.Put("   Why:  ").Wrapped(finding.why, kSeenIndent);
    out.Put("   Do:   ").Wrapped(finding.action, kSeenIndent);
    if (finding.has_gain()) {
      out.Put("   Gain: ").Wrapped(GainText(finding) + SameTime(finding), kSeenIndent);
    }
    WritePatch(out, finding.patch);
    if (store != nullptr) WriteView(out, *store, runs, finding);
  }
  const std::string together = CombinedText(findings);
  if (!together.empty()) out.EndLine().Wrapped(together, 0);
  return out.text();
}

}  // namespace batchlight
