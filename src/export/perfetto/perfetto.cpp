// -t perfetto: Perfetto's own format, for ui.perfetto.dev and trace_processor.
//
// A file is a sequence of protobuf TracePacket messages, of few enough kinds to write by hand.
// Field numbers are those of Perfetto's trace_packet.proto, track_descriptor.proto,
// track_event.proto and interned_data.proto. Threads get their real tracks; streams, start/end
// ranges and counters get tracks of their own.
#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

#include "analysis/cuda/gpu_event_names.h"
#include "analysis/numbers/closed_end.h"
#include "analysis/result/nvtx_details.h"
#include "base/json_text.h"
#include "base/protobuf_message.h"
#include "export/call_walk.h"
#include "export/exporter.h"
#include "export/store_rows.h"
#include "export/text_buffer.h"
#include "export/usage_counters.h"

namespace batchlight {
namespace {

using Message = ProtobufMessage;

namespace packet {
constexpr uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                   kSequenceFlags = 13, kTrackDescriptor = 60;
}
namespace track {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace event {
constexpr uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11, kCategory = 22,
                   kName = 23, kCounterValue = 30, kFlow = 47, kFlowEnd = 48;
}

enum class EventType : uint8_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

constexpr std::string_view kSourceNames[] = {"nvtx", "phase", "module", "operator", "cuda_api"};

class PerfettoTrace {
 public:
  PerfettoTrace(const Store& store, const ExportOptions& options, TextBuffer& out)
      : store_(store), selection_(options.selection), out_(out) {
    // Times in the file are unsigned, and one before time 0 must not wrap around.
    int64_t first_ns = 0;
    store.VisitTables([&](const auto& table) {
      if constexpr (requires { table.start_ns; }) {
        for (const int64_t ns : table.start_ns) first_ns = std::min(first_ns, ns);
      }
    });
    offset_ns_ = std::max(selection_.shift_ns(), -first_ns);
  }

  Status Print() {
    Processes();
    thread_tracks_.resize(store_.threads.size());
    for (size_t row = 0; row < store_.threads.size(); ++row) {
      RETURN_IF_ERROR(Thread(ThreadId::At(row)));
    }
    RETURN_IF_ERROR(Ranges());
    RETURN_IF_ERROR(Marks());
    RETURN_IF_ERROR(Gpus());
    RETURN_IF_ERROR(Network());
    return Usage();
  }

  uint64_t events() const { return events_; }

 private:
  uint64_t NewTrack() { return ++last_track_; }

  void Packet(Message& message) {
    message.Number(packet::kSequence, 1);
    wrapped_.Clear();
    wrapped_.Bytes(1, message.bytes());
    out_ << wrapped_.bytes();
  }

  void Describe(uint64_t uuid, uint64_t parent, std::string_view name, uint32_t kind = 0,
                std::string_view kind_bytes = {}) {
    Message descriptor;
    descriptor.Number(track::kUuid, uuid);
    if (parent != 0) descriptor.Number(track::kParent, parent);
    if (!name.empty()) descriptor.Bytes(track::kName, ValidUtf8(name));
    if (kind != 0) descriptor.Bytes(kind, kind_bytes);
    Message message;
    Packet(message.Bytes(packet::kTrackDescriptor, descriptor.bytes()));
  }

  void Processes() {
    for (size_t row = 0; row < store_.processes.size(); ++row) {
      Message process;
      process.Number(1, store_.processes.pid[row]);
      process.Bytes(6, ValidUtf8(store_.Text(store_.processes.name[row])));
      process_tracks_.push_back(NewTrack());
      if (!selection_.HasProcess(ProcessId::At(row))) continue;
      Describe(process_tracks_.back(), 0, "", track::kProcess, process.bytes());
    }
  }

  uint64_t ProcessTrack(ProcessId process) const {
    return process.IsNone() ? 0 : process_tracks_[process.row()];
  }

  // A name's number; its text goes into the packet that uses it first. `name` outlives the trace.
  uint64_t NameId(std::string_view name, Message& message) {
    uint64_t& number = numbers_[name];
    if (number == 0) {
      number = numbers_.size();
      Message entry;
      entry.Number(1, number).Bytes(2, ValidUtf8(name.empty() ? "(no name)" : name));
      Message interned;
      interned.Bytes(2, entry.bytes());
      message.Bytes(packet::kInternedData, interned.bytes());
    }
    return number;
  }

  std::string_view Keep(std::string name) { return *kept_.insert(std::move(name)).first; }

  void Begin(uint64_t track_uuid, int64_t at_ns, std::string_view name, std::string_view category,
             const Message& extra, EventType type = EventType::kBegin) {
    ++events_;
    message_.Clear();
    // The first packet says that no names were given before; all others build on it.
    message_.Number(packet::kTimestamp, static_cast<uint64_t>(AddTimes(at_ns, offset_ns_)))
        .Number(packet::kSequenceFlags, any_event_ ? 2 : 3);
    any_event_ = true;
    slice_.Clear();
    slice_.Number(event::kType, static_cast<uint64_t>(type))
        .Number(event::kTrack, track_uuid)
        .Number(event::kNameId, NameId(name, message_))
        .Bytes(event::kCategory, category)
        .Append(extra);
    message_.Bytes(packet::kTrackEvent, slice_.bytes());
    Packet(message_);
  }

  void End(uint64_t track_uuid, int64_t at_ns) {
    slice_.Clear();
    slice_.Number(event::kType, static_cast<uint64_t>(EventType::kEnd))
        .Number(event::kTrack, track_uuid);
    message_.Clear();
    message_.Number(packet::kTimestamp, static_cast<uint64_t>(AddTimes(at_ns, offset_ns_)))
        .Bytes(packet::kTrackEvent, slice_.bytes());
    Packet(message_);
  }

  // `text` is our own, so it is valid UTF-8.
  void Annotate(Message& extra, std::string_view key, std::string_view text) {
    annotation_.Clear();
    annotation_.Bytes(10, key).Bytes(6, text);
    extra.Bytes(event::kAnnotation, annotation_.bytes());
  }
  void Annotate(Message& extra, std::string_view key, uint64_t number) {
    annotation_.Clear();
    annotation_.Bytes(10, key).Number(3, number);
    extra.Bytes(event::kAnnotation, annotation_.bytes());
  }

  void AnnotateNvtx(Message& extra, NvtxDomainId domain, NvtxAttributesId attributes) {
    const NvtxDetails details = DetailsOf(store_, domain, attributes);
    const auto add = [&](std::string_view key, const std::string& text) {
      if (!text.empty()) Annotate(extra, key, ValidUtf8(text));
    };
    add("domain", details.domain);
    add("category", details.category);
    add("color", details.color);
    add("payload", details.payload);
  }

  // Correlation ids are unique per process only.
  static uint64_t FlowId(ProcessId process, uint32_t correlation) {
    return (uint64_t{process.value} + 1) << 32 | correlation;
  }

  Status Thread(ThreadId id) {
    if (!selection_.HasThread(id)) return {};
    const ProcessId process = store_.ProcessOf(id);
    Message thread;
    thread.Number(1, process.IsNone() ? 0 : store_.processes.pid[process.row()])
        .Number(2, store_.threads.tid[id.row()])
        .Bytes(5, ValidUtf8(store_.Text(store_.threads.name[id.row()])));
    const uint64_t uuid = NewTrack();
    thread_tracks_[id.row()] = uuid;
    Describe(uuid, ProcessTrack(process), "", track::kThread, thread.bytes());
    Status status;
    Message extra;
    WalkCalls(
        CallsOf(store_, id, selection_),
        [&](const Call& call) {
          extra.Clear();
          if (call.source == CallSource::kNvtx) {
            AnnotateNvtx(extra, store_.nvtx_ranges.domain[call.row],
                         store_.nvtx_ranges.attributes[call.row]);
          }
          if (call.source == CallSource::kOperator) {
            const StringId shapes = store_.operator_calls.shapes[call.row];
            if (!shapes.IsNone()) Annotate(extra, "shapes", store_.Text(shapes));
          }
          if (call.source == CallSource::kApi) {
            const uint32_t correlation = store_.api_calls.correlation[call.row];
            Annotate(extra, "correlation", correlation);
            if (correlation != 0) extra.Fixed64(event::kFlow, FlowId(process, correlation));
          }
          Begin(uuid, call.start_ns, store_.Text(call.name),
                kSourceNames[static_cast<size_t>(call.source)], extra);
        },
        [&](const Call&, int64_t end_ns) {
          End(uuid, end_ns);
          if (status.ok()) status = out_.FlushIfLarge();
        });
    return status;
  }

  // Tracks for events that may overlap: each goes to the first that is free.
  class Lanes {
   public:
    Lanes(PerfettoTrace& trace, uint64_t parent, std::string name)
        : trace_(trace), parent_(parent), name_(std::move(name)) {}

    // Of events by start: the first lane that is free by then.
    uint64_t Take(int64_t start_ns, int64_t end_ns) {
      for (; !busy_.empty() && busy_.top().first <= start_ns; busy_.pop()) {
        free_.insert(busy_.top().second);
      }
      if (free_.empty()) {
        free_.insert(lanes_.size());
        lanes_.push_back(trace_.NewTrack());
        trace_.Describe(lanes_.back(), parent_, name_);
      }
      const size_t lane = *free_.begin();
      free_.erase(free_.begin());
      busy_.emplace(end_ns, lane);
      return lanes_[lane];
    }

   private:
    using Busy = std::pair<int64_t, size_t>;  // until when, which lane

    PerfettoTrace& trace_;
    uint64_t parent_;
    std::string name_;
    std::vector<uint64_t> lanes_;
    std::set<size_t> free_;
    std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  };

  Status Ranges() {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    if (!selection_.HasTable(ranges.kName)) return {};
    std::map<ProcessId, Lanes> lanes;
    for (const uint32_t row :
         RowsByStart(ranges, [&](size_t i) { return ranges.style[i] == NvtxStyle::kStartEnd; })) {
      const ProcessId process = store_.ProcessOf(ranges.thread[row]);
      Lanes& own =
          lanes.try_emplace(process, *this, ProcessTrack(process), "NVTX start/end").first->second;
      Message extra;
      AnnotateNvtx(extra, ranges.domain[row], ranges.attributes[row]);
      Slice(own, ranges.start_ns[row], ranges.end_ns[row], store_.Text(ranges.message[row]), "nvtx",
            extra);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  template <typename Table, typename Wanted>
  std::vector<uint32_t> RowsByStart(const Table& table, Wanted&& wanted) const {
    std::vector<uint32_t> rows;
    for (size_t row = 0; row < table.size(); ++row) {
      if (wanted(row) && SelectsRow(selection_, table, row)) {
        rows.push_back(static_cast<uint32_t>(row));
      }
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [&](uint32_t a, uint32_t b) { return table.start_ns[a] < table.start_ns[b]; });
    return rows;
  }

  void Slice(Lanes& lanes, int64_t start_ns, int64_t end_ns, std::string_view name,
             std::string_view category, Message& extra) {
    const int64_t closed_ns = ClosedEnd(store_, start_ns, end_ns);
    const uint64_t uuid = lanes.Take(start_ns, closed_ns);
    Begin(uuid, start_ns, name, category, extra);
    End(uuid, closed_ns);
  }

  struct Work {
    int64_t start_ns, end_ns;
    ProcessId process;
    uint32_t device, stream, correlation;
    std::string_view name;
    std::string_view category;
    uint64_t bytes;
  };
  // Work of all kinds on the GPUs, by start.
  std::vector<Work> GpuWork() {
    std::vector<Work> all;
    const auto add = [&](const auto& table, std::string_view category, const auto& name,
                         const auto& bytes) {
      if (!selection_.HasTable(table.kName)) return;
      for (size_t row = 0; row < table.size(); ++row) {
        if (!SelectsRow(selection_, table, row)) continue;
        all.push_back({table.start_ns[row], table.end_ns[row], table.process[row],
                       table.device[row], table.stream[row], table.correlation[row], name(row),
                       category, bytes(row)});
      }
    };
    add(
        store_.kernels, "kernel",
        [&](size_t row) { return store_.Text(store_.kernels.short_name[row]); },
        [](size_t) { return uint64_t{0}; });
    add(
        store_.memcpys, "memcpy",
        [&](size_t row) {
          const MemcpysTable& copies = store_.memcpys;
          return Keep(MemcpyName(copies.copy_kind[row], copies.source_kind[row],
                                 copies.destination_kind[row]));
        },
        [&](size_t row) { return store_.memcpys.bytes[row]; });
    add(
        store_.memsets, "memset",
        [&](size_t row) { return Keep(MemsetName(store_.memsets.memory_kind[row])); },
        [&](size_t row) { return store_.memsets.bytes[row]; });
    add(
        store_.graph_launches, "cuda_graph",
        [&](size_t row) {
          return Keep("CUDA graph " + std::to_string(store_.graph_launches.graph[row]));
        },
        [](size_t) { return uint64_t{0}; });
    std::stable_sort(all.begin(), all.end(),
                     [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; });
    return all;
  }

  // GPUs of different processes may have the same number: each process has its own track of it.
  struct Gpu {
    uint64_t track;
    std::map<uint32_t, Lanes> streams;
    std::vector<std::pair<int64_t, int64_t>> changes;  // of work that runs
  };

  // Devices of several processes: they may be different GPUs.
  static std::set<uint32_t> SharedDevices(const std::vector<Work>& all) {
    std::map<uint32_t, ProcessId> first;
    std::set<uint32_t> shared;
    for (const Work& work : all) {
      const auto place = first.try_emplace(work.device, work.process).first;
      if (place->second != work.process) shared.insert(work.device);
    }
    return shared;
  }

  std::string GpuName(ProcessId process, uint32_t device, bool shared) const {
    std::string name = "GPU " + std::to_string(device);
    if (shared && !process.IsNone()) {
      name += " of process " + std::to_string(store_.processes.pid[process.row()]);
    }
    return name;
  }

  // A track for each stream, and a counter for each GPU.
  Status Gpus() {
    std::map<std::pair<ProcessId, uint32_t>, Gpu> gpus;
    const std::vector<Work> all = GpuWork();
    const std::set<uint32_t> shared = SharedDevices(all);
    for (const Work& work : all) {
      const auto [place, is_new] = gpus.try_emplace({work.process, work.device});
      Gpu& gpu = place->second;
      if (is_new) {
        gpu.track = NewTrack();
        Describe(gpu.track, 0, GpuName(work.process, work.device, shared.contains(work.device)));
      }
      Lanes& own =
          gpu.streams
              .try_emplace(work.stream, *this, gpu.track, "stream " + std::to_string(work.stream))
              .first->second;
      Message extra;
      if (work.bytes > 0) Annotate(extra, "bytes", work.bytes);
      if (work.correlation != 0) {
        Annotate(extra, "correlation", work.correlation);
        extra.Fixed64(event::kFlowEnd, FlowId(work.process, work.correlation));
      }
      Slice(own, work.start_ns, work.end_ns, work.name, work.category, extra);
      gpu.changes.emplace_back(work.start_ns, 1);
      gpu.changes.emplace_back(ClosedEnd(store_, work.start_ns, work.end_ns), -1);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    for (auto& [key, gpu] : gpus) {
      RETURN_IF_ERROR(Counter(gpu.track, "running on the GPU", gpu.changes));
    }
    return {};
  }

  // Values of network devices' counters, each over a stretch of time.
  Status Network() {
    const NetworkSamplesTable& samples = store_.network_samples;
    if (!selection_.HasTable(samples.kName)) return {};
    std::map<std::pair<StringId, StringId>, uint64_t> counters;  // by device and metric
    for (size_t row = 0; row < samples.size(); ++row) {
      if (!SelectsRow(selection_, samples, row)) continue;
      uint64_t& uuid = counters[{samples.device[row], samples.metric[row]}];
      if (uuid == 0) {
        const std::string_view device = store_.Text(samples.device[row]);
        uuid = CounterTrack(0, std::string(device.empty() ? "switch" : device) + " " +
                                   std::string(store_.Text(samples.metric[row])));
      }
      Point(uuid, samples.start_ns[row], samples.value[row]);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  // What processes use, with them; what the machine does stands by itself.
  Status Usage() {
    for (const UsageSeries& series : FindUsageSeries(store_)) {
      if (!selection_.HasTable(series.table) || !selection_.HasProcess(series.process)) continue;
      const std::string title = CounterTitle(series);
      const uint64_t uuid = series.process.IsNone()
                                ? CounterTrack(0, "machine: " + title)
                                : CounterTrack(ProcessTrack(series.process), title);
      RETURN_IF_ERROR(VisitPoints(selection_, series, [&](int64_t at_ns, int64_t value) {
        Point(uuid, at_ns, value);
        return out_.FlushIfLarge();
      }));
    }
    return {};
  }

  Status Marks() {
    const NvtxMarksTable& marks = store_.nvtx_marks;
    if (!selection_.HasTable(marks.kName)) return {};
    for (size_t row = 0; row < marks.size(); ++row) {
      if (marks.thread[row].IsNone() || !SelectsRow(selection_, marks, row)) continue;
      Message extra;
      AnnotateNvtx(extra, marks.domain[row], marks.attributes[row]);
      Begin(thread_tracks_[marks.thread[row].row()], marks.start_ns[row],
            store_.Text(marks.message[row]), "nvtx", extra, EventType::kInstant);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  uint64_t CounterTrack(uint64_t parent, std::string_view name) {
    const uint64_t uuid = NewTrack();
    Message counter;
    counter.Number(3, 2);  // unit: a count
    Describe(uuid, parent, name, track::kCounter, counter.bytes());
    return uuid;
  }

  void Point(uint64_t track_uuid, int64_t at_ns, int64_t value) {
    slice_.Clear();
    slice_.Number(event::kType, static_cast<uint64_t>(EventType::kCounter))
        .Number(event::kTrack, track_uuid)
        .Number(event::kCounterValue, static_cast<uint64_t>(value));
    message_.Clear();
    message_.Number(packet::kTimestamp, static_cast<uint64_t>(AddTimes(at_ns, offset_ns_)))
        .Bytes(packet::kTrackEvent, slice_.bytes());
    Packet(message_);
  }

  // A counter from its changes; those of one instant become one value.
  Status Counter(uint64_t parent, std::string_view name,
                 std::vector<std::pair<int64_t, int64_t>>& changes) {
    std::sort(changes.begin(), changes.end());
    const uint64_t uuid = CounterTrack(parent, name);
    int64_t value = 0;
    for (size_t i = 0; i < changes.size(); ++i) {
      value += changes[i].second;
      if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
      Point(uuid, changes[i].first, value);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  const Store& store_;
  const EventSelection& selection_;
  TextBuffer& out_;
  std::unordered_map<std::string_view, uint64_t> numbers_;  // of names
  std::set<std::string> kept_;                              // names that are not the store's
  std::vector<uint64_t> process_tracks_;
  std::vector<uint64_t> thread_tracks_;
  // Reused from event to event to avoid allocations.
  Message message_, slice_, annotation_, wrapped_;
  uint64_t last_track_ = 0;
  uint64_t events_ = 0;
  int64_t offset_ns_ = 0;
  bool any_event_ = false;
};

}  // namespace

Result<uint64_t> ExportPerfetto(const Store& store, const ExportOptions& options) {
  if (options.append) return UsageError("--append is for folders; perfetto is one file");
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  PerfettoTrace trace(store, options, out);
  RETURN_IF_ERROR(trace.Print());
  RETURN_IF_ERROR(out.Finish());
  return trace.events();
}

}  // namespace batchlight
