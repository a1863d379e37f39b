#include "cli/flags/trace_options.h"

#include <limits.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/flags/flag_number.h"
#include "cli/flags/profile_options.h"
#include "format/library_domains.h"

namespace batchlight::cli {
namespace {

struct TraceName {
  std::string_view name;
  uint32_t bits;  // 0 = not traced yet
};

// Tracing one of CUDA's libraries turns on CUDA too, as in Nsight Systems.
constexpr uint32_t kTraceLibrary = format::kTraceLibraries | format::kTraceCuda;

// The names that --trace takes: those of Nsight Systems, and python.
constexpr TraceName kTraceNames[] = {
    {"cuda", format::kTraceCuda},
    {"cuda-hw", format::kTraceCuda},
    {"cuda-sw", format::kTraceCuda},
    {"nvtx", format::kTraceNvtx},
    {"python", format::kTracePython},
    {"pytorch", format::kTracePython},
    {"nccl", format::kTraceNvtx},  // NCCL announces its operations by ranges of its own
    {"osrt", format::kTraceOs},
    {"cublas", kTraceLibrary},
    {"cublas-verbose", kTraceLibrary},
    {"cudnn", kTraceLibrary},
    {"cudnn-verbose", kTraceLibrary},
    {"cusolver", kTraceLibrary},
    {"cusolver-verbose", kTraceLibrary},
    {"cusparse", kTraceLibrary},
    {"cusparse-verbose", kTraceLibrary},
    {"none", 0},
    {"cudla", 0},
    {"cudla-verbose", 0},
    {"dx11", 0},
    {"dx12", 0},
    {"gds", 0},
    {"mpi", 0},
    {"nvvideo", 0},
    {"openacc", 0},
    {"opengl", 0},
    {"opengl-annotations", 0},
    {"openmp", 0},
    {"openxr", 0},
    {"oshmem", 0},
    {"python-gil", format::kTracePython},  // samples tell who has the GIL
    {"s3", 0},
    {"s3-verbose", 0},
    {"syscall", 0},
    {"tegra-accelerators", 0},
    {"ucx", 0},
    {"vulkan", 0},
    {"vulkan-annotations", 0},
    {"wddm", 0},
};

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// `word`: of --trace.
void AddLibrary(const std::string& word, std::string& libraries, capture::SessionOptions& session) {
  libraries += (libraries.empty() ? "" : ",") + word;
  for (const format::LibraryWord& known : format::kLibraryWords) {
    if (!word.starts_with(known.word)) continue;
    for (const format::LevelVariable& level : format::kLevelVariables) {
      if (level.library == known.library) session.levels.emplace_back(level.assignment);
    }
  }
}

Status ReadTrace(const ParsedFlags& flags, ProfileOptions& options) {
  std::string later;      // "openmp,mpi"
  std::string libraries;  // "cublas,cudnn-verbose"
  bool none = false;
  for (const std::string& item : flags.List(Flag::kTrace)) {
    const std::string wanted = Lower(item);  // documents spell cuDNN and cudnn
    const auto* found = std::find_if(std::begin(kTraceNames), std::end(kTraceNames),
                                     [&](const TraceName& name) { return name.name == wanted; });
    if (found == std::end(kTraceNames)) {
      std::vector<std::string_view> known;
      for (const TraceName& name : kTraceNames) known.push_back(name.name);
      const std::string nearest = Nearest(wanted, known);
      return UsageError("--trace: unknown name " + item +
                        (nearest.empty() ? "; see --help" : "; did you mean " + nearest + "?"));
    }
    none = none || wanted == "none";
    if (found->bits == 0 && wanted != "none") later += (later.empty() ? "" : ",") + item;
    options.session.trace |= found->bits;
    if (found->bits == kTraceLibrary) AddLibrary(wanted, libraries, options.session);
  }
  if (!libraries.empty()) options.session.extra += "libraries=" + libraries + "\n";
  if (later.find("cu") != std::string::npos) options.session.trace |= format::kTraceCuda;
  if (none && flags.List(Flag::kTrace).size() > 1) {
    return UsageError("--trace: none stands alone");
  }
  if (!later.empty()) options.without_effect.push_back("--trace=" + later);
  return {};
}

void ReadPyTorch(const ParsedFlags& flags, ProfileOptions& options) {
  const std::vector<std::string> traces = flags.List(Flag::kTrace);
  const bool all_off = traces == std::vector<std::string>{"none"};
  if (all_off && !flags.Given(Flag::kPyTorch)) return;
  uint32_t& trace = options.session.trace;
  for (const std::string& item : flags.List(Flag::kPyTorch)) {
    if (item.starts_with("functions-trace")) trace |= format::kTraceModules;
    if (item.starts_with("autograd")) trace |= format::kTraceOperators;
    if (item == "autograd-shapes-nvtx") trace |= format::kTraceShapes;
    // Sizes are those of the operators' inputs, so asking for them records operators.
    if (item == "functions-trace-shapes") trace |= format::kTraceOperators | format::kTraceShapes;
  }
}

void ReadPythonLines(const ParsedFlags& flags, ProfileOptions& options) {
  uint32_t& trace = options.session.trace;
  if (flags.Text(Flag::kPythonLines) == "gpu") {
    trace |= format::kTraceLines | format::kTraceOperators;  // lines are those that call operators
  }
  if (flags.Text(Flag::kPythonBacktrace) == "cuda") {
    trace |= format::kTraceCallStacks | format::kTraceCuda;
  }
}

// A line of ControlPage::extra, as inject/collect/operator_levels.cpp reads it.
Status ReadPyTorchDepth(const ParsedFlags& flags, ProfileOptions& options) {
  constexpr uint64_t kMostLevels = 1'000'000;
  ASSIGN_OR_RETURN(const uint64_t levels, NumberOf(flags, Flag::kPyTorchDepth, 0, kMostLevels));
  if (levels == 0) return {};
  if ((options.session.trace & format::kTraceOperators) == 0) {
    options.without_effect.push_back(Spelled(flags, Flag::kPyTorchDepth) +
                                     " without operators in --pytorch");
    return {};
  }
  options.session.extra += "operators.levels=" + std::to_string(levels) + "\n";
  options.session.facts.emplace_back("session.operator_levels", std::to_string(levels));
  return {};
}

// All of these need the bridge inside Python, and so do NVTX calls of a PyTorch without CUDA.
void AddBridge(ProfileOptions& options) {
  constexpr uint32_t kThroughPython = format::kTraceModules | format::kTraceOperators |
                                      format::kTraceCallStacks | format::kTraceNvtx;
  uint32_t& trace = options.session.trace;
  if ((trace & kThroughPython) != 0) trace |= format::kTracePython;
}

Status ReadDomains(const ParsedFlags& flags, capture::SessionOptions& options) {
  const bool include = flags.Given(Flag::kNvtxDomainInclude);
  const bool exclude = flags.Given(Flag::kNvtxDomainExclude);
  if (include && exclude) {
    return UsageError("--nvtx-domain-include and --nvtx-domain-exclude exclude each other");
  }
  options.domains = flags.List(include ? Flag::kNvtxDomainInclude : Flag::kNvtxDomainExclude);
  options.exclude_domains = exclude;
  return {};
}

Status ReadOsOptions(const ParsedFlags& flags, ProfileOptions& options) {
  capture::SessionOptions& session = options.session;
  constexpr unsigned long kMostNs = 1'000'000'000;
  const std::string text = flags.Text(Flag::kOsrtThreshold);
  if (std::strtoul(text.c_str(), nullptr, 10) > kMostNs || text.size() > 10) {
    return UsageError("--osrt-threshold: " + text + " ns are more than a second");
  }
  if ((session.trace & format::kTraceOs) == 0) {
    if (flags.Given(Flag::kOsrtThreshold) && text != "1000") {
      options.without_effect.push_back("--osrt-threshold=" + text + " without osrt in --trace");
    }
    return {};
  }
  session.extra += "osrt.threshold_ns=" + text + "\n";
  return {};
}

// Lines key=value of ControlPage::extra, as inject/cupti/options.h reads them.
std::string CudaOptions(const ParsedFlags& flags) {
  const auto on = [&](Flag flag) { return flags.Bool(flag) ? "1\n" : "0\n"; };
  std::string text;
  text += std::string("cuda.all_apis=") + on(Flag::kCudaTraceAllApis);
  text += std::string("cuda.memory_usage=") + on(Flag::kCudaMemoryUsage);
  text += std::string("cuda.event_trace=") + on(Flag::kCudaEventTrace);
  text += std::string("cuda.um_cpu_page_faults=") + on(Flag::kCudaUmCpuPageFaults);
  text += std::string("cuda.um_gpu_page_faults=") + on(Flag::kCudaUmGpuPageFaults);
  text += std::string("cuda.flush_on_profiler_stop=") + on(Flag::kFlushOnCudaProfilerStop);
  const bool nodes = flags.Text(Flag::kCudaGraphTrace).starts_with("node");
  text += std::string("cuda.graph_trace=") + (nodes ? "node\n" : "graph\n");
  text += "cuda.flush_interval_ms=" + flags.Text(Flag::kCudaFlushInterval) + "\n";
  if (flags.Given(Flag::kCudaRecord)) {
    text += "cuda.record=" + flags.Text(Flag::kCudaRecord) + "\n";
  }
  return text;
}

// Lines of ControlPage::extra, as the bridge in the program reads them.
Status ReadExactOptions(const ParsedFlags& flags, capture::SessionOptions& options) {
  const std::string trace = flags.Text(Flag::kPythonTrace);
  const bool calls = trace != "none";
  const std::string lines = flags.Text(Flag::kLines);
  if (!calls && lines.empty()) return {};
  for (const std::string& pattern : flags.List(Flag::kLines)) {
    if (pattern.empty() || pattern.starts_with(':') || pattern.ends_with(':')) {
      return UsageError("--lines: \"" + lines +
                        "\" is no list of MODULE:FUNCTION, such as train:main,models.*:*.forward");
    }
  }
  options.trace |= format::kTracePython;
  if (calls) options.extra += "python.trace=" + trace + "\n";
  if (calls) options.extra += "python.thin=" + flags.Text(Flag::kPythonThin) + "\n";
  if (!lines.empty()) options.extra += "python.lines=" + lines + "\n";
  return {};
}

void ReadPythonMemory(const ParsedFlags& flags, capture::SessionOptions& options) {
  const std::string memory = flags.Text(Flag::kPythonMemory);
  if (memory == "none") return;
  const std::string interval = memory == "exact" ? "0" : "131072";
  options.trace |= format::kTraceMemory | format::kTracePython;
  options.extra += "memory.interval=" + interval + "\n";
  options.facts.emplace_back("session.memory_sampling_bytes", interval);
  if (memory == "exact") options.levels.emplace_back("PYTHONMALLOC=malloc");
}

// The program would only find out when it runs.
Status CheckFunctionsFile(const std::string& path) {
  using nlohmann::json;
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  // Deeper than what is asked for: left out, as copies and their ends recurse.
  constexpr int kMostDepth = 8;
  const auto shallow = [](int depth, json::parse_event_t, json&) { return depth < kMostDepth; };
  const json file = json::parse(text, shallow, false);
  const json entries = file.is_object() ? json::array({file}) : file;
  const bool good = !file.is_discarded() && entries.is_array() &&
                    std::all_of(entries.begin(), entries.end(), [](const json& entry) {
                      return entry.is_object() && entry.contains("module") &&
                             entry["module"].is_string() && entry.contains("functions") &&
                             entry["functions"].is_array();
                    });
  if (good) return {};
  return UsageError("--python-functions-trace: " + path +
                    (file.is_discarded() ? " is not JSON" : " is not as expected") +
                    R"(: [{"module": "my.data", "functions": ["read", "Reader.next"]}, ...])");
}

Status ReadFunctionsTrace(const ParsedFlags& flags, capture::SessionOptions& options) {
  const std::string path = flags.Text(Flag::kPythonFunctionsTrace);
  if (path.empty()) return {};
  char absolute[PATH_MAX];  // the program may change its folder
  if (realpath(path.c_str(), absolute) == nullptr) {
    return InputError("--python-functions-trace: cannot read " + path);
  }
  RETURN_IF_ERROR(CheckFunctionsFile(path));
  options.functions_trace = absolute;
  options.trace |= format::kTracePython;
  return {};
}

void ReadDask(const ParsedFlags& flags, capture::SessionOptions& options) {
  if (flags.Text(Flag::kDask) == "none") return;
  options.trace |= format::kTracePython | format::kTraceNvtx;  // its functions become NVTX ranges
  options.extra += "dask.trace=functions\n";
}

}  // namespace

Status ReadTraceOptions(const ParsedFlags& flags, ProfileOptions& options) {
  RETURN_IF_ERROR(ReadTrace(flags, options));
  ReadPyTorch(flags, options);
  ReadPythonLines(flags, options);
  RETURN_IF_ERROR(ReadPyTorchDepth(flags, options));
  AddBridge(options);
  RETURN_IF_ERROR(ReadOsOptions(flags, options));
  RETURN_IF_ERROR(ReadFunctionsTrace(flags, options.session));
  RETURN_IF_ERROR(ReadExactOptions(flags, options.session));
  ReadPythonMemory(flags, options.session);
  ReadDask(flags, options.session);
  options.session.extra += CudaOptions(flags);
  return ReadDomains(flags, options.session);
}

std::vector<std::string_view> TraceNames() {
  std::vector<std::string_view> names;
  for (const TraceName& known : kTraceNames) {
    if (known.bits != 0 || known.name == "none") names.push_back(known.name);
  }
  return names;
}

}  // namespace batchlight::cli
