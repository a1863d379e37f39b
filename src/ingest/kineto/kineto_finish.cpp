// The last steps of the Kineto importer: facts of the file, order, links, names and time 0.
#include <algorithm>
#include <numeric>

#include "ingest/kineto/kineto_tables.h"
#include "store/finish.h"
#include "store/row_order.h"

namespace batchlight {
namespace {

constexpr size_t kMaxPropertyBytes = 4096;
// Times as microseconds since 1970 come from versions without baseTimeNanoseconds.
constexpr int64_t kYear2000Ns = 946684800000000000;

// The raw value of a member of a JSON object; "" if it is not there.
std::string_view Member(std::string_view object, std::string_view wanted) {
  JsonCursor cursor(object);
  if (!cursor.Expect('{')) return {};
  bool first = true;
  std::string_view key;
  std::string_view value;
  while (cursor.NextMember(first, &key) && cursor.Value(&value)) {
    if (key == wanted) return value;
  }
  return {};
}

uint64_t MemberNumber(std::string_view object, std::string_view key) {
  int64_t value = 0;
  return WholeNumber(Member(object, key), &value) && value > 0 ? static_cast<uint64_t>(value) : 0;
}

// Calls visit(start_ns column, end_ns column or null) for every table of events.
template <typename Visitor>
void VisitTimes(Store& store, Visitor&& visit) {
  store.VisitTables([&]<typename Table>(Table& table) {
    constexpr bool kIsEvents =
        !std::is_same_v<Table, ProcessesTable> && !std::is_same_v<Table, ThreadsTable>;
    if constexpr (kIsEvents && requires { table.start_ns; }) {
      std::vector<int64_t>* end_ns = nullptr;
      if constexpr (requires { table.end_ns; }) end_ns = &table.end_ns;
      visit(table.start_ns, end_ns);
    }
  });
}

}  // namespace

void KinetoTables::AddFact(std::string_view key, std::string_view value) {
  int64_t number = 0;
  if (key == "deviceProperties") return AddDevices(value);
  if (key == "baseTimeNanoseconds" && WholeNumber(value, &number)) {
    base_ns_ = number;
    return;
  }
  if (key == "distributedInfo" && WholeNumber(Member(value, "rank"), &number)) {
    rank_ = static_cast<int32_t>(number);
  }
  if (value.size() > kMaxPropertyBytes) return;
  store_.properties.Append({.key = store_.strings.Intern("kineto." + UnescapeJson(key)),
                            .value = Text(Unquoted(value))});
}

void KinetoTables::AddDevices(std::string_view array) {
  JsonCursor cursor(array);
  if (!cursor.Expect('[')) return;
  bool first = true;
  std::string_view device;
  while (cursor.NextElement(first) && cursor.Value(&device)) {
    const auto number = [&](std::string_view key) {
      return static_cast<uint32_t>(MemberNumber(device, key));
    };
    store_.gpus.Append({.device = number("id"),
                        .name = Text(Unquoted(Member(device, "name"))),
                        .compute_major = number("computeMajor"),
                        .compute_minor = number("computeMinor"),
                        .sm_count = number("numSms"),
                        .memory_bytes = MemberNumber(device, "totalGlobalMem"),
                        .max_threads_per_sm = number("maxThreadsPerMultiprocessor"),
                        .max_registers_per_sm = number("regsPerMultiprocessor"),
                        .max_shared_bytes_per_sm = number("sharedMemPerMultiprocessor"),
                        .max_registers_per_block = number("regsPerBlock"),
                        .max_shared_bytes_per_block = number("sharedMemPerBlockOptin"),
                        .warp_threads = number("warpSize")});
  }
}

// Time 0 is the first event.
void KinetoTables::SetZero() {
  int64_t zero_ns = INT64_MAX;
  VisitTimes(store_, [&](std::vector<int64_t>& start_ns, std::vector<int64_t>*) {
    for (const int64_t ns : start_ns) zero_ns = std::min(zero_ns, ns);
  });
  if (zero_ns == INT64_MAX) zero_ns = 0;
  int64_t last_ns = 0;
  const auto shift = [&](int64_t& ns) {
    if (ns == kOpenEnd) return;
    int64_t shifted = 0;
    ns = __builtin_sub_overflow(ns, zero_ns, &shifted) ? kOpenEnd - 1 : shifted;
    last_ns = std::max(last_ns, ns);
  };
  VisitTimes(store_, [&](std::vector<int64_t>& start_ns, std::vector<int64_t>* end_ns) {
    for (int64_t& ns : start_ns) shift(ns);
    if (end_ns != nullptr) {
      for (int64_t& ns : *end_ns) shift(ns);
    }
  });
  store_.duration_ns = last_ns;
  if (base_ns_ == 0 && zero_ns < kYear2000Ns) return;  // no clock that people know
  int64_t utc_ns = 0;
  if (!__builtin_add_overflow(base_ns_, zero_ns, &utc_ns)) store_.session_start_utc_ns = utc_ns;
}

// Threads in the order of their first event, with names and lifetimes.
void KinetoTables::NumberThreads() {
  ThreadsTable& threads = store_.threads;
  std::fill(threads.start_ns.begin(), threads.start_ns.end(), kOpenEnd);
  const auto extend = [&](const auto& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      const size_t thread = table.thread[row].row();
      threads.start_ns[thread] = std::min(threads.start_ns[thread], table.start_ns[row]);
      threads.end_ns[thread] = std::max(threads.end_ns[thread], table.end_ns[row]);
    }
  };
  extend(store_.operator_calls);
  extend(store_.module_calls);
  extend(store_.phase_calls);
  extend(store_.nvtx_ranges);
  extend(store_.api_calls);
  std::vector<uint32_t> order(threads.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(threads.process[a], threads.start_ns[a]) <
           std::pair(threads.process[b], threads.start_ns[b]);
  });
  ReorderRows(store_, threads, order);
  for (size_t row = 0; row < threads.size(); ++row) {
    ProcessesTable& processes = store_.processes;
    const size_t process = threads.process[row].row();
    const auto name = thread_names_.find({processes.pid[process], threads.tid[row]});
    if (name != thread_names_.end()) threads.name[row] = name->second;
  }
}

// "Linear_3" inside "Net_0" is "Net_0.Linear_3". Paths of modules that call each other without
// end would fill the memory: a long one begins anew.
void KinetoTables::NameModules() {
  ModuleCallsTable& calls = store_.module_calls;
  std::map<std::pair<StringId, StringId>, StringId> paths;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (calls.parent[row].IsNone() || whole_paths_.contains(calls.path[row])) continue;
    const StringId outer = calls.path[calls.parent[row].row()];
    const auto [place, added] = paths.try_emplace({outer, calls.path[row]});
    if (added) {
      constexpr size_t kLongestPathBytes = 2000;
      std::string path(store_.Text(outer));
      if (path.size() > kLongestPathBytes) path = "...";
      path.append(".").append(store_.Text(calls.path[row]));
      place->second = store_.strings.Intern(path);
    }
    calls.path[row] = place->second;
  }
}

void KinetoTables::Finish() {
  collectives_.Finish();
  SetZero();
  NumberThreads();
  // One trace is one process; its GPU events carry the device in place of the pid.
  const ProcessId process = store_.processes.size() > 0 ? ProcessId::At(0) : ProcessId::None();
  const auto own = [&](auto& table) {
    std::fill(table.process.begin(), table.process.end(), process);
  };
  own(store_.kernels);
  own(store_.memcpys);
  own(store_.memsets);
  own(store_.synchronizations);
  own(store_.cuda_events);
  own(store_.gpu_overheads);
  own(store_.gpu_memory_events);
  for (const auto& [context, device] : contexts_) {
    constexpr uint32_t kNotTold = 0;  // no stream has it: a trace does not say which is the default
    store_.gpu_contexts.Append({process, device, context, kNotTold});
  }
  for (const auto& [key, priority] : streams_) {
    store_.gpu_streams.Append(
        {.process = process, .context = key.first, .stream = key.second, .priority = priority});
  }
  for (size_t row = 0; row < store_.processes.size(); ++row) {
    const auto name = process_names_.find(store_.processes.pid[row]);
    if (name != process_names_.end()) store_.processes.name[row] = name->second;
    store_.processes.rank[row] = rank_;
  }
  FinishStore(store_);
  NameModules();
}

}  // namespace batchlight
