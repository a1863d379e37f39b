#include "ingest/recording/recording.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "base/work_progress.h"
#include "ingest/common/cut_stacks.h"
#include "ingest/common/late_times.h"
#include "ingest/common/lock_handovers.h"
#include "ingest/recording/apply_facts.h"
#include "ingest/recording/chunk_plan.h"
#include "ingest/recording/copy_ends.h"
#include "ingest/recording/cuda_join.h"
#include "ingest/recording/gpu_counters.h"
#include "ingest/recording/join_fragments.h"
#include "ingest/recording/library_calls.h"
#include "ingest/recording/memory_blocks.h"
#include "ingest/recording/native_names.h"
#include "ingest/recording/os_totals.h"
#include "ingest/recording/place_cpu.h"
#include "ingest/recording/python_totals.h"
#include "ingest/recording/source_lines.h"
#include "store/finish.h"
#include "store/reason_features.h"

namespace batchlight {
namespace {

// Memory that reading takes at its peak for each byte of the chunks: their decoded pieces and the
// tables. Measured on 3 million ranges: 3.0 with `stats`.
constexpr uint64_t kMemoryPerRawByte = 3;
constexpr uint64_t kPartToJudgeBy = 16;  // of a stretch, decoded before room is made

// Room for `times` as many rows as each table has. Small tables grow by themselves.
void ReserveInProportion(double times, Store& store) {
  constexpr size_t kFewRows = 1024;
  constexpr double kMargin = 1.05;
  const auto reserve = [&](auto& table) {
    if (table.size() < kFewRows) return;
    table.Reserve(static_cast<size_t>(static_cast<double>(table.size()) * times * kMargin));
  };
#define TABLE_BEGIN(Name, member, doc) reserve(store.member);
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END
}

bool ReadsAll(const RecordedParts& parts) {
  return parts.calls && parts.ranges && parts.first_ns == INT64_MIN && parts.last_ns == INT64_MAX &&
         parts.since_ns == INT64_MIN;
}

// Where all is read its size tells how much memory that takes.
Status CheckMemoryFor(const ChunkSet& set, const RecordedParts& parts) {
  uint64_t raw_bytes = 0;
  for (const StoredChunk& chunk : set.chunks) raw_bytes += chunk.RawBytes();
  return ReadsAll(parts) ? CheckMemory(set.path, raw_bytes * kMemoryPerRawByte) : Status();
}

// Decodes the stretches of a recording in parallel, each chunk of them unpacked for that moment.
class StretchDecoder {
 public:
  StretchDecoder(const ChunkSet& set, const ChunkPlan& plan, const RecordedParts& parts)
      : set_(set), plan_(plan), parts_(parts), memory_(set.path) {
    for (const StoredChunk& chunk : set.chunks) ReadingProgress().Expect(chunk.RawBytes());
  }

  Result<std::vector<Fragment>> DecodeAll() {
    std::vector<Fragment> fragments(plan_.stretch_begins.size() - 1);
    ParallelFor(fragments.size(), [&](size_t i) {
      if (HasFailed()) return;
      if (const Status status = Decode(i, fragments[i]); !status.ok()) Fail(status);
    });
    if (!failure_.ok()) return failure_;
    return fragments;
  }

 private:
  // What the first part of a stretch holds tells how much room the whole needs: columns that double
  // again and again are copied as often as they are decoded.
  Status Decode(size_t stretch, Fragment& fragment) {
    RecordDecoder decoder(fragment, plan_.zero_ns, parts_);
    BlockUnpacker unpacker;
    const size_t begin = plan_.stretch_begins[stretch], end = plan_.stretch_begins[stretch + 1];
    uint64_t total_bytes = 0, decoded_bytes = 0;
    for (size_t k = begin; k < end; ++k) total_bytes += set_.chunks[k].RawBytes();
    bool reserved = false;
    for (size_t k = begin; k < end; ++k) {
      decoder.DecodeChunk(unpacker.Open(set_.chunks[k]), plan_.places[k]);
      decoded_bytes += set_.chunks[k].RawBytes();
      ReadingProgress().Done(set_.chunks[k].RawBytes());
      set_.Release(k);
      if (!reserved && decoded_bytes * kPartToJudgeBy >= total_bytes) {
        ReserveInProportion(static_cast<double>(total_bytes) / static_cast<double>(decoded_bytes),
                            fragment.store);
        reserved = true;
      }
    }
    decoder.Finish();
    return ReadsAll(parts_) ? Status() : memory_.Check();
  }

  bool HasFailed() {
    const std::lock_guard lock(mutex_);
    return !failure_.ok();
  }
  void Fail(const Status& status) {
    const std::lock_guard lock(mutex_);
    failure_ = status;
  }

  const ChunkSet& set_;
  const ChunkPlan& plan_;
  const RecordedParts& parts_;
  const MemoryWatch memory_;
  std::mutex mutex_;
  Status failure_;  // guarded by mutex_
};

// Losses that reading itself found.
void AddReadingLosses(const std::vector<Fragment>& fragments, uint64_t damaged, Store& store) {
  uint64_t unknown_records = 0;
  for (const Fragment& fragment : fragments) {
    damaged += fragment.damaged_chunks;
    unknown_records += fragment.unknown_records;
  }
  const auto add = [&](format::Counter counter, uint64_t value) {
    if (value > 0) store.losses.Append({{}, static_cast<uint32_t>(counter), value});
  };
  add(format::Counter::kChunksDamaged, damaged);
  add(format::Counter::kRecordsUnknown, unknown_records);
}

// The tool looks at the machine ten times a second, and says that it is about to end.
constexpr int64_t kSilentNs = 2'000'000'000;

// A killed tool stopped looking while the program went on recording itself. Of a live folder one
// that waits for a processor or a disk looks the same.
void TellOfKilledTool(Store& store) {
  const std::vector<int64_t>& looks_ns = store.machine_usage.start_ns;
  const std::vector<int64_t>& ends_ns = store.capture_windows.end_ns;
  if (looks_ns.empty() || ends_ns.empty() || ends_ns.back() != kOpenEnd) return;
  if (store.duration_ns - looks_ns.back() < kSilentNs) return;
  const auto seconds = [](int64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
    return std::string(text);
  };
  const std::string live =
      store.source.ends_with(".live") ? ", or is held up," : ", or asked twice to end,";
  const std::string text =
      "batchlight itself was killed" + live + " " + seconds(looks_ns.back()) +
      " into the run, of which the program recorded " + seconds(store.duration_ns) +
      " by itself: samples, scheduling, GPU metrics and what the processes used end there";
  store.reasons.Append(
      {.feature = store.strings.Intern(kToolFeature), .text = store.strings.Intern(text)});
}

Result<Store> ReadWithSources(ChunkSet set, const std::string& path, const RecordedParts& parts) {
  const std::set<uint32_t> owners = set.owners;
  ASSIGN_OR_RETURN(Store store, ReadChunks(std::move(set), parts));
  store.source = path;
  ReadSourceLines(store, owners);
  if (ReadsAll(parts)) TellOfKilledTool(store);
  return store;
}

}  // namespace

Result<Store> ReadChunks(ChunkSet set, const RecordedParts& parts) {
  Store store;
  DropChunksBefore(parts.since_ns, set);
  const ChunkPlan plan = PlanChunks(set.chunks, parts.since_ns, store);
  RETURN_IF_ERROR(CheckMemoryFor(set, parts));
  ASSIGN_OR_RETURN(std::vector<Fragment> fragments, StretchDecoder(set, plan, parts).DecodeAll());
  const uint64_t damaged = set.damaged;
  for (const std::string& notice : set.notices) {
    store.reasons.Append(
        {.feature = store.strings.Intern("input"), .text = store.strings.Intern(notice)});
  }
  set = ChunkSet();  // the tables hold everything now
  Result<std::vector<FragmentMap>> maps = JoinFragments(fragments, store);
  if (!maps.ok()) return maps.status();
  ApplyFacts(fragments, maps.value(), plan, store);
  AddUpPython(store);
  AddUpOsCalls(store);
  PairMemoryBlocks(fragments, store);
  MoveLibraryCalls(store);
  PlaceCuda(fragments, store);
  UniteGpuMetrics(store);
  TimeReplayedKernels(store);
  PlaceCpu(fragments, maps.value(), store);
  NameNativeFrames(fragments, maps.value(), store);
  FinishStore(store, {.has_range_parents = true, .has_call_parents = true});
  JoinCutStacks(store);
  MoveLateTimes(store);
  FollowLockHandovers(store);
  CutImpossibleCopyEnds(store);
  NameKernels(store);
  AddReadingLosses(fragments, damaged, store);
  store.source_format = "batchlight";
  return store;
}

Result<Store> ReadRecording(const std::string& path, const RecordedParts& parts) {
  ASSIGN_OR_RETURN(ChunkSet set, LoadChunks(path));
  return ReadWithSources(std::move(set), path, parts);
}

Result<Store> ReadRecording(MappedFile file, const std::string& path) {
  ChunkSet set{.path = path};
  RETURN_IF_ERROR(LoadSealedFile(std::move(file), path, set));
  SortChunks(set);
  return ReadWithSources(std::move(set), path, {});
}

}  // namespace batchlight
