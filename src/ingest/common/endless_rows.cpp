#include "ingest/common/endless_rows.h"

#include <algorithm>
#include <string>

#include "ingest/common/value_limits.h"

namespace batchlight {

void CloseEndlessRows(Store& store) {
  const auto close = [&](auto& table) {
    LimitedSum lengths = SumOfDurations();
    uint64_t closed = 0;
    for (size_t row = 0; row < table.size(); ++row) {
      const int64_t start_ns = table.start_ns[row];
      if (table.end_ns[row] != kOpenEnd) continue;
      if (lengths.Add(std::max(store.duration_ns, start_ns) - start_ns)) continue;
      table.end_ns[row] = start_ns;
      ++closed;
    }
    if (closed == 0) return;
    const std::string text = std::to_string(closed) + " row(s) of " + std::string(table.kName) +
                             " have no end and would last longer than can be: they are taken to "
                             "end where they start";
    store.reasons.Append(
        {.feature = store.strings.Intern("import"), .text = store.strings.Intern(text)});
  };
  close(store.nvtx_ranges);
  close(store.module_calls);
  close(store.phase_calls);
  close(store.operator_calls);
  close(store.api_calls);
  close(store.os_calls);
  close(store.runtime_events);
  close(store.mpi_events);
  close(store.profiler_overheads);
}

}  // namespace batchlight
