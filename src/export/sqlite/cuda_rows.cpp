// The CUDA tables of an nsys export. Rows are written by start, as nsys has them.
#include "export/sqlite/nsys_rows.h"
#include "nsys/cuda_tables.h"

namespace batchlight {
namespace {

Status WriteApiCalls(NsysWriter& writer) {
  const ApiCallsTable& calls = writer.store.api_calls;
  const auto stacks = StacksOfCudaCalls(writer.store);
  const auto prepare = [&](const ApiCallsRow&, nsys::CallChain& chain, size_t index) {
    const auto found = stacks.find(index);
    if (found != stacks.end()) chain.id = ChainOf(found->second);
    return true;
  };
  return WriteRows<nsys::CallChain>(writer, nsys::kRuntime, calls, ByStart(calls), prepare);
}

Status WriteKernels(NsysWriter& writer) {
  const KernelLaunchesTable& launches = writer.store.kernel_launches;
  const auto prepare = [&](KernelsRow& row, KernelLaunchesRow& launch) {
    if (row.demangled_name.IsNone()) row.demangled_name = row.short_name;
    if (row.short_name.IsNone()) row.short_name = row.demangled_name;
    if (row.launch.row() < launches.size()) launch = launches.Row(row.launch.row());
    return !row.demangled_name.IsNone();
  };
  const KernelsTable& kernels = writer.store.kernels;
  return WriteRows<KernelLaunchesRow>(writer, nsys::kKernel, kernels, InOrder(kernels), prepare);
}

Status WriteCopies(NsysWriter& writer) {
  const UmTransfersTable& unified = writer.store.um_transfers;
  size_t next = 0;  // um_transfers is ordered by copy
  const auto prepare = [&](const MemcpysRow&, std::optional<UmTransfersRow>& other, size_t index) {
    while (next < unified.size() && unified.memcpy_row[next].row() < index) ++next;
    if (next < unified.size() && unified.memcpy_row[next].row() == index) other = unified.Row(next);
    return true;
  };
  const MemcpysTable& copies = writer.store.memcpys;
  return WriteRows<std::optional<UmTransfersRow>>(writer, nsys::kMemcpy, copies, InOrder(copies),
                                                  prepare);
}

int64_t DeviceOf(const Store& store, ProcessId process, uint32_t context) {
  for (size_t row = 0; row < store.gpu_contexts.size(); ++row) {
    if (store.gpu_contexts.context[row] == context && store.gpu_contexts.process[row] == process) {
      return store.gpu_contexts.device[row];
    }
  }
  return 0;
}

Status WriteWaits(NsysWriter& writer) {
  const Store& store = writer.store;
  const auto prepare = [&](const auto& row, nsys::ContextDevice& context) {
    context.device = DeviceOf(store, row.process, row.context);
    return true;
  };
  RETURN_IF_ERROR(WriteRows<nsys::ContextDevice>(writer, nsys::kSynchronization,
                                                 store.synchronizations,
                                                 InOrder(store.synchronizations), prepare));
  return WriteRows<nsys::ContextDevice>(writer, nsys::kCudaEvent, store.cuda_events,
                                        InOrder(store.cuda_events), prepare);
}

Status WriteGraphs(NsysWriter& writer) {
  const Store& store = writer.store;
  RETURN_IF_ERROR(
      WriteRows(writer, nsys::kGraphTrace, store.graph_launches, InOrder(store.graph_launches)));
  const StringId empty = store.strings.Find("");
  const auto prepare = [&](const GraphNodesRow&, nsys::EmptyName& name) {
    name.id = empty.IsNone() ? 0 : writer.String(empty);
    return true;
  };
  return WriteRows<nsys::EmptyName>(writer, nsys::kGraphNode, store.graph_nodes,
                                    InOrder(store.graph_nodes), prepare);
}

}  // namespace

Status WriteCudaTables(NsysWriter& writer) {
  const Store& store = writer.store;
  RETURN_IF_ERROR(WriteApiCalls(writer));
  RETURN_IF_ERROR(WriteKernels(writer));
  RETURN_IF_ERROR(WriteCopies(writer));
  RETURN_IF_ERROR(WriteRows(writer, nsys::kMemset, store.memsets, InOrder(store.memsets)));
  RETURN_IF_ERROR(WriteWaits(writer));
  RETURN_IF_ERROR(WriteGraphs(writer));
  RETURN_IF_ERROR(WriteRows(writer, nsys::kGpuMemoryUsage, store.gpu_memory_events,
                            InOrder(store.gpu_memory_events)));
  return WriteRows(writer, nsys::kOverhead, store.gpu_overheads, ByStart(store.gpu_overheads));
}

}  // namespace batchlight
