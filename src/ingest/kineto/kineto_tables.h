// Events of a Kineto trace into the tables of a store.
//
//   cpu_op                 operator_calls (sizes and types of inputs, sequence, forward thread)
//   user_annotation        phase_calls for Optimizer.step#, Optimizer.zero_grad#,
//                          enumerate(DataLoader)# and what our export gives a "Phase"; everything
//                          else (ProfilerStep#N, record_function) nvtx_ranges of the default
//                          domain, or of the "Domain" of our export
//   nvtx_range             nvtx_ranges of style start/end: 'b' and 'e' of one id, as we export them
//   python_function        module_calls for "nn.Module: ..."; others are left out and counted
//   [memory]               gpu_memory_events: memory of the CPU is of the kind "pageable"
//   cuda_runtime, _driver  api_calls
//   Trace                  capture_windows
//   kernel, gpu_memcpy, gpu_memset, cuda_sync, cuda_event, overhead: the tables of these names
//
// Left out because they follow from the rest: gpu_user_annotation, ac2g, fwdbwd. The array that the
// old autograd profiler writes has no categories: its events are operators ("CPU functions") and
// kernels ("CUDA functions").
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/kineto/kineto_collectives.h"
#include "ingest/kineto/kineto_event.h"
#include "store/distinct_launches.h"
#include "store/store.h"
#include "store/value_limits.h"

namespace batchlight {

class KinetoTables {
 public:
  explicit KinetoTables(Store& store);

  void AddEvent(const KinetoEvent& event);
  // A member of the root, value raw: deviceProperties, distributedInfo, baseTimeNanoseconds; other
  // short ones become properties "kineto.<key>".
  void AddFact(std::string_view key, std::string_view value);

  // After the last event: orders and links the tables and sets times relative to the first event.
  void Finish();

  uint64_t kept() const { return kept_; }
  uint64_t left_out() const { return left_out_; }  // they have no table
  // Impossible values found in events, and events left out: one sentence for each kind.
  std::vector<std::string> Notices() const;

 private:
  enum class Category : uint8_t;
  // Events with one fault: how many, and the place of the first.
  struct FaultyEvents {
    uint64_t count = 0;
    uint64_t first_place = 0;
    void Add(const KinetoEvent& event) {
      if (count++ == 0) first_place = event.place;
    }
  };
  // The device of the GPU event is its pid, the stream its tid.
  struct GpuPlace {
    uint32_t device;
    uint32_t context;
    uint32_t stream;
  };

  Category CategoryOf(const KinetoEvent& event) const;
  bool IsPossible(const KinetoEvent& event, Category category);
  void AddTo(Category category, const KinetoEvent& event);
  void AddMetadata(const KinetoEvent& event);
  void AddOperator(const KinetoEvent& event);
  void AddAnnotation(const KinetoEvent& event);
  void AddStartEnd(const KinetoEvent& event);
  void AddModule(const KinetoEvent& event);
  void AddApiCall(const KinetoEvent& event, EventClass event_class);
  void AddKernel(const KinetoEvent& event);
  void AddMemcpy(const KinetoEvent& event);
  void AddMemset(const KinetoEvent& event);
  void AddSync(const KinetoEvent& event);
  void AddCudaEvent(const KinetoEvent& event);
  void AddOverhead(const KinetoEvent& event);
  void AddMemory(const KinetoEvent& event);
  void AddDevices(std::string_view array);

  StringId Text(std::string_view raw);
  NvtxDomainId Domain(const KinetoEvent& event, ThreadId thread);
  ThreadId Thread(const KinetoEvent& event);
  GpuPlace Place(const KinetoEvent& event);
  template <typename Row>
  Row WorkRow(const KinetoEvent& event);
  KernelLaunchId Launch(const KinetoEvent& event);
  int64_t EndOf(const KinetoEvent& event) const;

  void NumberThreads();
  void NameModules();
  void SetZero();

  Store& store_;
  DistinctLaunches launches_;
  KinetoCollectives collectives_;
  int64_t base_ns_ = 0;
  uint64_t kept_ = 0;
  uint64_t left_out_ = 0;
  FaultyEvents wrong_times_;
  FaultyEvents no_times_;
  FaultyEvents no_durations_;
  FaultyEvents wrong_sizes_;
  std::vector<LimitedSum> durations_;  // by category
  std::vector<LimitedSum> bytes_;
  std::unordered_map<std::string_view, Category> categories_;
  std::unordered_map<std::string, ThreadId> threads_;  // by raw pid and tid
  std::string last_thread_key_;
  ThreadId last_thread_;
  std::map<uint32_t, ProcessId> processes_;  // by pid
  std::map<int64_t, StringId> process_names_;
  std::map<std::pair<int64_t, int64_t>, StringId> thread_names_;
  struct InputTexts {
    StringId shapes;
    StringId inputs;
  };
  std::unordered_map<std::string, InputTexts> inputs_;
  std::unordered_map<std::string, size_t> open_ranges_;       // rows of start/end ranges by id
  std::set<std::pair<uint32_t, uint32_t>> contexts_;          // (context, device)
  std::map<std::pair<uint32_t, uint32_t>, int32_t> streams_;  // (context, stream)
  std::map<std::pair<ProcessId, StringId>, NvtxDomainId> domains_;
  std::set<StringId> whole_paths_;  // of modules: complete without the paths of those around them
  int32_t rank_ = -1;
  std::string scratch_;
};

}  // namespace batchlight
