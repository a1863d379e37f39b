#include "cli/reading/stall_tables.h"

#include "analysis/stalls/stall_tables.h"
#include "ingest/decode/stall_samples.h"
#include "ingest/recording/source_lines.h"

namespace batchlight::cli {
bool HasStallWindows(const Store& store) {
  for (const StringId set : store.counter_ranges.counter_set) {
    const std::string_view text = store.Text(set);
    if (text == kSerializedStalls || text == kContinuousStalls) return true;
  }
  return false;
}

Result<StallProfile> ReadStallProfile(const Store& store, const std::string& input) {
  ASSIGN_OR_RETURN(StallSamples samples, ReadStallSamples(input));
  ReadKernelSources(store, samples);
  return ProfileStalls(samples);
}

Result<std::vector<ResultTable>> ReadStallTables(const Store& store, const std::string& input) {
  std::vector<ResultTable> tables;
  if (!HasStallWindows(store)) return tables;
  ASSIGN_OR_RETURN(const StallProfile profile, ReadStallProfile(store, input));
  tables.push_back(StallKernelsTable(profile));
  tables.push_back(StallLinesTable(profile));
  return tables;
}

}  // namespace batchlight::cli
