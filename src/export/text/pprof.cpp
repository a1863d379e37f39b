// -t pprof: stacks of Python with calls, CPU and GPU time; with --stacks= those of samples, calls
// or memory.
#include <algorithm>
#include <array>
#include <vector>

#include "export/exporter.h"
#include "export/text/named_stacks.h"
#include "export/text/pprof_profile.h"
#include "export/text/python_stacks.h"
#include "export/text/thread_label.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

struct ValueType {
  std::string_view type;
  std::string_view unit;
};

// Of memory those of Go's heap profiles, which pprof and what shows its files know.
ValueType TypeOf(ExportStacks stacks) {
  switch (stacks) {
    case ExportStacks::kNative:
      return {"cpu", "nanoseconds"};
    case ExportStacks::kMemory:
      return {"inuse_space", "bytes"};
    case ExportStacks::kAllocations:
      return {"alloc_space", "bytes"};
    case ExportStacks::kGpuMemory:
      return {"gpu_inuse_space", "bytes"};
    case ExportStacks::kGpuAllocations:
      return {"gpu_alloc_space", "bytes"};
    default:
      return {"time", "nanoseconds"};
  }
}

Result<uint64_t> WriteProfile(PprofProfile& profile, std::string_view shown_first, uint64_t samples,
                              const ExportOptions& options) {
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  out << profile.Finish(shown_first);
  RETURN_IF_ERROR(out.Finish());
  return samples;
}

Result<uint64_t> ExportPprofOfNamed(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const NamedStacks stacks, StacksOf(store, options));
  PprofProfile profile(store);
  const ValueType type = TypeOf(options.stacks);
  profile.AddType(type.type, type.unit);
  std::vector<uint64_t> locations;
  for (const NamedStack& stack : stacks) {
    locations.clear();
    for (const NamedFrame& frame : stack.frames) {
      locations.push_back(frame.python.IsNone() ? profile.Location(frame.name)
                                                : profile.Location(frame.python));
    }
    std::reverse(locations.begin(), locations.end());
    const std::string thread = ThreadLabel(store, stack.thread);
    profile.AddSample(locations, std::array{stack.value},
                      std::array{PprofProfile::Label{"thread", thread}});
  }
  return WriteProfile(profile, type.type, stacks.size(), options);
}

Result<uint64_t> ExportPprofOfOperators(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<StackTimes> stacks, PythonStacksOf(store));
  PprofProfile profile(store);
  profile.AddType("calls", "count");
  profile.AddType("cpu", "nanoseconds");
  profile.AddType("gpu", "nanoseconds");
  std::vector<uint64_t> locations;
  std::vector<PprofProfile::Label> labels;
  bool has_gpu = false;
  for (const StackTimes& times : stacks) {
    locations.clear();
    labels.clear();
    for (const PythonFrameId frame : FramesOf(store, times.stack)) {
      locations.push_back(profile.Location(frame));
    }
    const std::string remark = Remark(times);
    if (!remark.empty()) labels.push_back({"part", remark});
    profile.AddSample(locations,
                      std::array{static_cast<int64_t>(times.calls), times.cpu_ns, times.gpu_ns},
                      labels);
    has_gpu = has_gpu || times.gpu_ns > 0;
  }
  return WriteProfile(profile, has_gpu ? "gpu" : "cpu", stacks.size(), options);
}

}  // namespace

Result<uint64_t> ExportPprof(const Store& store, const ExportOptions& options) {
  return IsNamed(options.stacks) ? ExportPprofOfNamed(store, options)
                                 : ExportPprofOfOperators(store, options);
}

}  // namespace batchlight
