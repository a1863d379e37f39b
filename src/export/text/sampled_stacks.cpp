#include "export/text/sampled_stacks.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/cpu/sample_sums.h"
#include "analysis/lines/source_place.h"
#include "export/text/thread_label.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

// The stack of a thread, outermost first.
struct NamedStack {
  ThreadId thread;
  std::vector<std::string> frames;
  int64_t ns = 0;
};
// By thread.
using NamedStacks = std::vector<NamedStack>;

NamedStacks SampledNativeStacks(const Store& store) {
  NamedStacks stacks;
  for (const SampledStack& sampled : SumSamplesByStack(store)) {
    if (sampled.stack.IsNone()) continue;
    NamedStack& stack = stacks.emplace_back(NamedStack{sampled.thread, {}, sampled.cpu_ns});
    for (NativeStackId at = sampled.stack; !at.IsNone();
         at = store.native_stacks.parent[at.row()]) {
      stack.frames.push_back(FrameName(store, store.native_stacks.frame[at.row()]));
    }
    std::reverse(stack.frames.begin(), stack.frames.end());
  }
  return stacks;
}

std::string PythonFrameName(const Store& store, PythonFrameId frame) {
  const PythonFramesRow row = store.python_frames.Row(frame.row());
  return std::string(store.Text(row.function)) + " (" +
         std::string(ShortFile(store.Text(row.file))) + ':' + std::to_string(row.line) + ')';
}

// Time without a processor is a frame of its own, so that it can be told from work.
NamedStacks SampledPythonStacks(const Store& store) {
  struct Time {
    int64_t cpu_ns = 0, waiting_ns = 0;
  };
  const PythonSamplesTable& samples = store.python_samples;
  std::map<std::pair<ThreadId, PythonStackId>, Time> times;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (samples.python_stack[row].IsNone()) continue;
    Time& time = times[{samples.thread[row], samples.python_stack[row]}];
    const int64_t wall_ns = samples.end_ns[row] - samples.start_ns[row];
    time.cpu_ns += std::min(samples.cpu_ns[row], wall_ns);
    time.waiting_ns += std::max<int64_t>(0, wall_ns - samples.cpu_ns[row]);
  }
  NamedStacks stacks;
  for (const auto& [key, time] : times) {
    NamedStack stack{key.first, {}, time.cpu_ns};
    for (PythonStackId at = key.second; !at.IsNone(); at = store.python_stacks.parent[at.row()]) {
      const PythonFrameId frame = store.python_stacks.frame[at.row()];
      if (!frame.IsNone()) stack.frames.push_back(PythonFrameName(store, frame));
    }
    std::reverse(stack.frames.begin(), stack.frames.end());
    if (stack.ns > 0) stacks.push_back(stack);
    if (time.waiting_ns == 0) continue;
    stack.frames.emplace_back("[waiting]");
    stack.ns = time.waiting_ns;
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

Result<NamedStacks> StacksOf(const Store& store, ExportStacks kind) {
  const bool is_native = kind == ExportStacks::kNative;
  NamedStacks stacks = is_native ? SampledNativeStacks(store) : SampledPythonStacks(store);
  if (!stacks.empty()) return stacks;
  return InputError(is_native ? "no CPU samples were recorded: profile --sample=process-tree"
                              : "Python code was not sampled: profile --python-sampling");
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
void PrintThread(const Store& store, const NamedStacks& stacks, size_t begin, size_t end,
                 FrameNumbers& numbers, TextBuffer& out) {
  int64_t all_ns = 0;
  for (size_t i = begin; i < end; ++i) all_ns += stacks[i].ns;
  out << "{\"type\":\"sampled\",\"name\":\"";
  out.Escaped(LabelOf(store, stacks[begin].thread));
  out << "\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":" << all_ns
      << ",\n\"samples\":[";
  for (size_t i = begin; i < end; ++i) {
    out << (i > begin ? ",\n[" : "\n[");
    bool first = true;
    for (const std::string& frame : stacks[i].frames) {
      out << (first ? "" : ",") << numbers.Of(frame);
      first = false;
    }
    out << ']';
  }
  out << "],\n\"weights\":[";
  for (size_t i = begin; i < end; ++i) out << (i > begin ? "," : "") << stacks[i].ns;
  out << "]}";
}

}  // namespace

Result<uint64_t> ExportSampledFolded(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const NamedStacks stacks, StacksOf(store, options.stacks));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  for (const NamedStack& stack : stacks) {
    out << FoldedFrame(LabelOf(store, stack.thread));
    for (const std::string& frame : stack.frames) {
      out << ';' << FoldedFrame(frame);
    }
    out << ' ' << stack.ns << '\n';
    RETURN_IF_ERROR(out.FlushIfLarge());
  }
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

Result<uint64_t> ExportSampledSpeedscope(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const NamedStacks stacks, StacksOf(store, options.stacks));
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
