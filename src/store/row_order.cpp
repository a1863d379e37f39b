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
  using Value = ThreadId;
  static const auto& Column(const auto& table) { return table.thread; }
  static Value Of(Value value) { return value; }
} thread;
constexpr struct Start {
  using Value = int64_t;
  static const auto& Column(const auto& table) { return table.start_ns; }
  static Value Of(Value value) { return value; }
} start_ns;
constexpr struct Longest {
  using Value = int64_t;
  static const auto& Column(const auto& table) { return table.end_ns; }
  static Value Of(Value value) { return ~value; }
} longest;
constexpr struct Copy {
  static constexpr bool kIsPlace = true;  // in another table
  using Value = MemcpyId;
  static const auto& Column(const auto& table) { return table.memcpy_row; }
  static Value Of(Value value) { return value; }
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

// The columns that order rows. Of the keys and not of the table: what sorts is compiled for each.
template <typename... Key>
struct KeyColumns {
  std::tuple<const std::vector<typename Key::Value>&...> columns;

  size_t rows() const { return std::get<0>(columns).size(); }
  bool Before(size_t a, size_t b) const { return KeyBefore<0, Key...>(a, b); }

 private:
  template <size_t kIndex, typename First, typename... Rest>
  bool KeyBefore(size_t a, size_t b) const {
    const auto left = First::Of(std::get<kIndex>(columns)[a]);
    const auto right = First::Of(std::get<kIndex>(columns)[b]);
    if (left != right) return left < right;
    if constexpr (sizeof...(Rest) > 0) return KeyBefore<kIndex + 1, Rest...>(a, b);
    return false;
  }
};

template <typename Table, typename... Key>
KeyColumns<Key...> ColumnsOf(const Table& table, std::tuple<Key...>) {
  return {{Key::Column(table)...}};
}
template <typename Table>
auto ColumnsOf(const Table& table) {
  return ColumnsOf(table, Keys<Table>());
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

// The order of the rows of a table that is not in order. Sources write rows by start, or nearly so:
// once grouped by thread, few are in the wrong place.
template <typename First, typename... Rest>
std::vector<uint32_t> OrderOf(const KeyColumns<First, Rest...>& keys) {
  const auto before = [&](size_t a, size_t b) { return keys.Before(a, b); };
  std::vector<uint32_t> order;
  if constexpr (std::is_same_v<First, keys::Thread>) {
    order = GroupByThread(std::get<0>(keys.columns));
  } else {
    order.resize(keys.rows());
    std::iota(order.begin(), order.end(), 0u);
  }
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

template <typename Table>
constexpr bool kIsOrdered = std::tuple_size_v<Keys<Table>> > 0;

template <typename... Key>
constexpr bool AnyIsPlace(std::tuple<Key...>) {
  return (requires { Key::kIsPlace; } || ...);
}
// Ordered by rows of another table, so it comes after that one.
template <typename Table>
constexpr bool kFollows = AnyIsPlace(Keys<Table>());
template <typename Table>
constexpr bool kIsDated = requires {
  Table::kDatedByCall;
};

// Whether rows [begin, end) come in order, the one before `begin` included.
template <typename... Key>
bool IsInOrder(const KeyColumns<Key...>& keys, size_t begin, size_t end) {
  for (size_t row = std::max<size_t>(begin, 1); row < end; ++row) {
    if (keys.Before(row, row - 1)) return false;
  }
  return true;
}

template <typename Table>
void OrderOne(Table& table) {
  const auto keys = ColumnsOf(table);
  if (!IsInOrder(keys, 0, table.size())) table.Reorder(OrderOf(keys));
}

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

namespace {

struct OrderTask {
  std::function<bool(size_t, size_t)> in_order;  // of rows [begin, end)
  std::function<void(OrderTask&)> sort;
  std::function<void(OrderTask&)> renumber;
  size_t rows = 0;
  std::vector<uint32_t> order = {};  // empty: it was in order
};

template <typename Table>
OrderTask MakeTask(Store& store, Table& table) {
  OrderTask task{
      .in_order = [&](size_t begin, size_t end) { return IsInOrder(ColumnsOf(table), begin, end); },
      .sort =
          [&](OrderTask& self) {
            self.order = OrderOf(ColumnsOf(table));
            table.Reorder(self.order);
          },
      .rows = table.size()};
  if constexpr (!std::is_void_v<RowIdOf<Table>>) {
    task.renumber = [&](OrderTask& self) {
      RenumberIds<RowIdOf<Table>>(store, NewRows(self.order));
      if constexpr (requires { table.parent; }) DropLaterParents(table);
    };
  }
  return task;
}

// The tasks of tables that are not in order. Looks in pieces, since one table has most of the rows.
std::vector<OrderTask*> OutOfOrder(std::vector<OrderTask>& tasks) {
  constexpr size_t kPieceRows = 1 << 18;
  struct Piece {
    OrderTask* task;
    size_t begin;
    bool in_order = true;
  };
  std::vector<Piece> pieces;
  for (OrderTask& task : tasks) {
    for (size_t begin = 0; begin < task.rows; begin += kPieceRows) pieces.push_back({&task, begin});
  }
  ParallelFor(pieces.size(), [&](size_t i) {
    Piece& piece = pieces[i];
    const size_t end = std::min(piece.task->rows, piece.begin + kPieceRows);
    piece.in_order = piece.task->in_order(piece.begin, end);
  });
  std::vector<OrderTask*> found;
  for (const Piece& piece : pieces) {
    const bool known = !found.empty() && found.back() == piece.task;
    if (!piece.in_order && !known) found.push_back(piece.task);
  }
  return found;
}

template <typename RowId>
void RenumberColumn(std::span<const uint32_t> new_rows, std::vector<RowId>& column) {
  for (RowId& id : column) {
    if (!id.IsNone()) id = id.row() < new_rows.size() ? RowId{new_rows[id.row()]} : RowId();
  }
}

}  // namespace

// By macro, not by visitors: those take 65 tables of visitors for each type of id, and the compiler
// a minute.
template <typename RowId>
void RenumberIds(Store& store, std::span<const uint32_t> new_rows) {
#define TABLE_BEGIN(Name, member, doc) \
  {                                    \
    auto& table = store.member;        \
    (void)table;
#define COLUMN(type, name, doc) \
  if constexpr (std::is_same_v<type, RowId>) RenumberColumn(new_rows, table.name);
#define TABLE_END(Name) }
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
}

#define ROW_ID(type) template void RenumberIds<type>(Store&, std::span<const uint32_t>);
#define TABLE_BEGIN(Name, member, doc)
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

void OrderTables(Store& store) {
  std::vector<OrderTask> tasks;
  store.VisitTables([&]<typename Table>(Table& table) {
    if constexpr (kIsOrdered<Table> && !kFollows<Table> && !kIsDated<Table>) {
      tasks.push_back(MakeTask(store, table));
    }
  });
  const std::vector<OrderTask*> unordered = OutOfOrder(tasks);
  ParallelFor(unordered.size(), [&](size_t i) { unordered[i]->sort(*unordered[i]); });
  for (OrderTask* task : unordered) {
    if (task->renumber) task->renumber(*task);
  }
  store.VisitTables([&]<typename Table>(Table& table) {
    if constexpr (kFollows<Table>) OrderOne(table);
  });
}

void OrderDatedTables(Store& store) {
  store.VisitTables([&]<typename Table>(Table& table) {
    if constexpr (kIsDated<Table>) OrderOne(table);
  });
}

}  // namespace batchlight
