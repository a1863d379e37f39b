#include "analysis/lines/stack_times.h"

#include <map>
#include <tuple>

#include "analysis/lines/line_parts.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"

namespace batchlight {
namespace {

class Sums {
 public:
  StackTimes& Of(const LinePart& part) {
    const bool backward = part.side == LineSide::kBackward;
    const auto [place, added] = rows_.try_emplace({part.kind, backward, part.stack});
    if (added) place->second = {.kind = part.kind, .backward = backward, .stack = part.stack};
    return place->second;
  }

  std::vector<StackTimes> Finish() const {
    std::vector<StackTimes> times;
    for (const auto& [key, row] : rows_) {
      if (row.calls > 0 || row.cpu_ns > 0 || row.gpu_ns > 0) times.push_back(row);
    }
    return times;
  }

 private:
  std::map<std::tuple<LineKind, bool, PythonStackId>, StackTimes> rows_;
};

}  // namespace

std::vector<StackTimes> MeasureStacks(const Store& store, const BackwardLinks& links,
                                      const Attribution& work) {
  if (!HasCallStacks(store)) return {};
  const StackLines lines(store);
  const LineFinder finder(store, links, lines);
  const std::vector<int64_t> own = OwnTimes(store, finder);
  Sums sums;
  for (uint32_t row = 0; row < store.operator_calls.size(); ++row) {
    if (!finder.HasOwnPart(row)) continue;
    StackTimes& times = sums.Of(finder.OfOperator(OperatorCallId::At(row)));
    times.cpu_ns += own[row];
    ++times.calls;
  }
  const CallStacks calls(store);
  const auto add = [&](const auto& table, const std::vector<WorkOwner>& owners) {
    for (size_t row = 0; row < owners.size(); ++row) {
      if (table.end_ns[row] == kOpenEnd) continue;
      const LinePart part = finder.OfWork(owners[row], calls.Of(table.api_call[row]));
      sums.Of(part).gpu_ns += table.end_ns[row] - table.start_ns[row];
    }
  };
  add(store.kernels, work.kernels);
  add(store.memcpys, work.memcpys);
  add(store.memsets, work.memsets);
  add(store.graph_launches, work.graph_launches);
  return sums.Finish();
}

}  // namespace batchlight
