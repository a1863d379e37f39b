#include "export/chrome/chrome_trace.h"
#include "export/usage_counters.h"

namespace batchlight {
namespace {

constexpr int64_t kMachinePid = -3;  // no process; -2 is the network

}  // namespace

Status WriteChromeUsage(ChromeTrace& trace) {
  ChromeFile& file = trace.file;
  bool names_machine = true;
  for (const UsageSeries& series : FindUsageSeries(trace.store)) {
    if (!trace.selection.HasTable(series.table)) continue;
    if (!trace.selection.HasProcess(series.process)) continue;
    const bool of_machine = series.process.IsNone();
    const int64_t pid = of_machine ? kMachinePid : trace.Pid(series.process);
    if (of_machine && names_machine) file.Metadata("process_name", pid, 0, "name", "machine");
    names_machine = names_machine && !of_machine;
    const std::string title = CounterTitle(series);
    RETURN_IF_ERROR(VisitPoints(trace.selection, series, [&](int64_t at_ns, int64_t value) {
      file.Counter(title, pid, "value", value, at_ns);
      return file.out().FlushIfLarge();
    }));
  }
  return {};
}

}  // namespace batchlight
