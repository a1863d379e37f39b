#include "ingest/recording/recording.h"

#include "base/thread_pool.h"
#include "ingest/recording/apply_facts.h"
#include "ingest/recording/chunk_plan.h"
#include "ingest/recording/copy_ends.h"
#include "ingest/recording/cuda_join.h"
#include "ingest/recording/gpu_metrics.h"
#include "ingest/recording/join_fragments.h"
#include "ingest/recording/library_calls.h"
#include "ingest/recording/memory_blocks.h"
#include "ingest/recording/native_names.h"
#include "ingest/recording/os_totals.h"
#include "ingest/recording/place_cpu.h"
#include "ingest/recording/python_totals.h"
#include "ingest/recording/source_lines.h"
#include "store/finish.h"

namespace batchlight {
namespace {

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

// Gives the chunks' memory back as they are decoded, not when all are. What the first part of a
// stretch holds tells how much room the whole needs: columns that double again and again are copied
// as often as they are decoded.
std::vector<Fragment> DecodeAll(const ChunkSet& set, const ChunkPlan& plan,
                                const RecordedParts& parts) {
  std::vector<Fragment> fragments(plan.stretch_begins.size() - 1);
  ParallelFor(fragments.size(), [&](size_t i) {
    RecordDecoder decoder(fragments[i], plan.zero_ns, parts);
    const size_t begin = plan.stretch_begins[i], end = plan.stretch_begins[i + 1];
    uint64_t total_bytes = 0, decoded_bytes = 0;
    for (size_t k = begin; k < end; ++k) total_bytes += set.chunks[k].records_end;
    bool reserved = false;
    for (size_t k = begin; k < end; ++k) {
      decoder.DecodeChunk(set.chunks[k], plan.places[k]);
      decoded_bytes += set.chunks[k].records_end;
      set.Release(k);
      if (!reserved && decoded_bytes * kPartToJudgeBy >= total_bytes) {
        ReserveInProportion(static_cast<double>(total_bytes) / static_cast<double>(decoded_bytes),
                            fragments[i].store);
        reserved = true;
      }
    }
    decoder.Finish();
  });
  return fragments;
}

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

}  // namespace

Result<Store> ReadChunks(ChunkSet set, const RecordedParts& parts) {
  Store store;
  const ChunkPlan plan = PlanChunks(set.chunks, store);
  std::vector<Fragment> fragments = DecodeAll(set, plan, parts);
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
  PlaceCpu(fragments, maps.value(), store);
  NameNativeFrames(fragments, maps.value(), store);
  FinishStore(store, {.has_range_parents = true, .has_call_parents = true});
  CutImpossibleCopyEnds(store);
  NameKernels(store);
  AddReadingLosses(fragments, damaged, store);
  store.source_format = "batchlight";
  return store;
}

Result<Store> ReadRecording(const std::string& path, const RecordedParts& parts) {
  ASSIGN_OR_RETURN(ChunkSet set, LoadChunks(path));
  ASSIGN_OR_RETURN(Store store, ReadChunks(std::move(set), parts));
  store.source = path;
  ReadSourceLines(store);
  return store;
}

}  // namespace batchlight
