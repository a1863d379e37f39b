#include "store/endless_rows.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "store/value_limits.h"

namespace batchlight {
namespace {

template <typename Table>
uint64_t Close(const Store& store, Table& table) {
  if (std::count(table.end_ns.begin(), table.end_ns.end(), kOpenEnd) == 0) return 0;
  LimitedSum lengths = SumOfDurations();
  uint64_t closed = 0;
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.end_ns[row] != kOpenEnd) continue;
    const int64_t start_ns = table.start_ns[row];
    if (lengths.Add(std::max(store.duration_ns, start_ns) - start_ns)) continue;
    table.end_ns[row] = start_ns;
    ++closed;
  }
  return closed;
}

}  // namespace

void CloseEndlessRows(Store& store) {
  struct Task {
    std::string_view table;
    std::function<uint64_t()> close;
    uint64_t closed = 0;
  };
  std::vector<Task> tasks;
  store.VisitTables([&]<typename Table>(Table& table) {
    // What threads do: work of a GPU has always ended, and processes may go on.
    if constexpr (requires {
                    table.start_ns;
                    table.end_ns;
                    table.thread;
                  }) {
      tasks.push_back({Table::kName, [&] { return Close(store, table); }});
    }
  });
  ParallelFor(tasks.size(), [&](size_t i) { tasks[i].closed = tasks[i].close(); });
  for (const Task& task : tasks) {
    if (task.closed == 0) continue;
    const std::string text = std::to_string(task.closed) + " row(s) of " + std::string(task.table) +
                             " have no end and would last longer than can be: they are taken to "
                             "end where they start";
    store.reasons.Append(
        {.feature = store.strings.Intern("import"), .text = store.strings.Intern(text)});
  }
}

}  // namespace batchlight
