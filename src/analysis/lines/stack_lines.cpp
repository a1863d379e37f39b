#include "analysis/lines/stack_lines.h"

#include <algorithm>

#include "analysis/lines/source_place.h"

namespace batchlight {
namespace {

struct FrameFacts {
  SourceOwner owner;
  bool recomputes;
  bool optimizes;
  bool loads;
  bool imports;
  bool records;
  bool looks;  // within which all is the recorder's
};

// Of the recorder's _torch_unseen.py.
constexpr std::string_view kLooksAtProgram = "unseen";

std::vector<FrameFacts> FactsOfFrames(const Store& store) {
  std::vector<FrameFacts> facts;
  facts.reserve(store.python_frames.size());
  for (size_t row = 0; row < store.python_frames.size(); ++row) {
    const std::string_view path = store.Text(store.python_frames.file[row]);
    const bool records = IsRecorder(path);
    facts.push_back({OwnerOfSource(store, path), IsCheckpointing(path), IsOptimizer(path),
                     IsDataLoader(path), IsImporting(path), records,
                     records && store.Text(store.python_frames.function[row]) == kLooksAtProgram});
  }
  return facts;
}

}  // namespace

StackLines::StackLines(const Store& store) {
  const PythonStacksTable& stacks = store.python_stacks;
  const std::vector<FrameFacts> facts = FactsOfFrames(store);
  lines_.resize(stacks.size());
  std::vector<bool> looks(stacks.size());
  for (size_t row = 0; row < stacks.size(); ++row) {
    const PythonStackId parent = stacks.parent[row];
    StackLine& line = lines_[row];
    if (!parent.IsNone() && parent.row() < row) {  // callers come first
      line = lines_[parent.row()];
      looks[row] = looks[parent.row()];
    }
    const PythonFrameId frame = stacks.frame[row];
    if (frame.IsNone()) continue;
    const FrameFacts& fact = facts[frame.row()];
    line.recomputes |= fact.recomputes;
    line.optimizes |= fact.optimizes;
    const bool is_line = line.frame.IsNone() || fact.owner >= facts[line.frame.row()].owner;
    if (is_line) line.frame = frame;
    line.loads = !is_line && (line.loads || fact.loads);
    line.imports = !is_line && (line.imports || fact.imports);
    looks[row] = looks[row] || fact.looks;
    line.records = fact.records || looks[row];
  }
}

bool HasCallStacks(const Store& store) {
  if (store.python_stacks.size() == 0) return false;
  const auto& stacks = store.operator_calls.python_stack;
  return store.cuda_call_stacks.size() > 0 ||
         std::any_of(stacks.begin(), stacks.end(), [](PythonStackId id) { return !id.IsNone(); });
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
    if (OwnerOfSource(store, file) != SourceOwner::kUser) continue;
    if (++callers > kMostCallers) return text + " < ...";
    if (!text.empty()) text += " < ";
    text += std::string(ShortFile(file)) + ':' + std::to_string(frames.line[frame.row()]) + ' ' +
            std::string(store.Text(frames.function[frame.row()]));
  }
  return text;
}

}  // namespace batchlight
