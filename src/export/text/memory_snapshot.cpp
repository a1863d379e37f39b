// -t memory-snapshot: blocks of PyTorch's caching allocator of GPUs over time and at the end, in
// the form of torch.cuda.memory._dump_snapshot(): a pickle of
//   {segments: [{device, address, total_size, ..., blocks: [{address, size, state, frames, ...}]}],
//    device_traces: [[{action, addr, size, stream, time_us, frames}]], allocator_settings: {...}}
// for PyTorch's memory_viz, in the browser and as torch/cuda/_memory_viz.py. Frames are the stack
// of the Python code that asked; of what backward allocates, that of the forward, below frames that
// name the operator. Segments are what CUDA gave the process and blocks lie in. Streams are not
// recorded: 0.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/lines/gpu_line_memory.h"
#include "analysis/owners/backward_links.h"
#include "export/exporter.h"
#include "export/text/pickle.h"

namespace batchlight {
namespace {

constexpr uint64_t kRounding = 512;             // of the allocator, to which blocks are rounded up
constexpr uint64_t kSmallSegment = 2ull << 20;  // segments for small blocks have this size

struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  int64_t start_ns = 0;
  int64_t end_ns = kOpenEnd;
};

struct TraceEntry {
  int64_t at_ns = 0;
  std::string_view action;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t block = kNoRow;  // with whose frames
};

// A block in its segment at the end.
struct PlacedBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;  // asked for
  uint64_t room = 0;   // taken up
  uint32_t block = kNoRow;
};

// What CUDA gave the process of a GPU, as far as some of these blocks lie in it.
std::vector<Segment> SegmentsOf(const Store& store, const GpuOfProcess& gpu,
                                const std::vector<uint32_t>& blocks) {
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  std::vector<Segment> segments;
  std::map<uint64_t, size_t> held;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.process[row] != gpu.first || events.device[row] != gpu.second) continue;
    if (events.memory_kind[row] != MemoryKind::kDevice) continue;
    const auto found = held.find(events.address[row]);
    if (found != held.end()) {
      segments[found->second].end_ns = events.start_ns[row];
      held.erase(found);
    }
    if (events.operation[row] != MemoryOperation::kAllocation) continue;
    held[events.address[row]] = segments.size();
    segments.push_back({events.address[row], events.bytes[row], events.start_ns[row]});
  }
  std::set<uint64_t> addresses;
  for (const uint32_t block : blocks) addresses.insert(store.memory_blocks.address[block]);
  std::erase_if(segments, [&](const Segment& segment) {
    const auto inside = addresses.lower_bound(segment.address);
    return inside == addresses.end() || *inside - segment.address >= segment.bytes;
  });
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return std::pair(a.address, a.start_ns) < std::pair(b.address, b.start_ns);
  });
  return segments;
}

class Snapshot {
 public:
  Snapshot(const Store& store, const EventSelection& selection, ProcessId process,
           TextBuffer& buffer)
      : store_(store),
        blocks_(store.memory_blocks),
        selection_(selection),
        end_ns_(selection.AllTimes().end_ns),
        process_(process),
        buffer_(buffer),
        out_(buffer),
        links_(store),
        lines_(store),
        callers_(store, links_, lines_) {
    for (const uint32_t block : GpuBlocks(store)) {
      const GpuOfProcess gpu = GpuOfBlock(store, block);
      if (gpu.first != process) continue;
      devices_.resize(std::max<size_t>(devices_.size(), gpu.second + 1));
      devices_[gpu.second].push_back(block);
    }
  }

  // Returns the number of events.
  Result<uint64_t> Write() {
    out_.Begin();
    out_.BeginDict();
    RETURN_IF_ERROR(WriteSegments());
    RETURN_IF_ERROR(WriteTraces());
    out_.Shared("allocator_settings");
    out_.BeginDict();
    out_.EndDict();
    out_.Shared("external_annotations");
    out_.BeginList();
    out_.EndList();
    out_.EndDict();
    out_.End();
    RETURN_IF_ERROR(buffer_.Finish());
    return count_;
  }

 private:
  void Entry(std::string_view key, uint64_t value) {
    out_.Shared(key);
    out_.Number(value);
  }
  void Entry(std::string_view key, std::string_view value) {
    out_.Shared(key);
    out_.Shared(value);
  }

  void Frame(std::string_view name, std::string_view file, uint32_t line) {
    out_.BeginDict();
    Entry("name", name);
    Entry("filename", file);
    Entry("line", line);
    out_.EndDict();
  }

  // The stack of who asked for a block, innermost first: written once for all blocks that have it.
  void Frames(uint32_t block) {
    out_.Shared("frames");
    const LinePart part = block == kNoRow ? LinePart() : callers_.PartOf(block);
    const OperatorCallId op = block == kNoRow ? OperatorCallId() : callers_.OperatorOf(block);
    const StringId name = op.IsNone() ? StringId() : store_.operator_calls.name[op.row()];
    const auto [place, added] = frames_.try_emplace({name, part.stack, part.side}, 0);
    if (!added) return out_.Get(place->second);
    out_.BeginList();
    if (!name.IsNone()) Frame(store_.Text(name), "[operator]", 0);
    if (part.side == LineSide::kBackward) Frame("backward of", "[forward]", 0);
    if (part.side == LineSide::kRecompute) Frame("run again in backward", "[checkpoint]", 0);
    for (PythonStackId at = part.stack; !at.IsNone(); at = store_.python_stacks.parent[at.row()]) {
      const PythonFrameId frame = store_.python_stacks.frame[at.row()];
      if (frame.IsNone()) continue;
      const PythonFramesRow row = store_.python_frames.Row(frame.row());
      Frame(store_.Text(row.function), store_.Text(row.file), row.line);
    }
    out_.EndList();
    place->second = out_.Put();
  }

  Status WriteSegments() {
    out_.Shared("segments");
    out_.BeginList();
    for (uint32_t device = 0; device < devices_.size(); ++device) {
      std::map<uint64_t, uint32_t> held;  // by address
      for (const uint32_t block : devices_[device]) {
        if (blocks_.start_ns[block] < end_ns_ && blocks_.end_ns[block] >= end_ns_) {
          held[blocks_.address[block]] = block;
        }
      }
      for (const Segment& segment : SegmentsOf(store_, {process_, device}, devices_[device])) {
        if (segment.start_ns >= end_ns_ || segment.end_ns < end_ns_) continue;
        WriteSegment(segment, device, BlocksIn(segment, held));
        RETURN_IF_ERROR(buffer_.FlushIfLarge());
      }
    }
    out_.EndList();
    return {};
  }

  std::vector<PlacedBlock> BlocksIn(const Segment& segment,
                                    const std::map<uint64_t, uint32_t>& held) const {
    std::vector<PlacedBlock> placed;
    const uint64_t end = segment.address + segment.bytes;
    for (auto at = held.lower_bound(segment.address); at != held.end() && at->first < end; ++at) {
      const auto next = std::next(at);
      const uint64_t most = (next == held.end() ? end : std::min(end, next->first)) - at->first;
      const uint64_t bytes = std::min(blocks_.bytes[at->second], most);
      const uint64_t room = std::min((bytes + kRounding - 1) / kRounding * kRounding, most);
      placed.push_back({at->first, bytes, room, at->second});
    }
    return placed;
  }

  void WriteSegment(const Segment& segment, uint32_t device,
                    const std::vector<PlacedBlock>& placed) {
    uint64_t taken = 0, requested = 0;
    for (const PlacedBlock& block : placed) {
      taken += block.room;
      requested += block.bytes;
    }
    out_.BeginDict();
    Entry("device", device);
    Entry("address", segment.address);
    Entry("total_size", segment.bytes);
    Entry("allocated_size", taken);
    Entry("active_size", taken);
    Entry("requested_size", requested);
    Entry("stream", 0);
    Entry("segment_type", segment.bytes <= kSmallSegment ? "small" : "large");
    out_.Shared("segment_pool_id");
    out_.Number(0);
    out_.Number(0);
    out_.Tuple(2);
    out_.Shared("is_expandable");
    out_.Bool(false);
    Frames(kNoRow);
    out_.Shared("blocks");
    out_.BeginList();
    uint64_t at = segment.address;
    const auto gap_to = [&](uint64_t address) {
      if (address > at) WriteBlock({at, address - at, address - at, kNoRow});
    };
    for (const PlacedBlock& block : placed) {
      gap_to(block.address);
      WriteBlock(block);
      at = block.address + block.room;
    }
    gap_to(segment.address + segment.bytes);
    out_.EndList();
    out_.EndDict();
  }

  void WriteBlock(const PlacedBlock& block) {
    out_.BeginDict();
    Entry("address", block.address);
    Entry("size", block.room);
    Entry("requested_size", block.bytes);
    Entry("state", block.block == kNoRow ? "inactive" : "active_allocated");
    Frames(block.block);
    out_.EndDict();
  }

  std::vector<TraceEntry> TraceOf(uint32_t device) const {
    std::vector<TraceEntry> entries;
    const auto add = [&](const TraceEntry& entry) {
      if (entry.at_ns != kOpenEnd && selection_.HasTime(entry.at_ns, entry.at_ns)) {
        entries.push_back(entry);
      }
    };
    for (const Segment& segment : SegmentsOf(store_, {process_, device}, devices_[device])) {
      add({segment.start_ns, "segment_alloc", segment.address, segment.bytes});
      add({segment.end_ns, "segment_free", segment.address, segment.bytes});
    }
    for (const uint32_t block : devices_[device]) {
      const uint64_t address = blocks_.address[block], bytes = blocks_.bytes[block];
      add({blocks_.end_ns[block], "free_requested", address, bytes, block});
      add({blocks_.end_ns[block], "free_completed", address, bytes, block});
      add({blocks_.start_ns[block], "alloc", address, bytes, block});
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const TraceEntry& a, const TraceEntry& b) { return a.at_ns < b.at_ns; });
    return entries;
  }

  Status WriteTraces() {
    out_.Shared("device_traces");
    out_.BeginList();
    for (uint32_t device = 0; device < devices_.size(); ++device) {
      out_.BeginList();
      for (const TraceEntry& entry : TraceOf(device)) {
        out_.BeginDict();
        Entry("action", entry.action);
        Entry("addr", entry.address);
        Entry("size", entry.bytes);
        Entry("stream", 0);
        const int64_t utc_ns = store_.session_start_utc_ns + entry.at_ns;
        Entry("time_us", static_cast<uint64_t>(std::max<int64_t>(0, utc_ns / 1000)));
        Frames(entry.block);
        out_.EndDict();
        ++count_;
        RETURN_IF_ERROR(buffer_.FlushIfLarge());
      }
      out_.EndList();
    }
    out_.EndList();
    return {};
  }

  const Store& store_;
  const MemoryBlocksTable& blocks_;
  const EventSelection& selection_;
  const int64_t end_ns_;
  const ProcessId process_;
  TextBuffer& buffer_;
  Pickle out_;
  const BackwardLinks links_;
  const StackLines lines_;
  const GpuBlockCallers callers_;
  std::vector<std::vector<uint32_t>> devices_;  // blocks of each GPU
  std::map<std::tuple<StringId, PythonStackId, LineSide>, uint32_t> frames_;
  uint64_t count_ = 0;
};

// The process whose allocator is written: there is one allocator to a snapshot.
Result<ProcessId> FindProcess(const Store& store, const EventSelection& selection) {
  std::set<ProcessId> processes;
  for (const uint32_t block : GpuBlocks(store)) {
    const ThreadId thread = store.memory_blocks.thread[block];
    if (selection.HasThread(thread)) processes.insert(store.ProcessOf(thread));
  }
  if (processes.empty()) {
    return InputError(
        "nothing of PyTorch's allocator of GPU memory was recorded: profile "
        "--cuda-memory-usage=true --python-lines=gpu");
  }
  if (processes.size() > 1) {
    return UsageError("a snapshot is of one process, and " + std::to_string(processes.size()) +
                      " have GPU memory here: --per-rank writes one for each rank");
  }
  return *processes.begin();
}

}  // namespace

Result<uint64_t> ExportMemorySnapshot(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const ProcessId process, FindProcess(store, options.selection));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer buffer(file);
  return Snapshot(store, options.selection, process, buffer).Write();
}

}  // namespace batchlight
