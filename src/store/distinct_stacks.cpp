#include "store/distinct_stacks.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "store/row_order.h"

namespace batchlight {
namespace {

void MergeEqualFrames(Store& store) {
  std::map<std::tuple<StringId, StringId, uint32_t, uint32_t>, PythonFrameId> rows;
  std::vector<uint32_t> new_rows;
  PythonFramesTable merged;
  for (size_t row = 0; row < store.python_frames.size(); ++row) {
    const PythonFramesRow frame = store.python_frames.Row(row);
    const auto [place, added] =
        rows.try_emplace({frame.file, frame.function, frame.first_line, frame.line},
                         PythonFrameId::At(merged.size()));
    if (added) merged.Append(frame);
    new_rows.push_back(place->second.value);
  }
  if (merged.size() == new_rows.size()) return;
  store.python_frames = std::move(merged);
  RenumberIds<PythonFrameId>(store, new_rows);
}

}  // namespace

void MergeEqualStacks(Store& store) {
  MergeEqualFrames(store);
  std::map<std::pair<PythonFrameId, PythonStackId>, PythonStackId> rows;
  std::vector<uint32_t> new_rows;
  PythonStacksTable merged;
  for (size_t row = 0; row < store.python_stacks.size(); ++row) {
    PythonStacksRow stack = store.python_stacks.Row(row);
    // Callers come first, so theirs is known; any other id is damage.
    const bool known = !stack.parent.IsNone() && stack.parent.row() < row;
    stack.parent = known ? PythonStackId{new_rows[stack.parent.row()]} : PythonStackId();
    const auto [place, added] =
        rows.try_emplace({stack.frame, stack.parent}, PythonStackId::At(merged.size()));
    if (added) merged.Append(stack);
    new_rows.push_back(place->second.value);
  }
  if (merged.size() == new_rows.size()) return;
  // Not among the columns that RenumberIds() visits a second time: its parents are new already.
  store.python_stacks.Clear();
  RenumberIds<PythonStackId>(store, new_rows);
  store.python_stacks = std::move(merged);
}

}  // namespace batchlight
