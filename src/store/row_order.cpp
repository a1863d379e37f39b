#include "store/row_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "base/thread_pool.h"

namespace batchlight {
namespace {

// The keys that ORDER lines may name.
namespace keys {

constexpr struct Thread {
  static auto Of(const auto& table, size_t row) { return table.thread[row]; }
} thread;
constexpr struct Start {
  static auto Of(const auto& table, size_t row) { return table.start_ns[row]; }
} start_ns;
constexpr struct Longest {
  static auto Of(const auto& table, size_t row) { return ~table.end_ns[row]; }
} longest;
constexpr struct Copy {
  static auto Of(const auto& table, size_t row) { return table.memcpy_row[row]; }
} memcpy_row;

}  // namespace keys

// KeysOf(table): the keys that order its rows, as a tuple; empty without an ORDER line.
#define TABLE_BEGIN(Name, member, doc)        \
  constexpr auto KeysOf(const Name##Table&) { \
    using namespace keys;                     \
    return std::tuple(
#define ORDER(...) __VA_ARGS__
#define COLUMN(type, name, doc)
#define TABLE_END(Name) \
    );                  \
  }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

template <typename Table>
using Keys = decltype(KeysOf(std::declval<const Table&>()));

template <typename Table, typename Key, typename... Rest>
bool Before(const Table& table, std::tuple<Key, Rest...>, size_t a, size_t b) {
  const auto left = Key::Of(table, a);
  const auto right = Key::Of(table, b);
  if (left != right) return left < right;
  if constexpr (sizeof...(Rest) > 0) return Before(table, std::tuple<Rest...>(), a, b);
  return false;
}

// Groups rows by thread and keeps their order within each. There are few threads, so one pass
// counts and one pass places.
std::vector<uint32_t> GroupByThread(const std::vector<ThreadId>& thread) {
  size_t count = 0;
  for (const ThreadId id : thread) count = std::max(count, id.IsNone() ? 0 : id.row() + 1);
  const auto group = [&](ThreadId id) { return id.IsNone() ? count : id.row(); };
  std::vector<uint32_t> next(count + 2);
  for (const ThreadId id : thread) ++next[group(id) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<uint32_t> order(thread.size());
  for (size_t row = 0; row < thread.size(); ++row) {
    order[next[group(thread[row])]++] = static_cast<uint32_t>(row);
  }
  return order;
}

// The order of the rows; empty if they are in order already. Sources write rows by start, or nearly
// so: once grouped by thread, few are in the wrong place.
template <typename Table>
std::vector<uint32_t> OrderOf(const Table& table) {
  const auto before = [&](size_t a, size_t b) { return Before(table, Keys<Table>(), a, b); };
  const size_t count = table.size();
  bool sorted = true;
  for (size_t row = 1; row < count && sorted; ++row) sorted = !before(row, row - 1);
  if (sorted) return {};
  std::vector<uint32_t> order;
  if constexpr (std::is_same_v<std::tuple_element_t<0, Keys<Table>>, keys::Thread>) {
    order = GroupByThread(table.thread);
  } else {
    order.resize(count);
    std::iota(order.begin(), order.end(), 0u);
  }
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

template <typename Table>
constexpr bool kIsOrdered = std::tuple_size_v<Keys<Table>> > 0;
// Ordered by rows of another table, so it comes after that one.
template <typename Table>
constexpr bool kFollows = std::is_same_v<Table, UmTransfersTable>;
template <typename Table>
constexpr bool kIsDatedFirst = std::is_same_v<Table, CudaEventsTable>;

// A parent that no longer comes before its child is dropped.
template <typename Table>
void DropLaterParents(Table& table) {
  for (size_t row = 0; row < table.size(); ++row) {
    auto& parent = table.parent[row];
    if (!parent.IsNone() && parent.row() >= row) parent = {};
  }
}

}  // namespace

std::vector<uint32_t> NewRows(std::span<const uint32_t> order) {
  std::vector<uint32_t> new_rows(order.size());
  for (size_t row = 0; row < order.size(); ++row) new_rows[order[row]] = static_cast<uint32_t>(row);
  return new_rows;
}

void OrderTables(Store& store) {
  struct Task {
    std::function<void(Task&)> sort;
    std::function<void(Task&)> renumber;
    std::vector<uint32_t> order;  // empty: it was in order
  };
  std::vector<Task> tasks;
  store.VisitTables([&]<typename Table>(Table& table) {
    if constexpr (kIsOrdered<Table> && !kFollows<Table> && !kIsDatedFirst<Table>) {
      Task task;
      task.sort = [&](Task& self) {
        self.order = OrderOf(table);
        if (!self.order.empty()) table.Reorder(self.order);
      };
      if constexpr (!std::is_void_v<RowIdOf<Table>>) {
        task.renumber = [&](Task& self) {
          RenumberIds<RowIdOf<Table>>(store, NewRows(self.order));
          if constexpr (requires { table.parent; }) DropLaterParents(table);
        };
      }
      tasks.push_back(std::move(task));
    }
  });
  ParallelFor(tasks.size(), [&](size_t i) { tasks[i].sort(tasks[i]); });
  for (Task& task : tasks) {
    if (!task.order.empty() && task.renumber) task.renumber(task);
  }
  const auto order = OrderOf(store.um_transfers);
  if (!order.empty()) store.um_transfers.Reorder(order);
}

void OrderEvents(CudaEventsTable& events) {
  const auto order = OrderOf(events);
  if (!order.empty()) events.Reorder(order);
}

}  // namespace batchlight
