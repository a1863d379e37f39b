#include "store/finish.h"

#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "store/distinct_launches.h"
#include "store/distinct_stacks.h"
#include "store/endless_rows.h"
#include "store/nest_calls.h"
#include "store/row_order.h"
#include "store/tie_calls.h"

namespace batchlight {

void FinishStore(Store& store, const FinishOptions& options) {
  CloseEndlessRows(store);  // first: a row's end decides its place and what lies inside it
  MergeEqualLaunches(store);
  MergeEqualStacks(store);
  OrderTables(store);
  CallIndex index;
  std::vector<std::function<void()>> tasks;
  tasks.push_back([&] { index = CallIndex(store); });
  store.VisitTables([&](auto& table) {
    if constexpr (requires { table.depth; }) {
      constexpr bool kIsRange = kMustEnclose<std::decay_t<decltype(table)>>;
      if (kIsRange ? options.has_range_parents : options.has_call_parents) return;
      tasks.push_back([&] { NestByTime(table); });
    }
  });
  ParallelFor(tasks.size(), [&](size_t i) { tasks[i](); });
  TieToCalls(index, store);
  DateByCalls(index, store);
}

}  // namespace batchlight
