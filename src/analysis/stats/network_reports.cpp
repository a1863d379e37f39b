// network_congestion: times in which a network port had data to send and could not.
#include <algorithm>
#include <cstdio>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/report_arguments.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {

Result<RowSource> NetworkCongestion(const Query& query) {
  const double threshold = ArgumentReal(query.args, "ticks_threshold", 10000);  // ticks per ms
  const NetworkSamplesTable& samples = query.store.network_samples;
  ResultTable table;
  table.columns = {TimestampColumn("Start"), TimestampColumn("End"),
                   TimeColumn("Duration"),   IntegerColumn("Send wait rate (ticks/ms)"),
                   TextColumn("GUID"),       TextColumn("Device name")};
  for (size_t row = 0; row < samples.size(); ++row) {
    const std::string_view metric = query.store.Text(samples.metric[row]);
    const int64_t duration = samples.end_ns[row] - samples.start_ns[row];
    if (metric != "IB: Send waits" || duration <= 0) continue;
    if (!query.Keep(samples.start_ns[row], samples.end_ns[row])) continue;
    const double rate =
        static_cast<double>(samples.value[row]) * 1e6 / static_cast<double>(duration);
    if (rate <= threshold) continue;
    char guid[32];
    std::snprintf(guid, sizeof guid, "%llx", static_cast<unsigned long long>(samples.guid[row]));
    table.rows.push_back({samples.start_ns[row], samples.end_ns[row], duration,
                          static_cast<int64_t>(rate), std::string(guid),
                          std::string(query.store.Text(samples.device[row]))});
  }
  return KeepRows(std::move(table));
}

}  // namespace batchlight::stats
