#include "analysis/lines/stack_lines.h"

#include "analysis/lines/source_place.h"

namespace batchlight {
namespace {

struct FrameFacts {
  SourceOwner owner;
  bool recomputes;
  bool optimizes;
};

std::vector<FrameFacts> FactsOfFrames(const Store& store) {
  std::vector<FrameFacts> facts;
  facts.reserve(store.python_frames.size());
  for (const StringId file : store.python_frames.file) {
    const std::string_view path = store.Text(file);
    facts.push_back({OwnerOfSource(path), IsCheckpointing(path), IsOptimizer(path)});
  }
  return facts;
}

}  // namespace

StackLines::StackLines(const Store& store) {
  const PythonStacksTable& stacks = store.python_stacks;
  const std::vector<FrameFacts> facts = FactsOfFrames(store);
  lines_.resize(stacks.size());
  for (size_t row = 0; row < stacks.size(); ++row) {
    const PythonStackId parent = stacks.parent[row];
    StackLine& line = lines_[row];
    if (!parent.IsNone() && parent.row() < row) line = lines_[parent.row()];  // callers come first
    const PythonFrameId frame = stacks.frame[row];
    if (frame.IsNone()) continue;
    const FrameFacts& fact = facts[frame.row()];
    line.recomputes |= fact.recomputes;
    line.optimizes |= fact.optimizes;
    if (line.frame.IsNone() || fact.owner >= facts[line.frame.row()].owner) line.frame = frame;
  }
}

std::string CallersText(const Store& store, PythonStackId stack, PythonFrameId line) {
  constexpr int kMostCallers = 8;
  const PythonFramesTable& frames = store.python_frames;
  std::string text;
  bool below_line = false;
  int callers = 0;
  for (; !stack.IsNone(); stack = store.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    if (!below_line) {
      below_line = frame == line;
      continue;
    }
    const std::string_view file = store.Text(frames.file[frame.row()]);
    if (OwnerOfSource(file) != SourceOwner::kUser) continue;
    if (++callers > kMostCallers) return text + " < ...";
    if (!text.empty()) text += " < ";
    text += std::string(ShortFile(file)) + ':' + std::to_string(frames.line[frame.row()]) + ' ' +
            std::string(store.Text(frames.function[frame.row()]));
  }
  return text;
}

}  // namespace batchlight
