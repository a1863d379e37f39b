#include "export/text/native_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/cpu/sample_sums.h"
#include "export/text/thread_label.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

Result<std::vector<SampledStack>> NativeStacksOf(const Store& store) {
  std::vector<SampledStack> stacks = SumSamplesByStack(store);
  std::erase_if(stacks, [](const SampledStack& stack) { return stack.stack.IsNone(); });
  if (stacks.empty()) {
    return InputError("no CPU samples were recorded: profile --sample=process-tree");
  }
  return stacks;
}

// Outermost first.
std::vector<NativeFrameId> FramesOf(const Store& store, NativeStackId stack) {
  std::vector<NativeFrameId> frames;
  for (; !stack.IsNone(); stack = store.native_stacks.parent[stack.row()]) {
    frames.push_back(store.native_stacks.frame[stack.row()]);
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

std::string LabelOf(const Store& store, ThreadId thread) {
  return thread.IsNone() ? "unknown thread" : ThreadLabel(store, thread.row());
}

// Frames of all threads are numbered by name.
class FrameNumbers {
 public:
  size_t Of(std::string name) {
    const auto [place, added] = numbers_.try_emplace(std::move(name), names_.size());
    if (added) names_.push_back(&place->first);
    return place->second;
  }
  void Print(TextBuffer& out) const {
    out << "\"shared\":{\"frames\":[";
    for (size_t i = 0; i < names_.size(); ++i) {
      out << (i > 0 ? ",\n{\"name\":\"" : "\n{\"name\":\"");
      out.Escaped(*names_[i]);
      out << "\"}";
    }
    out << "\n]}";
  }

 private:
  std::map<std::string, size_t> numbers_;
  std::vector<const std::string*> names_;
};

// Stacks [begin, end) are those of one thread.
void PrintThread(const Store& store, const std::vector<SampledStack>& stacks, size_t begin,
                 size_t end, FrameNumbers& numbers, TextBuffer& out) {
  int64_t all_ns = 0;
  for (size_t i = begin; i < end; ++i) all_ns += stacks[i].cpu_ns;
  out << "{\"type\":\"sampled\",\"name\":\"";
  out.Escaped(LabelOf(store, stacks[begin].thread));
  out << "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":" << all_ns
      << ",\n\"samples\":[";
  for (size_t i = begin; i < end; ++i) {
    out << (i > begin ? ",\n[" : "\n[");
    bool first = true;
    for (const NativeFrameId frame : FramesOf(store, stacks[i].stack)) {
      out << (first ? "" : ",") << numbers.Of(FrameName(store, frame));
      first = false;
    }
    out << ']';
  }
  out << "],\n\"weights\":[";
  for (size_t i = begin; i < end; ++i) out << (i > begin ? "," : "") << stacks[i].cpu_ns;
  out << "]}";
}

}  // namespace

Result<uint64_t> ExportNativeFolded(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<SampledStack> stacks, NativeStacksOf(store));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  for (const SampledStack& stack : stacks) {
    out << FoldedFrame(LabelOf(store, stack.thread));
    for (const NativeFrameId frame : FramesOf(store, stack.stack)) {
      out << ';' << FoldedFrame(FrameName(store, frame));
    }
    out << ' ' << stack.cpu_ns << '\n';
    RETURN_IF_ERROR(out.FlushIfLarge());
  }
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

Result<uint64_t> ExportNativeSpeedscope(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<SampledStack> stacks, NativeStacksOf(store));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  FrameNumbers numbers;
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
         "\"exporter\":\"batchlight\",\n\"profiles\":[\n";
  for (size_t begin = 0; begin < stacks.size();) {
    size_t end = begin;
    while (end < stacks.size() && stacks[end].thread == stacks[begin].thread) ++end;
    if (begin > 0) out << ",\n";
    PrintThread(store, stacks, begin, end, numbers, out);
    RETURN_IF_ERROR(out.FlushIfLarge());
    begin = end;
  }
  out << "\n],\n";
  numbers.Print(out);
  out << "}\n";
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

}  // namespace batchlight
