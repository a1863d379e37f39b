// Builds a Store by hand for tests. Rows may be added in any order; Build() finishes the
// store as importers do.
//
//   StoreBuilder build;
//   const ThreadId main = build.Thread(build.Process(100, "train.py"));
//   build.Range(main, "forward", 10, 20);
//   const Store store = build.Build();
#pragma once

#include <string_view>

#include "store/store.h"

namespace batchlight::testing {

class StoreBuilder {
 public:
  ProcessId Process(uint32_t pid, std::string_view name, int32_t rank = -1);
  ThreadId Thread(ProcessId process);
  void Range(ThreadId thread, std::string_view message, int64_t start_ns, int64_t end_ns);
  void Module(ThreadId thread, std::string_view path, std::string_view class_name, int64_t start_ns,
              int64_t end_ns);
  void Phase(ThreadId thread, batchlight::Phase phase, std::string_view name, int64_t start_ns,
             int64_t end_ns);
  void Operator(ThreadId thread, std::string_view name, int64_t start_ns, int64_t end_ns,
                int64_t sequence = -1, uint32_t forward_thread = 0,
                OperatorScope scope = OperatorScope::kFunction, std::string_view shapes = {});
  // A runtime call and the kernel it launched.
  void Kernel(ThreadId thread, std::string_view name, int64_t call_ns, int64_t start_ns,
              int64_t end_ns, uint32_t stream = 7);
  // A runtime call and the copy it started.
  void Copy(ThreadId thread, CopyKind copy_kind, MemoryKind source_kind,
            MemoryKind destination_kind, uint64_t bytes, int64_t call_ns, int64_t start_ns,
            int64_t end_ns);
  // A runtime call that launches nothing.
  void ApiCall(ThreadId thread, std::string_view name, int64_t start_ns, int64_t end_ns);
  void Property(std::string_view key, std::string_view value,
                ProcessId process = ProcessId::None());
  Store& store() { return store_; }  // for what has no function here
  StringId Text(std::string_view text) { return store_.strings.Intern(text); }

  Store Build();

 private:
  Store store_;
  uint32_t next_correlation_ = 1;
};

}  // namespace batchlight::testing
