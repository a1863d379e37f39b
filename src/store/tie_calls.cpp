#include "store/tie_calls.h"

#include <algorithm>
#include <functional>

#include "base/thread_pool.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

// use(row of the process, row of the call) for every call that has both and an id. Calls come
// thread by thread.
template <typename Use>
void VisitCalls(const Store& store, Use&& use) {
  const ApiCallsTable& calls = store.api_calls;
  ThreadId thread;
  ProcessId process;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.thread[row] != thread) {
      thread = calls.thread[row];
      process = store.ProcessOf(thread);
    }
    if (!process.IsNone() && calls.correlation[row] != 0) use(process.row(), row);
  }
}

}  // namespace

CallIndex::CallIndex(const Store& store) : spans_(store.processes.size()) {
  const auto& ids = store.api_calls.correlation;
  VisitCalls(store, [&](size_t process, size_t row) {
    Span& span = spans_[process];
    span.first = std::min(span.first, ids[row]);
    span.last = std::max(span.last, ids[row]);
    ++span.count;
  });
  for (Span& span : spans_) {
    // A damaged input may hold any id, which must not cost gigabytes.
    const uint64_t width = uint64_t{span.last} - span.first + 1;
    if (span.count != 0 && width <= 16 * span.count + (1 << 20)) span.rows.resize(width);
  }
  VisitCalls(store, [&](size_t process, size_t row) {
    Span& span = spans_[process];
    if (span.rows.empty()) {
      span.sparse.FindOrAdd(ids[row], static_cast<uint32_t>(row));
    } else if (ApiCallId& call = span.rows[ids[row] - span.first]; call.IsNone()) {
      call = ApiCallId::At(row);
    }
  });
}

void TieToCalls(const CallIndex& index, Store& store) {
  std::vector<std::function<void()>> tasks;
  store.VisitTables([&](auto& table) {
    if constexpr (requires { table.api_call; }) {
      tasks.push_back([&] {
        for (size_t row = 0; row < table.size(); ++row) {
          table.api_call[row] = index.Find(table.process[row], table.correlation[row]);
        }
      });
    }
  });
  ParallelFor(tasks.size(), [&](size_t i) { tasks[i](); });
}

void DateByCalls(const CallIndex& index, Store& store) {
  store.VisitTables([&]<typename Table>(Table& table) {
    if constexpr (requires { Table::kDatedByCall; }) {
      for (size_t row = 0; row < table.size(); ++row) {
        if (table.start_ns[row] != kOpenEnd) continue;
        const ApiCallId call = index.Find(table.process[row], table.correlation[row]);
        table.start_ns[row] = call.IsNone() ? 0 : store.api_calls.start_ns[call.row()];
      }
    }
  });
  OrderDatedTables(store);
}

}  // namespace batchlight
