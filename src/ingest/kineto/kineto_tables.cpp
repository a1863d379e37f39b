#include "ingest/kineto/kineto_tables.h"

#include <algorithm>

#include "base/demangled.h"
#include "ingest/common/kernel_name.h"
#include "ingest/kineto/kineto_inputs.h"

namespace batchlight {

enum class KinetoTables::Category : uint8_t {
  kOperator,
  kAnnotation,
  kPython,
  kRuntime,
  kDriver,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kEvent,
  kOverhead,
  kTrace,
  kStartEnd,
  kMemory,
  kDerived,  // follows from the rest
  kUnknown,
};

namespace {

constexpr uint32_t kNoEvent = UINT32_MAX;
constexpr std::string_view kStartEndCategory = "nvtx_range";
constexpr std::string_view kModulePrefix = "nn.Module: ";
constexpr std::string_view kMemoryName = "[memory]";

uint32_t Number(const KinetoEvent& event, KinetoArg arg, uint32_t otherwise = 0) {
  return static_cast<uint32_t>(event.IntArg(arg, otherwise));
}

uint32_t NumberOf(std::string_view raw, uint32_t otherwise) {
  int64_t value = 0;
  return WholeNumber(raw, &value) ? static_cast<uint32_t>(value) : otherwise;
}

// The leading whole numbers of "[1, 2, 3]".
std::array<uint32_t, 3> Three(std::string_view raw) {
  std::array<uint32_t, 3> numbers = {0, 0, 0};
  JsonCursor cursor(raw);
  if (!cursor.Expect('[')) return numbers;
  bool first = true;
  std::string_view value;
  for (uint32_t& number : numbers) {
    if (!cursor.NextElement(first) || !cursor.Value(&value)) break;
    number = NumberOf(value, 0);
  }
  return numbers;
}

// Of the word in "Memcpy HtoD (Pageable -> Device)".
CopyKind CopyKindOf(std::string_view name) {
  for (const KindRow& row : TableOf<CopyKind>().rows) {
    const auto kind = static_cast<CopyKind>(row.number);
    if (kind != CopyKind::kUnknown && name.find(row.short_name) != name.npos) return kind;
  }
  return CopyKind::kUnknown;
}

MemoryKind MemoryKindOf(std::string_view word) { return KindWithLabel(word, MemoryKind::kUnknown); }

// The text between `open` and `close`.
std::string_view Between(std::string_view text, std::string_view open, std::string_view close) {
  const size_t begin = text.find(open);
  if (begin == text.npos) return {};
  const size_t end = text.find(close, begin + open.size());
  if (end == text.npos) return {};
  return text.substr(begin + open.size(), end - begin - open.size());
}

OverheadType OverheadTypeOf(std::string_view name) {
  const bool flush = name.find("uffer") != name.npos && name.find("lush") != name.npos;
  if (flush) return OverheadType::kBufferFlush;
  if (name.find("nstrumentation") != name.npos) return OverheadType::kInstrumentation;
  if (name.find("esource") != name.npos) return OverheadType::kResource;
  if (name.find("azy") != name.npos) return OverheadType::kLazyLoading;
  if (name.find("ommand Buffer") != name.npos) return OverheadType::kCommandBufferFull;
  return OverheadType::kUnknown;
}

SyncType SyncTypeOf(std::string_view name) {
  if (name.find("Stream Wait") != name.npos) return SyncType::kStreamWaitsEvent;
  if (name.find("Event") != name.npos) return SyncType::kEvent;
  if (name.find("Stream") != name.npos) return SyncType::kStream;
  return name.find("Context") != name.npos ? SyncType::kContext : SyncType::kUnknown;
}

// PyTorch writes "thread 17 (pt_autograd_0)", and "thread 17" of a thread without a name.
std::string_view OwnNameOfThread(std::string_view name, std::string_view tid) {
  const std::string prefix = "thread " + std::string(tid);
  if (!name.starts_with(prefix)) return name;
  std::string_view rest = name.substr(prefix.size());
  if (rest.find_first_not_of(' ') == rest.npos) return {};
  if (!rest.starts_with(" (") || !rest.ends_with(')')) return name;
  return rest.substr(2, rest.size() - 3);
}

// `label`: what our export says it is, or "".
Phase PhaseOf(std::string_view annotation, std::string_view label) {
  const Phase phase = KindWithLabel(label, Phase::kNone);
  if (phase != Phase::kNone) return phase;
  if (annotation.starts_with("Optimizer.step#")) return Phase::kOptimizerStep;
  if (annotation.starts_with("Optimizer.zero_grad#")) return Phase::kZeroGrad;
  if (annotation.starts_with("enumerate(DataLoader)#")) return Phase::kDataLoaderNext;
  return Phase::kNone;
}

}  // namespace

KinetoTables::KinetoTables(Store& store)
    : store_(store),
      launches_(store.kernel_launches),
      collectives_(store),
      durations_(static_cast<size_t>(Category::kUnknown), SumOfDurations()),
      bytes_(static_cast<size_t>(Category::kUnknown), SumOfBytes()) {
  categories_ = {{"cpu_op", Category::kOperator},
                 {"Operator", Category::kOperator},
                 {"user_annotation", Category::kAnnotation},
                 {"python_function", Category::kPython},
                 {"cuda_runtime", Category::kRuntime},
                 {"Runtime", Category::kRuntime},
                 {"cuda_driver", Category::kDriver},
                 {"kernel", Category::kKernel},
                 {"Kernel", Category::kKernel},
                 {"gpu_memcpy", Category::kMemcpy},
                 {"Memcpy", Category::kMemcpy},
                 {"gpu_memset", Category::kMemset},
                 {"Memset", Category::kMemset},
                 {"cuda_sync", Category::kSync},
                 {"cuda_event", Category::kEvent},
                 {"overhead", Category::kOverhead},
                 {"Trace", Category::kTrace},
                 {"gpu_user_annotation", Category::kDerived}};
}

StringId KinetoTables::Text(std::string_view raw) {
  if (raw.find('\\') == raw.npos) return store_.strings.Intern(raw);
  return store_.strings.Intern(UnescapeJson(raw));
}

int64_t KinetoTables::EndOf(const KinetoEvent& event) const {
  return event.has_duration ? event.start_ns + event.duration_ns : event.start_ns;
}

KinetoTables::Category KinetoTables::CategoryOf(const KinetoEvent& event) const {
  if (event.category == kStartEndCategory) return Category::kStartEnd;
  if (event.phase == 'i' && event.name == kMemoryName) return Category::kMemory;
  if (event.phase != 'X') return Category::kDerived;
  if (event.category.empty()) {
    if (event.pid.starts_with("\"CUDA")) return Category::kKernel;
    return event.name.starts_with("ProfilerStep#") ? Category::kAnnotation : Category::kOperator;
  }
  const auto known = categories_.find(event.category);
  return known == categories_.end() ? Category::kUnknown : known->second;
}

// Counts what is wrong with it.
bool KinetoTables::IsPossible(const KinetoEvent& event, Category category) {
  if (event.has_wrong_time || !event.has_time) {
    (event.has_wrong_time ? wrong_times_ : no_times_).Add(event);
    return false;
  }
  const auto index = static_cast<size_t>(category);
  const bool lasts = event.has_duration;
  if (lasts && !(IsPossibleTime(EndOf(event)) && durations_[index].Add(event.duration_ns))) {
    wrong_times_.Add(event);
    return false;
  }
  if (category == Category::kMemcpy || category == Category::kMemset) {
    const std::string_view bytes = event.Arg(KinetoArg::kBytes);
    if (!bytes.empty() && !bytes_[index].Add(event.IntArg(KinetoArg::kBytes, -1))) {
      wrong_sizes_.Add(event);
      return false;
    }
  }
  if (category == Category::kMemory) {
    const int64_t bytes = event.IntArg(KinetoArg::kMemoryBytes, 0);
    if (bytes == INT64_MIN || !bytes_[index].Add(std::abs(bytes))) {
      wrong_sizes_.Add(event);
      return false;
    }
    return true;
  }
  if (!lasts && category != Category::kEvent && category != Category::kStartEnd) {
    no_durations_.Add(event);
  }
  return true;
}

void KinetoTables::AddEvent(const KinetoEvent& event) {
  if (event.phase == 'M') return AddMetadata(event);
  const Category category = CategoryOf(event);
  if (category == Category::kDerived) return;
  if (category == Category::kUnknown) {
    ++left_out_;
    return;
  }
  if (!IsPossible(event, category)) return;
  ++kept_;
  AddTo(category, event);
}

void KinetoTables::AddTo(Category category, const KinetoEvent& event) {
  switch (category) {
    case Category::kStartEnd:
      return AddStartEnd(event);
    case Category::kOperator:
      return AddOperator(event);
    case Category::kAnnotation:
      return AddAnnotation(event);
    case Category::kPython:
      return AddModule(event);
    case Category::kRuntime:
      return AddApiCall(event, EventClass::kCudaRuntime);
    case Category::kDriver:
      return AddApiCall(event, EventClass::kCudaDriver);
    case Category::kKernel:
      return AddKernel(event);
    case Category::kMemcpy:
      return AddMemcpy(event);
    case Category::kMemset:
      return AddMemset(event);
    case Category::kSync:
      return AddSync(event);
    case Category::kEvent:
      return AddCudaEvent(event);
    case Category::kOverhead:
      return AddOverhead(event);
    case Category::kMemory:
      return AddMemory(event);
    case Category::kTrace:
      store_.capture_windows.Append(
          {static_cast<uint32_t>(store_.capture_windows.size()), event.start_ns, EndOf(event)});
      return;
    case Category::kDerived:
    case Category::kUnknown:
      return;
  }
}

void KinetoTables::AddCudaEvent(const KinetoEvent& event) {
  const GpuPlace place = Place(event);
  store_.cuda_events.Append({.start_ns = event.start_ns,
                             .correlation = Number(event, KinetoArg::kCorrelation),
                             .context = place.context,
                             .stream = place.stream,
                             .event = Number(event, KinetoArg::kEventId, kNoEvent)});
}

std::vector<std::string> KinetoTables::Notices() const {
  std::vector<std::string> notices;
  const auto say = [&](const FaultyEvents& events, std::string_view what) {
    if (events.count == 0) return;
    notices.push_back(std::to_string(events.count) + " event(s) " + std::string(what) +
                      " (first: at byte " + std::to_string(events.first_place) + ")");
  };
  say(wrong_times_,
      "have a ts or dur that is not a number, negative or out of range and are left out");
  say(no_times_, "have no ts and are left out");
  say(no_durations_, "have no dur: it is taken as 0");
  say(wrong_sizes_, "have a number of bytes that cannot be and are left out");
  return notices;
}

void KinetoTables::AddMetadata(const KinetoEvent& event) {
  int64_t pid = 0;
  int64_t tid = 0;
  if (!WholeNumber(event.pid, &pid)) return;
  const std::string_view name = event.Arg(KinetoArg::kName);
  if (event.name == "process_name") process_names_[pid] = Text(name);
  if (event.name == "thread_name" && WholeNumber(event.tid, &tid)) {
    thread_names_[{pid, tid}] = Text(OwnNameOfThread(name, event.tid));
  }
}

// Most events come from the thread of the one before.
ThreadId KinetoTables::Thread(const KinetoEvent& event) {
  scratch_.assign(event.pid);
  scratch_ += ' ';
  scratch_ += event.tid;
  if (scratch_ == last_thread_key_) return last_thread_;
  const auto [place, added] = threads_.try_emplace(scratch_, ThreadId::At(store_.threads.size()));
  if (added) {
    const uint32_t pid = NumberOf(event.pid, 0);
    const auto [process, new_process] =
        processes_.try_emplace(pid, ProcessId::At(store_.processes.size()));
    if (new_process) {
      store_.processes.Append(
          {.pid = pid, .end_ns = kOpenEnd, .exit_code = -1, .exit_signal = -1, .rank = -1});
    }
    store_.threads.Append({.process = process->second, .tid = NumberOf(event.tid, 0)});
  }
  last_thread_key_ = scratch_;
  return last_thread_ = place->second;
}

void KinetoTables::AddOperator(const KinetoEvent& event) {
  std::string_view dims = event.Arg(KinetoArg::kInputDims);
  if (dims.empty()) dims = event.Arg(KinetoArg::kInputDimsLower);
  InputTexts texts;
  if (!dims.empty()) {
    const std::string_view types = event.Arg(KinetoArg::kInputType);
    const std::string_view concrete = event.Arg(KinetoArg::kConcreteInputs);
    std::string key(dims);
    key.append(types).append(concrete);
    const auto [place, added] = inputs_.try_emplace(std::move(key));
    if (added) {
      place->second.shapes = store_.strings.Intern(ShapesFromDims(dims));
      if (!types.empty()) {
        place->second.inputs = store_.strings.Intern(InputsFromKineto(dims, types, concrete));
      }
    }
    texts = place->second;
  }
  const uint32_t forward_thread = Number(event, KinetoArg::kForwardThread);
  const ThreadId thread = Thread(event);
  collectives_.SeeOperator(event, thread);
  store_.operator_calls.Append(
      {.start_ns = event.start_ns,
       .end_ns = EndOf(event),
       .thread = thread,
       .name = Text(event.name),
       .shapes = texts.shapes,
       .sequence = event.IntArg(KinetoArg::kSequence, -1),
       .forward_thread = forward_thread,
       .scope = forward_thread != 0 ? OperatorScope::kBackward : OperatorScope::kFunction,
       .inputs = texts.inputs});
}

// That our export names.
NvtxDomainId KinetoTables::Domain(const KinetoEvent& event, ThreadId thread) {
  const std::string_view raw = event.Arg(KinetoArg::kDomain);
  if (raw.empty()) return NvtxDomainId::None();
  const ProcessId process = store_.ProcessOf(thread);
  const StringId name = Text(raw);
  const size_t rows = store_.nvtx_domains.size();
  const auto [place, added] = domains_.try_emplace({process, name}, NvtxDomainId::At(rows));
  if (added) {
    store_.nvtx_domains.Append({.process = process,
                                .name = name,
                                .native_id = static_cast<uint32_t>(rows + 1),
                                .created_ns = INT64_MIN});
  }
  return place->second;
}

void KinetoTables::AddAnnotation(const KinetoEvent& event) {
  const Phase phase = PhaseOf(event.name, event.Arg(KinetoArg::kPhase));
  if (phase != Phase::kNone) {
    store_.phase_calls.Append({.start_ns = event.start_ns,
                               .end_ns = EndOf(event),
                               .thread = Thread(event),
                               .phase = phase,
                               .name = Text(event.name)});
    return;
  }
  const ThreadId thread = Thread(event);
  store_.nvtx_ranges.Append({.start_ns = event.start_ns,
                             .end_ns = EndOf(event),
                             .thread = thread,
                             .end_thread = thread,
                             .domain = Domain(event, thread),
                             .message = Text(event.name),
                             .attributes = collectives_.AttributesOf(event),
                             .style = NvtxStyle::kPushPop});
}

void KinetoTables::AddStartEnd(const KinetoEvent& event) {
  NvtxRangesTable& ranges = store_.nvtx_ranges;
  const std::string id(event.id);
  if (event.phase == 'b') {
    open_ranges_[id] = ranges.size();
    const ThreadId thread = Thread(event);
    ranges.Append({.start_ns = event.start_ns,
                   .end_ns = kOpenEnd,
                   .thread = thread,
                   .end_thread = thread,
                   .domain = Domain(event, thread),
                   .message = Text(event.name),
                   .style = NvtxStyle::kStartEnd});
    return;
  }
  const auto open = open_ranges_.find(id);
  if (event.phase != 'e' || open == open_ranges_.end()) return;
  const int64_t start_ns = ranges.start_ns[open->second];
  const int64_t end_ns = std::max(start_ns, event.start_ns);
  // Implausibly long, so it is treated as still open.
  if (!durations_[static_cast<size_t>(Category::kStartEnd)].Add(end_ns - start_ns)) return;
  ranges.end_ns[open->second] = end_ns;
  ranges.end_thread[open->second] = Thread(event);
  open_ranges_.erase(open);
}

void KinetoTables::AddModule(const KinetoEvent& event) {
  if (!event.name.starts_with(kModulePrefix)) {
    --kept_;
    ++left_out_;
    return;
  }
  // "Linear_3": the class and a number that tells its instances apart. The path is completed once
  // the enclosing modules are known.
  const std::string_view instance = event.name.substr(kModulePrefix.size());
  const std::string_view class_name = event.Arg(KinetoArg::kModuleClass);
  if (!class_name.empty()) {  // our export: the path itself
    const StringId path = Text(instance);
    whole_paths_.insert(path);
    store_.module_calls.Append({.start_ns = event.start_ns,
                                .end_ns = EndOf(event),
                                .thread = Thread(event),
                                .path = path,
                                .class_name = Text(class_name)});
    return;
  }
  const size_t number = instance.rfind('_');
  store_.module_calls.Append({.start_ns = event.start_ns,
                              .end_ns = EndOf(event),
                              .thread = Thread(event),
                              .path = Text(instance),
                              .class_name = Text(instance.substr(0, number))});
}

void KinetoTables::AddApiCall(const KinetoEvent& event, EventClass event_class) {
  store_.api_calls.Append({.start_ns = event.start_ns,
                           .end_ns = EndOf(event),
                           .thread = Thread(event),
                           .name = Text(event.name),
                           .correlation = Number(event, KinetoArg::kCorrelation),
                           .event_class = event_class});
}

KinetoTables::GpuPlace KinetoTables::Place(const KinetoEvent& event) {
  const uint32_t device = Number(event, KinetoArg::kDevice, NumberOf(event.pid, 0));
  const uint32_t context = Number(event, KinetoArg::kContext);
  const uint32_t stream = Number(event, KinetoArg::kStream, NumberOf(event.tid, 0));
  contexts_.emplace(context, device);
  streams_.try_emplace({context, stream}, 0);
  return {device, context, stream};
}

KernelLaunchId KinetoTables::Launch(const KinetoEvent& event) {
  const auto grid = Three(event.Arg(KinetoArg::kGrid));
  const auto block = Three(event.Arg(KinetoArg::kBlock));
  const uint32_t registers = Number(event, KinetoArg::kRegisters);
  // Kineto gives static and dynamic shared memory as one number.
  const uint32_t shared_bytes = Number(event, KinetoArg::kSharedMemory);
  return launches_.RowOf({.grid_x = grid[0],
                          .grid_y = grid[1],
                          .grid_z = grid[2],
                          .block_x = block[0],
                          .block_y = block[1],
                          .block_z = block[2],
                          .registers_per_thread = registers,
                          .dynamic_shared_bytes = shared_bytes});
}

// When and where it ran: the columns that all work on a GPU has.
template <typename Row>
Row KinetoTables::WorkRow(const KinetoEvent& event) {
  const GpuPlace place = Place(event);
  return {.start_ns = event.start_ns,
          .end_ns = EndOf(event),
          .correlation = Number(event, KinetoArg::kCorrelation),
          .device = place.device,
          .context = place.context,
          .stream = place.stream};
}

void KinetoTables::AddKernel(const KinetoEvent& event) {
  auto row = WorkRow<KernelsRow>(event);
  // PyTorch leaves names mangled that are too long for it.
  const bool mangled = event.name.starts_with("_Z");
  row.demangled_name =
      mangled ? store_.strings.Intern(DemangledName(event.name)) : Text(event.name);
  row.short_name =
      store_.strings.Intern(std::string(ShortKernelName(store_.Text(row.demangled_name))));
  row.mangled_name = mangled ? Text(event.name) : StringId::None();
  row.launch = Launch(event);
  row.graph_node = static_cast<uint64_t>(event.IntArg(KinetoArg::kGraphNode, 0));
  store_.kernels.Append(row);
}

void KinetoTables::AddMemcpy(const KinetoEvent& event) {
  auto row = WorkRow<MemcpysRow>(event);
  row.bytes = static_cast<uint64_t>(event.IntArg(KinetoArg::kBytes, 0));
  row.copy_kind = CopyKindOf(event.name);
  row.source_kind = MemoryKindOf(Between(event.name, "(", " ->"));
  row.destination_kind = MemoryKindOf(Between(event.name, "-> ", ")"));
  row.source_device = Number(event, KinetoArg::kFromDevice, row.device);
  row.destination_device = Number(event, KinetoArg::kToDevice, row.device);
  store_.memcpys.Append(row);
}

void KinetoTables::AddMemset(const KinetoEvent& event) {
  auto row = WorkRow<MemsetsRow>(event);
  row.bytes = static_cast<uint64_t>(event.IntArg(KinetoArg::kBytes, 0));
  row.memory_kind = MemoryKindOf(Between(event.name, "(", ")"));
  store_.memsets.Append(row);
}

void KinetoTables::AddSync(const KinetoEvent& event) {
  const int64_t waits_on = event.IntArg(KinetoArg::kWaitOnStream, -1);
  const int64_t stream = event.IntArg(KinetoArg::kStream, waits_on);
  store_.synchronizations.Append({.start_ns = event.start_ns,
                                  .end_ns = EndOf(event),
                                  .correlation = Number(event, KinetoArg::kCorrelation),
                                  .context = Number(event, KinetoArg::kContext),
                                  .stream = static_cast<uint32_t>(stream),
                                  .sync_type = SyncTypeOf(event.name),
                                  .event = Number(event, KinetoArg::kWaitOnEvent, kNoEvent)});
}

void KinetoTables::AddMemory(const KinetoEvent& event) {
  const int64_t bytes = event.IntArg(KinetoArg::kMemoryBytes, 0);
  if (bytes == 0) return;
  const bool on_cpu = event.IntArg(KinetoArg::kDeviceType, 0) == 0;
  store_.gpu_memory_events.Append(
      {.start_ns = event.start_ns,
       .device = on_cpu ? 0 : Number(event, KinetoArg::kDeviceId),
       .address = static_cast<uint64_t>(event.IntArg(KinetoArg::kAddress, 0)),
       .bytes = static_cast<uint64_t>(std::abs(bytes)),
       .memory_kind = on_cpu ? MemoryKind::kPageable : MemoryKind::kDevice,
       .operation = bytes < 0 ? MemoryOperation::kRelease : MemoryOperation::kAllocation,
       .thread = Thread(event)});
}

void KinetoTables::AddOverhead(const KinetoEvent& event) {
  store_.gpu_overheads.Append({.start_ns = event.start_ns,
                               .end_ns = EndOf(event),
                               .overhead_type = OverheadTypeOf(event.name)});
}

}  // namespace batchlight
