#include "export/text/thread_label.h"

#include "base/json_text.h"

namespace batchlight {

std::string ThreadLabel(const Store& store, size_t thread) {
  const ProcessId process = store.threads.process[thread];
  std::string label;
  if (!process.IsNone()) {
    label = std::string(store.Text(store.processes.name[process.row()])) + " " +
            std::to_string(store.processes.pid[process.row()]);
  }
  label += " thread " + std::to_string(store.threads.tid[thread]);
  const std::string_view name = store.Text(store.threads.name[thread]);
  if (!name.empty()) label += " (" + std::string(name) + ")";
  return label;
}

std::string ThreadLabel(const Store& store, ThreadId thread) {
  return thread.IsNone() ? "unknown thread" : ThreadLabel(store, thread.row());
}

std::string FoldedFrame(std::string_view name) {
  std::string frame = ValidUtf8(name.empty() ? "(no name)" : name);
  for (char& c : frame) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return frame;
}

}  // namespace batchlight
