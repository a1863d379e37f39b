// Session, machine, GPUs, processes, threads and what went wrong in an nsys export. The environment
// of the program is not stored and so not exported.
#include <ctime>
#include <set>
#include <span>

#include "export/sqlite/nsys_rows.h"
#include "nsys/info_tables.h"
#include "nsys/schema_version.h"

namespace batchlight {
namespace {

std::string UtcText(int64_t utc_ns) {
  const std::time_t seconds = static_cast<std::time_t>(utc_ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return std::string(text, length);
}

Status WriteExportFacts(NsysWriter& writer) {
  const EventSelection& selection = writer.options.selection;
  const std::string major = std::to_string(nsys::kSchemaMajor);
  const std::string minor = std::to_string(nsys::kWrittenMinor);
  const std::string version = major + '.' + minor + ".0";
  const std::string now = UtcText(static_cast<int64_t>(std::time(nullptr)) * 1'000'000'000);
  const std::string shift = std::to_string(selection.shift_ns());
  const std::string tables = selection.tables_text();
  const std::string times = selection.times_text();
  const nsys::NamedValue facts[] = {{"EXPORT_PRODUCT_NAME", "batchlight"},
                                    {"EXPORT_SCHEMA_VERSION", version},
                                    {"EXPORT_SCHEMA_VERSION_MAJOR", major},
                                    {"EXPORT_SCHEMA_VERSION_MINOR", minor},
                                    {"EXPORT_SCHEMA_VERSION_MICRO", "0"},
                                    {"EXPORT_TIME_UTC", now},
                                    {"EXPORT_PARAM_LAZY", writer.options.lazy ? "true" : "false"},
                                    {"EXPORT_PARAM_TIME_SHIFT", shift},
                                    {"EXPORT_PARAM_TABLES_TO_EXPORT", tables},
                                    {"EXPORT_PARAM_TIMES_TO_EXPORT", times}};
  return WritePlainRows(writer, nsys::kExportFacts, std::span(facts));
}

Status WriteSession(NsysWriter& writer) {
  const Store& store = writer.store;
  const std::string utc = UtcText(store.session_start_utc_ns);
  const nsys::SessionStart start[] = {{store.session_start_utc_ns, utc}};
  RETURN_IF_ERROR(WritePlainRows(writer, nsys::kSessionStart, std::span(start)));
  const nsys::SessionLength length[] = {{store.duration_ns}};
  RETURN_IF_ERROR(WritePlainRows(writer, nsys::kAnalysisDetails, std::span(length)));
  RETURN_IF_ERROR(WriteExportFacts(writer));
  std::vector<nsys::NamedValue> facts;
  for (size_t row = 0; row < store.properties.size(); ++row) {
    facts.push_back(
        {store.Text(store.properties.key[row]), store.Text(store.properties.value[row])});
  }
  return WritePlainRows(writer, nsys::kCaptureFacts, facts);
}

uint64_t PidOf(const Store& store, ProcessId process) {
  return process.IsNone() ? 0 : store.processes.pid[process.row()];
}

Status WriteGpus(NsysWriter& writer) {
  const auto prepare = [](const GpusRow& gpu, nsys::GpuFacts& facts) {
    facts.id = gpu.device;
    facts.warps_per_sm = gpu.warp_threads == 0 ? 0 : gpu.max_threads_per_sm / gpu.warp_threads;
    return true;
  };
  const GpusTable& gpus = writer.store.gpus;
  return WriteRows<nsys::GpuFacts>(writer, nsys::kGpu, gpus, InOrder(gpus), prepare);
}

// Which process used which GPU, and its contexts and streams.
Status WriteCudaContexts(NsysWriter& writer) {
  const Store& store = writer.store;
  const GpuContextsTable& contexts = store.gpu_contexts;
  std::set<std::pair<uint32_t, uint64_t>> devices;  // (CUDA ordinal, pid)
  for (size_t row = 0; row < contexts.size(); ++row) {
    devices.emplace(contexts.device[row], PidOf(store, contexts.process[row]));
  }
  std::vector<nsys::CudaDevice> rows;
  for (const auto& [device, owner] : devices) {
    rows.push_back({device, device, static_cast<int64_t>(owner)});
  }
  RETURN_IF_ERROR(WritePlainRows(writer, nsys::kCudaDevice, rows));
  RETURN_IF_ERROR(
      WriteRows<nsys::ProcessPlace>(writer, nsys::kCudaContext, contexts, InOrder(contexts),
                                    [&](const GpuContextsRow& context, nsys::ProcessPlace& place) {
                                      place.pid = PidOf(store, context.process);
                                      return true;
                                    }));
  return WriteRows<nsys::StreamPlace>(writer, nsys::kCudaStream, store.gpu_streams,
                                      InOrder(store.gpu_streams),
                                      [&](const GpuStreamsRow& stream, nsys::StreamPlace& place) {
                                        place.pid = PidOf(store, stream.process);
                                        place.priority = static_cast<uint32_t>(stream.priority);
                                        return true;
                                      });
}

Status WriteProcesses(NsysWriter& writer) {
  const Store& store = writer.store;
  std::vector<nsys::ProcessName> processes;
  for (size_t row = 0; row < store.processes.size(); ++row) {
    processes.push_back({writer.GlobalPid(ProcessId::At(row)), store.processes.pid[row],
                         store.Text(store.processes.name[row])});
  }
  RETURN_IF_ERROR(WritePlainRows(writer, nsys::kProcesses, processes));
  std::vector<nsys::ThreadName> threads;
  for (size_t row = 0; row < store.threads.size(); ++row) {
    if (store.threads.name[row].IsNone()) continue;
    threads.push_back({writer.GlobalTid(ThreadId::At(row)), store.threads.name[row],
                       store.threads.priority[row]});
  }
  return WritePlainRows(writer, nsys::kThreadNames, threads);
}

Status WriteDiagnostics(NsysWriter& writer) {
  const ReasonsTable& reasons = writer.store.reasons;
  std::vector<nsys::Diagnostic> diagnostics;
  for (size_t row = 0; row < reasons.size(); ++row) {
    diagnostics.push_back({writer.Time(0), nsys::Severity::kWarning,
                           writer.store.Text(reasons.text[row]),
                           writer.GlobalPid(reasons.process[row])});
  }
  return WritePlainRows(writer, nsys::kDiagnostics, diagnostics);
}

}  // namespace

Status WriteInfoTables(NsysWriter& writer) {
  RETURN_IF_ERROR(WriteSession(writer));
  RETURN_IF_ERROR(WriteGpus(writer));
  RETURN_IF_ERROR(WriteCudaContexts(writer));
  RETURN_IF_ERROR(WriteProcesses(writer));
  return WriteDiagnostics(writer);
}

}  // namespace batchlight
