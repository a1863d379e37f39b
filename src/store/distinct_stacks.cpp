#include "store/distinct_stacks.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "store/row_order.h"

namespace batchlight {
namespace {

// Rows with the same key become the first of them. key(row) names ids of tables merged before.
template <typename Table, typename Key>
void MergeRows(Store& store, Table& table, Key&& key) {
  using Id = RowIdOf<Table>;
  std::map<decltype(key(table.Row(0))), Id> rows;
  std::vector<uint32_t> new_rows;
  Table merged;
  for (size_t row = 0; row < table.size(); ++row) {
    const auto values = table.Row(row);
    const auto [place, added] = rows.try_emplace(key(values), Id::At(merged.size()));
    if (added) merged.Append(values);
    new_rows.push_back(place->second.value);
  }
  if (merged.size() == new_rows.size()) return;
  table = std::move(merged);
  RenumberIds<Id>(store, new_rows);
}

// Recorders keep 512 frames, and functions are inlined in these. Of what means harm the walk from
// each stack outwards stays bounded.
constexpr uint32_t kDeepestStack = 2000;

// The same for stacks, whose parents are rows of the table itself. What is deeper than that counts
// for the last level.
template <typename Table>
void MergeStackRows(Store& store, Table& table) {
  using Id = RowIdOf<Table>;
  std::map<std::pair<decltype(table.Row(0).frame), Id>, Id> rows;
  std::vector<uint32_t> new_rows;
  std::vector<uint32_t> depths;  // by row of `merged`
  Table merged;
  for (size_t row = 0; row < table.size(); ++row) {
    auto stack = table.Row(row);
    // Callers come first, so theirs is known; any other id is damage.
    const bool known = !stack.parent.IsNone() && stack.parent.row() < row;
    stack.parent = known ? Id{new_rows[stack.parent.row()]} : Id();
    const uint32_t depth = stack.parent.IsNone() ? 1 : depths[stack.parent.row()] + 1;
    if (depth > kDeepestStack) {
      new_rows.push_back(stack.parent.value);
      continue;
    }
    const auto [place, added] =
        rows.try_emplace({stack.frame, stack.parent}, Id::At(merged.size()));
    if (added) {
      merged.Append(stack);
      depths.push_back(depth);
    }
    new_rows.push_back(place->second.value);
  }
  if (merged.size() == new_rows.size()) {
    table = std::move(merged);
    return;
  }
  // Not among the columns that RenumberIds() visits a second time: its parents are new already.
  table.Clear();
  RenumberIds<Id>(store, new_rows);
  table = std::move(merged);
}

}  // namespace

void MergeEqualStacks(Store& store) {
  MergeRows(store, store.python_frames, [](const PythonFramesRow& frame) {
    return std::tuple(frame.file, frame.function, frame.first_line, frame.line);
  });
  MergeStackRows(store, store.python_stacks);
  MergeRows(store, store.native_modules, [](const NativeModulesRow& module) {
    return std::tuple(module.path, module.build_id, module.of_kernel);
  });
  MergeRows(store, store.native_frames, [](const NativeFramesRow& frame) {
    return std::tuple(frame.module, frame.address, frame.function, frame.inlined);
  });
  MergeStackRows(store, store.native_stacks);
}

}  // namespace batchlight
