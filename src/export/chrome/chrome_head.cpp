// The head of a chrome trace: the GPUs, the place in a distributed job, and the names of everything
// that has a row.
#include <algorithm>
#include <set>

#include "export/chrome/chrome_trace.h"

namespace batchlight {
namespace {

std::string RankText(int32_t rank) { return std::to_string(std::max(rank, 0)); }

// Readers take the rank of a file from a line `"rank": N`, so there must be one. A file of several
// ranks has the lowest there, and all of them in `ranks`.
void WriteDistributedInfo(const ChromeTrace& trace, TextBuffer& out) {
  std::set<int32_t> ranks;
  const JobPlace* place = nullptr;
  std::string_view backend;
  for (size_t row = 0; row < trace.places.size(); ++row) {
    if (!trace.selection.HasProcess(ProcessId::At(row))) continue;
    const JobPlace& one = trace.places[row];
    if (backend.empty()) backend = one.backend;
    if (one.rank < 0) continue;
    ranks.insert(one.rank);
    if (one.rank > *ranks.begin()) continue;
    // Of the processes of a rank (workers have its number too), the one that says most.
    if (place == nullptr || place->rank > one.rank || place->backend.empty()) place = &one;
  }
  if (place != nullptr && !place->backend.empty()) backend = place->backend;
  out << "  \"distributedInfo\": {";
  if (!backend.empty()) {
    out << "\"backend\": \"";
    out.Escaped(backend);
    out << "\", ";
  }
  out << "\"rank\": " << RankText(place == nullptr ? 0 : place->rank);
  if (place != nullptr && place->world_size > 0) out << ", \"world_size\": " << place->world_size;
  if (ranks.size() > 1) {
    out << ", \"ranks\": [";
    bool first = true;
    for (const int32_t rank : ranks) {
      out << (first ? "" : ", ") << rank;
      first = false;
    }
    out << ']';
  }
  out << "},\n";
}

}  // namespace

void WriteChromeHead(ChromeTrace& trace) {
  ChromeFile& file = trace.file;
  TextBuffer& out = file.out();
  out << "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [";
  const GpusTable& gpus = trace.store.gpus;
  for (size_t row = 0; row < gpus.size(); ++row) {
    out << (row > 0 ? ",\n" : "\n") << "    {\"id\": " << gpus.device[row] << ", \"name\": \""
        << file.Escaped(gpus.name[row]) << "\", \"totalGlobalMem\": " << gpus.memory_bytes[row]
        << ", \"computeMajor\": " << gpus.compute_major[row]
        << ", \"computeMinor\": " << gpus.compute_minor[row]
        << ", \"maxThreadsPerMultiprocessor\": " << gpus.max_threads_per_sm[row]
        << ", \"regsPerMultiprocessor\": " << gpus.max_registers_per_sm[row]
        << ", \"regsPerBlock\": " << gpus.max_registers_per_block[row]
        << ", \"sharedMemPerMultiprocessor\": " << gpus.max_shared_bytes_per_sm[row]
        << ", \"sharedMemPerBlockOptin\": " << gpus.max_shared_bytes_per_block[row]
        << ", \"warpSize\": " << gpus.warp_threads[row] << ", \"numSms\": " << gpus.sm_count[row]
        << '}';
  }
  out << "\n  ],\n";
  WriteDistributedInfo(trace, out);
  out << "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": " << file.base_ns()
      << ",\n  \"traceEvents\": [";
}

void WriteChromeNames(ChromeTrace& trace) {
  ChromeFile& file = trace.file;
  const ProcessesTable& processes = trace.store.processes;
  for (size_t row = 0; row < processes.size(); ++row) {
    if (!trace.selection.HasProcess(ProcessId::At(row))) continue;
    const int64_t pid = processes.pid[row];
    const int32_t rank = trace.places[row].rank;
    file.Metadata("process_name", pid, 0, "name", file.Escaped(processes.name[row]));
    file.Metadata("process_labels", pid, 0, "labels",
                  rank < 0 ? "CPU" : "CPU, rank " + RankText(rank));
  }
  const ThreadsTable& threads = trace.store.threads;
  for (size_t row = 0; row < threads.size(); ++row) {
    if (!trace.selection.HasProcess(threads.process[row])) continue;
    const std::string tid = std::to_string(threads.tid[row]);
    const std::string& name = file.Escaped(threads.name[row]);
    file.Metadata("thread_name", trace.Pid(threads.process[row]), threads.tid[row], "name",
                  name.empty() ? "thread " + tid : "thread " + tid + " (" + name + ")");
  }
  for (const auto& [key, gpu] : trace.gpus.all()) {
    file.Metadata("process_name", gpu.pid, 0, "name", "python");
    file.Metadata("process_labels", gpu.pid, 0, "labels", gpu.label);
    for (const uint32_t stream : gpu.streams) {
      file.Metadata("thread_name", gpu.pid, stream, "name", "stream " + std::to_string(stream));
    }
  }
}

}  // namespace batchlight
