#include "analysis/testing/store_builder.h"

#include <algorithm>
#include <utility>

#include "store/finish.h"

namespace batchlight::testing {
namespace {

template <typename Table>
void Extend(int64_t& end, const Table& table) {
  for (const int64_t time : table.end_ns) {
    if (time != kOpenEnd) end = std::max(end, time);
  }
}

}  // namespace

ProcessId StoreBuilder::Process(uint32_t pid, std::string_view name, int32_t rank) {
  store_.processes.Append({.pid = pid,
                           .name = Text(name),
                           .executable = Text("/usr/bin/python3"),
                           .command_line = Text("python3 " + std::string(name)),
                           .end_ns = kOpenEnd,
                           .exit_code = 0,
                           .rank = rank});
  return ProcessId::At(store_.processes.size() - 1);
}

ThreadId StoreBuilder::Thread(ProcessId process) {
  const size_t row = store_.threads.size();
  store_.threads.Append({.process = process, .tid = static_cast<uint32_t>(1000 + row)});
  return ThreadId::At(row);
}

void StoreBuilder::Range(ThreadId thread, std::string_view message, int64_t start_ns,
                         int64_t end_ns) {
  store_.nvtx_ranges.Append({.start_ns = start_ns,
                             .end_ns = end_ns,
                             .thread = thread,
                             .end_thread = thread,
                             .message = Text(message)});
}

void StoreBuilder::Module(ThreadId thread, std::string_view path, std::string_view class_name,
                          int64_t start_ns, int64_t end_ns) {
  store_.module_calls.Append({.start_ns = start_ns,
                              .end_ns = end_ns,
                              .thread = thread,
                              .path = Text(path),
                              .class_name = Text(class_name)});
}

void StoreBuilder::Phase(ThreadId thread, batchlight::Phase phase, std::string_view name,
                         int64_t start_ns, int64_t end_ns) {
  store_.phase_calls.Append({.start_ns = start_ns,
                             .end_ns = end_ns,
                             .thread = thread,
                             .phase = phase,
                             .name = Text(name)});
}

void StoreBuilder::Operator(ThreadId thread, std::string_view name, int64_t start_ns,
                            int64_t end_ns, int64_t sequence, uint32_t forward_thread,
                            OperatorScope scope, std::string_view shapes) {
  store_.operator_calls.Append({.start_ns = start_ns,
                                .end_ns = end_ns,
                                .thread = thread,
                                .name = Text(name),
                                .shapes = shapes.empty() ? StringId::None() : Text(shapes),
                                .sequence = sequence,
                                .forward_thread = forward_thread,
                                .scope = scope});
}

void StoreBuilder::Kernel(ThreadId thread, std::string_view name, int64_t call_ns, int64_t start_ns,
                          int64_t end_ns, uint32_t stream) {
  const uint32_t correlation = next_correlation_++;
  store_.api_calls.Append({.start_ns = call_ns,
                           .end_ns = call_ns + 1,
                           .thread = thread,
                           .name = Text("cudaLaunchKernel_v7000"),
                           .correlation = correlation});
  store_.kernels.Append({.start_ns = start_ns,
                         .end_ns = end_ns,
                         .process = store_.ProcessOf(thread),
                         .correlation = correlation,
                         .stream = stream,
                         .demangled_name = Text(name),
                         .short_name = Text(name)});
}

void StoreBuilder::Copy(ThreadId thread, CopyKind copy_kind, MemoryKind source_kind,
                        MemoryKind destination_kind, uint64_t bytes, int64_t call_ns,
                        int64_t start_ns, int64_t end_ns) {
  ApiCall(thread, "cudaMemcpyAsync_v3020", call_ns, call_ns + 1);
  store_.memcpys.Append({.start_ns = start_ns,
                         .end_ns = end_ns,
                         .process = store_.ProcessOf(thread),
                         .correlation = next_correlation_ - 1,
                         .stream = 7,
                         .bytes = bytes,
                         .copy_kind = copy_kind,
                         .source_kind = source_kind,
                         .destination_kind = destination_kind});
}

void StoreBuilder::ApiCall(ThreadId thread, std::string_view name, int64_t start_ns,
                           int64_t end_ns) {
  store_.api_calls.Append({.start_ns = start_ns,
                           .end_ns = end_ns,
                           .thread = thread,
                           .name = Text(name),
                           .correlation = next_correlation_++});
}

void StoreBuilder::Property(std::string_view key, std::string_view value, ProcessId process) {
  store_.properties.Append({.process = process, .key = Text(key), .value = Text(value)});
}

Store StoreBuilder::Build() {
  int64_t end = 0;
  Extend(end, store_.nvtx_ranges);
  Extend(end, store_.module_calls);
  Extend(end, store_.phase_calls);
  Extend(end, store_.operator_calls);
  Extend(end, store_.kernels);
  store_.duration_ns = std::max(store_.duration_ns, end);
  FinishStore(store_);
  return std::move(store_);
}

}  // namespace batchlight::testing
