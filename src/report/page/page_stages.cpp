#include "report/page/page_stages.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "report/text/run_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::json;

json Stages(const std::vector<StageTotal>& totals) {
  json out = json::array();
  for (const StageTotal& total : totals) {
    out.push_back({{"key", StageKindKey(total.kind)},
                   {"label", StageKindName(total.kind)},
                   {"count", total.count},
                   {"total_ns", total.total_ns},
                   {"each_ns", std::llround(total.each_ns)}});
  }
  return out;
}

json StartUp(const StartUpParts& start) {
  json out = json::array();
  for (const StartUpPart& part : PartsByName(start)) {
    if (part.ns == 0) continue;
    json imports = json::array();
    for (const PackageImport& import : start.largest) {
      if (part.key != "imports") break;
      imports.push_back({{"package", CleanText(import.package)}, {"total_ns", import.ns}});
    }
    out.push_back({{"label", part.name}, {"total_ns", part.ns}, {"imports", std::move(imports)}});
  }
  return out;
}

}  // namespace

json PageLives(const RunOverview& overview) {
  json out = json::array();
  for (const ProcessStages& process : overview.stages.processes) {
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    const std::string name = process.rank >= 0 ? "rank " + std::to_string(process.rank)
                                               : "process " + std::to_string(pid);
    out.push_back({{"process", name},
                   {"wall_ns", process.wall_ns()},
                   {"stages", Stages(process.totals)},
                   {"start_up", StartUp(process.start_up)}});
  }
  if (const auto mean = MeanOf(overview.stages)) {
    out.push_back({{"process", MeanOfRanks(overview)},
                   {"wall_ns", mean->wall_ns},
                   {"stages", Stages(mean->totals)},
                   {"start_up", json::array()}});
  }
  return out;
}

}  // namespace batchlight
