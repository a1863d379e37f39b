#include "export/text/python_frames.h"

#include "analysis/lines/source_place.h"

namespace batchlight {
namespace {

std::string PythonFrameName(const Store& store, PythonFrameId frame) {
  const PythonFramesRow row = store.python_frames.Row(frame.row());
  return std::string(store.Text(row.function)) + " (" +
         std::string(ShortFile(store.Text(row.file))) + ':' + std::to_string(row.line) + ')';
}

bool IsRecorders(const Store& store, PythonFrameId frame) {
  const std::string_view file = store.Text(store.python_frames.file[frame.row()]);
  return OwnerOfSource(store, file) == SourceOwner::kNobody;
}

}  // namespace

void AddPythonFrames(const Store& store, PythonStackId stack, std::vector<NamedFrame>& frames) {
  for (PythonStackId at = stack; !at.IsNone(); at = store.python_stacks.parent[at.row()]) {
    const PythonFrameId frame = store.python_stacks.frame[at.row()];
    if (frame.IsNone() || (at != stack && IsRecorders(store, frame))) continue;
    frames.push_back({PythonFrameName(store, frame), frame});
  }
}

}  // namespace batchlight
