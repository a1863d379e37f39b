#include "ingest/common/cut_stacks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace batchlight {
namespace {

// More of them, or a pause in between, and the thread may have been elsewhere.
constexpr size_t kMostCut = 3;

using Rows = std::vector<PythonStackId>;  // of a stack, outermost first

class CutStacks {
 public:
  explicit CutStacks(Store& store) : store_(store) {}

  void Join() {
    PythonSamplesTable& samples = store_.python_samples;
    size_t before = SIZE_MAX;  // the last sample within a function that lasts
    for (size_t row = 0; row < samples.size(); ++row) {
      if (row > 0 && !Continues(row)) before = SIZE_MAX;
      if (!Lasts(samples.python_stack[row])) continue;
      if (before != SIZE_MAX && row - before > 1 && row - before <= kMostCut + 1) {
        for (size_t cut = before + 1; cut < row; ++cut) {
          samples.python_stack[cut] = Joined(samples.python_stack[cut], before, row);
        }
      }
      before = row;
    }
  }

 private:
  bool Continues(size_t row) const {
    const PythonSamplesTable& samples = store_.python_samples;
    return samples.thread[row] == samples.thread[row - 1] &&
           samples.start_ns[row] <= samples.end_ns[row - 1];
  }

  PythonFrameId FrameOf(PythonStackId stack) const {
    return store_.python_stacks.frame[stack.row()];
  }

  Rows RowsOf(PythonStackId stack) const {
    Rows rows;
    for (; !stack.IsNone(); stack = store_.python_stacks.parent[stack.row()]) rows.push_back(stack);
    std::reverse(rows.begin(), rows.end());
    return rows;
  }

  bool Lasts(PythonStackId stack) {
    if (stack.IsNone()) return false;
    if (lasts_.size() <= stack.row()) lasts_.resize(store_.python_stacks.size(), -1);
    signed char& known = lasts_[stack.row()];
    if (known < 0) {
      const PythonStackId outermost = RowsOf(stack).front();
      const PythonFrameId frame = FrameOf(outermost);
      const std::string_view name =
          frame.IsNone() ? "" : store_.Text(store_.python_frames.function[frame.row()]);
      known = name == "<module>" || name == "_run_module_as_main" || name == "_bootstrap" ||
              name == "Thread._bootstrap";
    }
    return known != 0;
  }

  bool IsSameFunction(PythonStackId a, PythonStackId b) const {
    const PythonFrameId one = FrameOf(a), other = FrameOf(b);
    if (one.IsNone() || other.IsNone()) return false;
    const PythonFramesTable& frames = store_.python_frames;
    return frames.function[one.row()] == frames.function[other.row()] &&
           frames.file[one.row()] == frames.file[other.row()] &&
           frames.first_line[one.row()] == frames.first_line[other.row()];
  }

  // `cut` below what the samples before and after have in common, or what both have above its
  // outermost function.
  PythonStackId Joined(PythonStackId cut, size_t before, size_t after) {
    const Rows known = RowsOf(store_.python_samples.python_stack[before]);
    const Rows then = RowsOf(store_.python_samples.python_stack[after]);
    const Rows inner = RowsOf(cut);
    if (inner.empty()) return cut;
    size_t common = 0;
    while (common < std::min(known.size(), then.size()) &&
           IsSameFunction(known[common], then[common]) &&
           !IsSameFunction(known[common], inner.front())) {
      ++common;
    }
    if (common == 0) return cut;
    PythonStackId stack = known[common - 1];
    for (const PythonStackId row : inner) stack = RowFor(FrameOf(row), stack);
    return stack;
  }

  PythonStackId RowFor(PythonFrameId frame, PythonStackId parent) {
    PythonStacksTable& stacks = store_.python_stacks;
    if (rows_.empty()) {
      for (size_t row = 0; row < stacks.size(); ++row) {
        rows_.try_emplace({stacks.frame[row], stacks.parent[row]}, PythonStackId::At(row));
      }
    }
    const auto [place, added] =
        rows_.try_emplace({frame, parent}, PythonStackId::At(stacks.size()));
    if (added) stacks.Append({.frame = frame, .parent = parent});
    return place->second;
  }

  Store& store_;
  std::vector<signed char> lasts_;  // by row of python_stacks; -1: not known yet
  std::map<std::pair<PythonFrameId, PythonStackId>, PythonStackId> rows_;
};

}  // namespace

void JoinCutStacks(Store& store) { CutStacks(store).Join(); }

}  // namespace batchlight
