#include "analysis/lines/lines_inside.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lines/source_place.h"
#include "analysis/lines/stack_lines.h"

namespace batchlight {
namespace {

// The innermost frame of a package below the line; None: the line called by itself.
PythonFrameId InsideOf(const Store& store, PythonStackId stack, PythonFrameId line) {
  PythonFrameId innermost;
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame == line) break;
    if (frame.IsNone()) continue;
    if (innermost.IsNone()) innermost = frame;
    const std::string_view file = store.Text(store.python_frames.file[frame.row()]);
    if (OwnerOfSource(store, file) >= SourceOwner::kPackage) return frame;
  }
  return innermost;
}

using Place = std::pair<StringId, uint32_t>;  // file and line

Place PlaceOf(const Store& store, PythonFrameId frame) {
  return {store.python_frames.file[frame.row()], store.python_frames.line[frame.row()]};
}

}  // namespace

std::vector<LineInside> MeasureLinesInside(const Store& store,
                                           const std::vector<StackTimes>& stacks) {
  const StackLines lines(store);
  std::map<std::tuple<LineKind, Place, Place>, LineInside> rows;
  for (const StackTimes& times : stacks) {
    const PythonFrameId line = times.stack.IsNone() ? PythonFrameId() : lines.Of(times.stack).frame;
    if (line.IsNone()) continue;
    const PythonFrameId inside = InsideOf(store, times.stack, line);
    if (inside.IsNone()) continue;
    LineInside& row = rows[{times.kind, PlaceOf(store, line), PlaceOf(store, inside)}];
    row.kind = times.kind;
    row.line = line;
    row.inside = inside;
    if (!times.backward) row.calls += times.calls;
    row.cpu_ns += times.cpu_ns;
    (times.backward ? row.gpu_backward_ns : row.gpu_forward_ns) += times.gpu_ns;
  }
  using Time = std::pair<int64_t, int64_t>;  // GPU, CPU
  std::map<std::pair<LineKind, Place>, Time> of_lines;
  std::vector<LineInside> sorted;
  for (const auto& [key, row] : rows) {
    Time& time = of_lines[{row.kind, PlaceOf(store, row.line)}];
    time.first += row.gpu_ns();
    time.second += row.cpu_ns;
    sorted.push_back(row);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](const LineInside& a, const LineInside& b) {
    const auto order = [&](const LineInside& row) {
      const std::pair line{row.kind, PlaceOf(store, row.line)};
      return std::tuple(of_lines.at(line), line, Time(row.gpu_ns(), row.cpu_ns));
    };
    return order(a) > order(b);
  });
  return sorted;
}

}  // namespace batchlight
