// Session, machine, GPUs, contexts and streams of an nsys export. nsys stores the program's
// environment; it is not imported.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/secrets.h"
#include "ingest/nsys/nsys_rows.h"
#include "nsys/info_tables.h"
#include "nsys/source_format.h"
#include "store/reason_features.h"

namespace batchlight::nsys {
namespace {

ProcessId FindProcess(const Store& store, const ProcessPlace& place) {
  const auto global = static_cast<uint64_t>(GlobalPid(place));
  for (size_t row = 0; row < store.processes.size(); ++row) {
    if (store.processes.native_global_id[row] == global) return ProcessId::At(row);
  }
  return ProcessId::None();
}

void AddProperty(Store& store, std::string_view key, std::string_view value) {
  store.properties.Append({.key = store.strings.Intern(key), .value = store.strings.Intern(value)});
}

Status LoadCommand(Load& load) {
  std::string command;
  std::map<int, std::string> arguments;
  constexpr std::string_view kArgument = "PROCESS_0:ARGUMENT_";
  RETURN_IF_ERROR(VisitRows<NamedValue>(load, kCaptureFacts, [&](const NamedValue& fact) {
    if (fact.name == "PROCESS_0:COMMAND") command = fact.value;
    if (fact.name.starts_with(kArgument)) {
      arguments[std::atoi(std::string(fact.name.substr(kArgument.size())).c_str())] = fact.value;
    }
  }));
  if (command.empty()) return Status();
  for (const auto& [number, argument] : arguments) command += ' ' + argument;
  AddProperty(*load.store, "session.command", format::WithoutSecrets(std::move(command), ' '));
  return Status();
}

// "NVTX" of "No NVTX events collected. Does the process use NVTX?" and of "Number of NVTX events
// collected: 26.", which nsys says of each process; "" of others.
std::string_view KindCounted(std::string_view text, std::string_view before) {
  const size_t end = text.find(" events collected");
  if (!text.starts_with(before) || end == std::string_view::npos) return "";
  return text.substr(before.size(), end - before.size());
}

Status LoadDiagnostics(Load& load) {
  Store& store = *load.store;
  const StringId feature = store.strings.Intern("nsys");
  const StringId footnote = store.strings.Intern(kUnreadFeature);
  std::set<std::string, std::less<>> collected;
  std::vector<std::string> warnings;
  RETURN_IF_ERROR(VisitRows<Diagnostic>(load, kDiagnostics, [&](const Diagnostic& diagnostic) {
    const std::string_view kind = KindCounted(diagnostic.text, "Number of ");
    if (!kind.empty()) collected.emplace(kind);
    if (diagnostic.severity == Severity::kWarning || diagnostic.severity == Severity::kError) {
      warnings.emplace_back(diagnostic.text);
    }
  }));
  for (const std::string& text : warnings) {
    // A launcher has none where the processes that it starts have them.
    const std::string_view kind = KindCounted(text, "No ");
    const bool elsewhere = !kind.empty() && collected.contains(kind);
    const std::string note = elsewhere ? "one process has no " + std::string(kind) +
                                             " events, others have: nsys says \"" + text + '"'
                                       : text;
    store.reasons.Append(
        {.feature = elsewhere ? footnote : feature, .text = store.strings.Intern(note)});
  }
  return Status();
}

Status LoadSession(Load& load) {
  Store& store = *load.store;
  bool first = true;
  RETURN_IF_ERROR(VisitRows<SessionStart>(load, kSessionStart, [&](const SessionStart& start) {
    if (first) store.session_start_utc_ns = PossibleTimeOr(start.utc_ns, 0);
    first = false;
  }));
  RETURN_IF_ERROR(
      VisitRows<SessionLength>(load, kAnalysisDetails, [&](const SessionLength& length) {
        store.duration_ns = std::max(store.duration_ns, PossibleTimeOr(length.duration_ns, 0));
      }));
  if (store.source_format == kOwnFormat) return Status();  // has its own properties and reasons

  bool lazy = true;
  bool some_tables = false;
  RETURN_IF_ERROR(VisitRows<NamedValue>(load, kExportFacts, [&](const NamedValue& fact) {
    if (fact.name == "EXPORT_PRODUCT_VERSION") AddProperty(store, "nsys.version", fact.value);
    if (fact.name == "EXPORT_SCHEMA_VERSION") AddProperty(store, "nsys.schema", fact.value);
    if (fact.name == "EXPORT_PARAM_LAZY") lazy = fact.value != "false";
    if (fact.name == "EXPORT_PARAM_TABLES_TO_EXPORT") some_tables = !fact.value.empty();
  }));
  if (!lazy && !some_tables) AddProperty(store, kHasAllTables, "yes");
  RETURN_IF_ERROR(LoadCommand(load));
  return LoadDiagnostics(load);
}

Status LoadGpus(Load& load) {
  Store& store = *load.store;
  std::unordered_map<int64_t, uint32_t> cuda_ids;  // of the first process that saw the GPU
  RETURN_IF_ERROR(VisitRows<CudaDevice>(load, kCudaDevice, [&](const CudaDevice& row) {
    cuda_ids.try_emplace(row.gpu, row.device);
  }));
  const auto append = [&](GpusRow& gpu, const GpuFacts& facts) {
    const auto cuda_id = cuda_ids.find(facts.id);
    gpu.device = cuda_id == cuda_ids.end() ? static_cast<uint32_t>(facts.id) : cuda_id->second;
    gpu.max_threads_per_sm = facts.warps_per_sm * gpu.warp_threads;
    store.gpus.Append(gpu);
  };
  return VisitRows<GpusRow, GpuFacts>(load, kGpu, append);
}

Status LoadContexts(Load& load) {
  Store& store = *load.store;
  RETURN_IF_ERROR((VisitRows<GpuContextsRow, ProcessPlace>(
      load, kCudaContext, [&](GpuContextsRow& context, const ProcessPlace& place) {
        context.process = FindProcess(store, place);
        store.gpu_contexts.Append(context);
      })));
  return VisitRows<GpuStreamsRow, StreamPlace>(
      load, kCudaStream, [&](GpuStreamsRow& stream, const StreamPlace& place) {
        stream.process = FindProcess(store, place);
        stream.priority = static_cast<int32_t>(place.priority);
        store.gpu_streams.Append(stream);
      });
}

}  // namespace

Status LoadTargetInfo(Load& load) {
  RETURN_IF_ERROR(LoadSession(load));
  RETURN_IF_ERROR(LoadGpus(load));
  return LoadContexts(load);
}

}  // namespace batchlight::nsys
