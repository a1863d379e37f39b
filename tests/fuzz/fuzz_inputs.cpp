#include "fuzz_inputs.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "format/layout.h"
#include "ingest/dump/trace_text.h"
#include "ingest/kineto/kineto_json.h"
#include "ingest/recording/recording.h"

namespace batchlight::fuzz {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Parents come before their children, on the same thread, and enclose their start.
template <typename Table>
void CheckNesting(const Table& table, const char* what) {
  for (size_t row = 0; row < table.size(); ++row) {
    Require(table.end_ns[row] >= table.start_ns[row], what);
    if (row > 0 && table.thread[row] == table.thread[row - 1]) {
      Require(table.start_ns[row] >= table.start_ns[row - 1], what);
    }
    if (table.parent[row].IsNone()) continue;
    const size_t parent = table.parent[row].row();
    Require(parent < row && table.thread[parent] == table.thread[row], what);
    Require(table.depth[row] > table.depth[parent] || table.depth[row] == UINT16_MAX, what);
  }
}

// Every id names a row.
void CheckIds(const Store& store) {
  store.VisitTables([&](const auto& table) {
    table.VisitColumns([&](std::string_view, std::string_view, const auto& column) {
      Require(column.size() == table.size(), "columns of one length");
      using T = std::decay_t<decltype(column[0])>;
      for (const T value : column) {
        if constexpr (std::is_same_v<T, StringId>) {
          Require(value.IsNone() || value.row() < store.strings.size(), "string ids");
        } else if constexpr (std::is_same_v<T, ThreadId>) {
          Require(value.IsNone() || value.row() < store.threads.size(), "thread ids");
        } else if constexpr (std::is_same_v<T, ProcessId>) {
          Require(value.IsNone() || value.row() < store.processes.size(), "process ids");
        } else if constexpr (std::is_same_v<T, NvtxDomainId>) {
          Require(value.IsNone() || value.row() < store.nvtx_domains.size(), "domain ids");
        } else if constexpr (std::is_same_v<T, NvtxAttributesId>) {
          Require(value.IsNone() || value.row() < store.nvtx_attributes.size(), "attribute ids");
        } else if constexpr (std::is_same_v<T, KernelLaunchId>) {
          Require(value.IsNone() || value.row() < store.kernel_launches.size(), "launch ids");
        } else if constexpr (std::is_same_v<T, MemcpyId>) {
          Require(value.IsNone() || value.row() < store.memcpys.size(), "copy ids");
        } else if constexpr (std::is_same_v<T, ApiCallId>) {
          Require(value.IsNone() || value.row() < store.api_calls.size(), "call ids");
        }
      }
    });
  });
  for (size_t row = 0; row < store.nvtx_attributes.size(); ++row) {
    Require(
        uint64_t{store.nvtx_attributes.blob_begin[row]} + store.nvtx_attributes.blob_count[row] <=
            store.nvtx_payload_blobs.size(),
        "payload blobs");
  }
}

}  // namespace

void CheckResult(const Result<Store>& store) {
  if (!store.ok()) {
    Require(store.status().exit_code() == 3, "errors of reading are input errors");
    return;
  }
  CheckIds(store.value());
  CheckNesting(store->nvtx_ranges, "ranges");
  CheckNesting(store->module_calls, "modules");
  CheckNesting(store->phase_calls, "phases");
  CheckNesting(store->operator_calls, "operators");
}

namespace {

// A file in memory with a path.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : fd_(memfd_create("fuzz", 0)) {
    Require(fd_ >= 0 && write(fd_, data, size) == static_cast<ssize_t>(size), "memory file");
  }
  ~MemoryFile() { close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace

void FuzzInput(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const MemoryFile file(data + 1, size - 1);
  const int reader = data[0] % 3;
  if (reader == 2) return CheckResult(ImportKinetoJson(file.path()));
  ChunkSet set;
  const Status loaded =
      reader == 0 ? LoadSealedFile(file.path(), set) : LoadProcessFile(file.path(), set);
  if (!loaded.ok()) return;
  SortChunks(set);
  const Status dumped = DumpChunks(set, {}, [](std::string_view) { return Status(); });
  Require(dumped.ok(), "dump");
  CheckResult(ReadChunks(std::move(set)));
}

}  // namespace batchlight::fuzz
