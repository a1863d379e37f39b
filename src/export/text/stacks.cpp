// -t folded and -t speedscope: what the threads of the program were in, as stacks.
#include <string>
#include <unordered_map>

#include "analysis/steps/steps.h"
#include "export/call_walk.h"
#include "export/exporter.h"
#include "export/text/python_stacks.h"
#include "export/text/sampled_stacks.h"
#include "export/text/thread_label.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

// Bounds the file if a program never ends its ranges: no flame graph shows as many.
constexpr size_t kMostFrames = 500;

// "ProfilerStep#12" becomes the frame "ProfilerStep#", so that a flame graph sums up all steps.
class StepFrames {
 public:
  StepFrames(const Store& store, const StepOptions& options) : store_(store) {
    const StepSet steps = FindSteps(store, options);
    if (steps.Main() != nullptr && steps.Main()->source == StepSource::kNvtxRange) {
      marker_ = steps.Main()->marker;
    }
  }

  // One id for the ranges of all steps.
  StringId IdOf(StringId name) {
    if (marker_.empty() || name.IsNone()) return name;
    const auto [known, added] = ids_.try_emplace(name, name);
    if (!added || !IsStep(store_.Text(name))) return known->second;
    if (first_.IsNone()) first_ = name;
    return known->second = first_;
  }
  std::string_view TextOf(StringId id) const {
    return !id.IsNone() && id == first_ ? std::string_view(marker_) : store_.Text(id);
  }

 private:
  bool IsStep(std::string_view name) const {
    return name.starts_with(marker_) && name.size() > marker_.size() &&
           name.find_first_not_of(" 0123456789", marker_.size()) == std::string_view::npos;
  }

  const Store& store_;
  std::string marker_;
  StringId first_;
  std::unordered_map<StringId, StringId> ids_;
};

// Time in each distinct stack, without the time of the calls inside it.
class FoldedTree {
 public:
  uint32_t Child(uint32_t parent, StringId name) {
    const uint64_t key = uint64_t{parent} << 32 | name.value;
    const auto [place, added] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({parent, name, 0});
    return place->second;
  }
  void AddOwn(uint32_t node, int64_t ns) { nodes_[node].own_ns += ns; }
  void SubtractFromParent(uint32_t node, int64_t ns) { nodes_[nodes_[node].parent].own_ns -= ns; }

  Status Print(const StepFrames& frames, const std::string& thread, TextBuffer& out) const {
    const std::string outermost = FoldedFrame(thread);
    std::vector<uint32_t> path;
    for (uint32_t i = 1; i < nodes_.size(); ++i) {
      if (nodes_[i].own_ns <= 0) continue;
      path.clear();
      for (uint32_t node = i; node != 0; node = nodes_[node].parent) path.push_back(node);
      out << outermost;
      for (size_t at = path.size(); at-- > 0;) {
        out << ';' << FoldedFrame(frames.TextOf(nodes_[path[at]].name));
      }
      out << ' ' << nodes_[i].own_ns << '\n';
      RETURN_IF_ERROR(out.FlushIfLarge());
    }
    return Status();
  }

 private:
  struct Node {
    uint32_t parent;
    StringId name;
    int64_t own_ns;
  };
  std::vector<Node> nodes_ = {Node{0, StringId::None(), 0}};  // 0: the thread
  std::unordered_map<uint64_t, uint32_t> children_;
};

// Time of the work that each CUDA call launched, by row of the calls. Empty: none is known.
std::vector<int64_t> GpuTimeOfCalls(const Store& store) {
  std::vector<int64_t> time_ns(store.api_calls.size());
  bool any = false;
  const auto add = [&](const auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.api_call[row].IsNone() || table.end_ns[row] == kOpenEnd) continue;
      time_ns[table.api_call[row].row()] += table.end_ns[row] - table.start_ns[row];
      any = true;
    }
  };
  add(store.kernels);
  add(store.memcpys);
  add(store.memsets);
  add(store.graph_launches);
  return any ? time_ns : std::vector<int64_t>{};
}

}  // namespace

Result<uint64_t> ExportFolded(const Store& store, const ExportOptions& options) {
  if (options.stacks == ExportStacks::kPython) return ExportPythonFolded(store, options);
  if (IsNamed(options.stacks)) return ExportSampledFolded(store, options);
  std::vector<int64_t> gpu_ns;
  if (options.by_gpu) {
    gpu_ns = GpuTimeOfCalls(store);
    if (gpu_ns.empty()) return UsageError("no work on a GPU with the call that launched it");
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  StepFrames frames(store, options.steps);
  uint64_t events = 0;
  for (size_t thread = 0; thread < store.threads.size(); ++thread) {
    const std::vector<Call> calls = CallsOf(store, ThreadId::At(thread), options.selection);
    FoldedTree tree;
    std::vector<uint32_t> stack = {0};
    WalkCalls(
        calls,
        [&](const Call& call) {
          const bool deep = stack.size() > kMostFrames;
          stack.push_back(deep ? stack.back() : tree.Child(stack.back(), frames.IdOf(call.name)));
          if (options.by_gpu && call.source == CallSource::kApi) {
            tree.AddOwn(stack.back(), gpu_ns[call.row]);
          }
        },
        [&](const Call& call, int64_t end_ns) {
          // Time of a call that is too deep is that of the last frame, which has it already.
          if (!options.by_gpu && stack.back() != stack[stack.size() - 2]) {
            tree.AddOwn(stack.back(), end_ns - call.start_ns);
            tree.SubtractFromParent(stack.back(), end_ns - call.start_ns);
          }
          stack.pop_back();
        });
    RETURN_IF_ERROR(tree.Print(frames, ThreadLabel(store, thread), out));
    events += calls.size();
  }
  RETURN_IF_ERROR(out.Finish());
  return events;
}

namespace {

// Frames are numbered by name over all threads.
class SpeedscopeFrames {
 public:
  uint32_t Number(StringId name) {
    const size_t row = name.IsNone() ? 0 : name.row() + 1;
    if (row >= numbers_.size()) numbers_.resize(row + 1, kNone);
    if (numbers_[row] == kNone) {
      numbers_[row] = static_cast<uint32_t>(names_.size());
      names_.push_back(name);
    }
    return numbers_[row];
  }

  void Print(const Store& store, TextBuffer& out) const {
    out << "\"shared\":{\"frames\":[";
    for (size_t i = 0; i < names_.size(); ++i) {
      out << (i > 0 ? ",\n{\"name\":\"" : "\n{\"name\":\"");
      const std::string_view name = store.Text(names_[i]);
      out.Escaped(name.empty() ? "(no name)" : name);
      out << "\"}";
    }
    out << "\n]}";
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> numbers_;
  std::vector<StringId> names_;
};

void PrintProfile(const Store& store, size_t thread, const std::vector<Call>& calls,
                  int64_t shift_ns, SpeedscopeFrames& frames, TextBuffer& out) {
  int64_t end_ns = calls.front().start_ns;
  for (const Call& call : calls) end_ns = std::max(end_ns, call.end_ns);
  out << "{\"type\":\"evented\",\"name\":\"";
  out.Escaped(ThreadLabel(store, thread));
  out << "\",\"unit\":\"nanoseconds\",\"startValue\":" << calls.front().start_ns + shift_ns
      << ",\"endValue\":" << end_ns + shift_ns << ",\"events\":[";
  bool first = true;
  const auto event = [&](char type, const Call& call, int64_t at_ns) {
    out << (first ? "\n" : ",\n") << "{\"type\":\"" << type
        << "\",\"frame\":" << frames.Number(call.name) << ",\"at\":" << at_ns + shift_ns << '}';
    first = false;
  };
  WalkCalls(
      calls, [&](const Call& call) { event('O', call, call.start_ns); },
      [&](const Call& call, int64_t at_ns) { event('C', call, at_ns); });
  out << "\n]}";
}

}  // namespace

Result<uint64_t> ExportSpeedscope(const Store& store, const ExportOptions& options) {
  if (options.stacks == ExportStacks::kPython) return ExportPythonSpeedscope(store, options);
  if (IsNamed(options.stacks)) return ExportSampledSpeedscope(store, options);
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  SpeedscopeFrames frames;
  uint64_t events = 0;
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
         "\"exporter\":\"batchlight\",\n\"profiles\":[";
  for (size_t thread = 0; thread < store.threads.size(); ++thread) {
    const std::vector<Call> calls = CallsOf(store, ThreadId::At(thread), options.selection);
    if (calls.empty()) continue;
    out << (events > 0 ? ",\n" : "\n");
    PrintProfile(store, thread, calls, options.selection.shift_ns(), frames, out);
    events += calls.size();
    RETURN_IF_ERROR(out.FlushIfLarge());
  }
  out << "\n],\n";
  frames.Print(store, out);
  out << "}\n";
  RETURN_IF_ERROR(out.Finish());
  return events;
}

}  // namespace batchlight
