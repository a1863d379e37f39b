#include "ingest/recording/chunk_plan.h"

#include <algorithm>

#include "base/thread_pool.h"

namespace batchlight {
namespace {

using format::ChunkHeader;

// Large enough that starting a task costs nothing in comparison, small enough that its tables stay
// in the cache and the work spreads evenly.
constexpr uint64_t kMinStretchBytes = 256 << 10;
constexpr uint64_t kMaxStretchBytes = 8 << 20;
constexpr uint64_t kStretchesPerProcessor = 8;

bool SameProcess(const ChunkHeader& a, const ChunkHeader& b) {
  return a.pid == b.pid && a.attach_ns == b.attach_ns;
}

bool SameThread(const ChunkHeader& a, const ChunkHeader& b) {
  return SameProcess(a, b) && a.thread_index == b.thread_index;
}

int64_t FindZero(std::span<const StoredChunk> chunks) {
  if (chunks.empty()) return 0;
  const ChunkHeader& first = chunks.front().view.header;
  return first.pid == 0 ? first.base_monotonic_ns : first.attach_ns;
}

int64_t Since(int64_t zero_ns, int64_t monotonic_ns) {
  int64_t ns = 0;
  return __builtin_sub_overflow(monotonic_ns, zero_ns, &ns) ? 0 : ns;
}

bool EndsBefore(const StoredChunk& chunk, int64_t zero_ns, int64_t since_ns) {
  const int64_t end_ns = ChunkEndNs(chunk.view.header, kOpenEnd);
  return chunk.view.closed && end_ns != kOpenEnd && Since(zero_ns, end_ns) < since_ns;
}

// Times of a chunk lie between its own base and the next one's.
ChunkClock ClockOf(const ChunkHeader& header, const ChunkPlace* before, const ChunkHeader* next,
                   int64_t zero_ns) {
  int64_t floor_ns = Since(zero_ns, header.base_monotonic_ns);
  if (before != nullptr) floor_ns = std::max(floor_ns, before->clock.ceiling_ns());
  int64_t ceiling_ns = kOpenEnd - 1;
  if (next != nullptr) ceiling_ns = Since(zero_ns, next->base_monotonic_ns);
  const int64_t closed_ns = ChunkEndNs(header, kOpenEnd);
  if (closed_ns != kOpenEnd) ceiling_ns = std::min(ceiling_ns, Since(zero_ns, closed_ns));
  return ChunkClock(header, zero_ns, floor_ns, ceiling_ns);
}

void CutStretches(std::span<const StoredChunk> chunks, std::vector<size_t>& begins) {
  uint64_t total_bytes = 0;
  for (const StoredChunk& chunk : chunks) total_bytes += chunk.RawBytes();
  const uint64_t wanted = std::clamp(total_bytes / (ProcessorCount() * kStretchesPerProcessor),
                                     kMinStretchBytes, kMaxStretchBytes);
  uint64_t bytes = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (i == 0 || bytes >= wanted) {
      begins.push_back(i);
      bytes = 0;
    }
    bytes += chunks[i].RawBytes();
  }
  begins.push_back(chunks.size());
}

}  // namespace

void DropChunksBefore(int64_t since_ns, ChunkSet& set) {
  if (since_ns == INT64_MIN) return;
  const int64_t zero_ns = FindZero(set.chunks);
  std::vector<StoredChunk> kept;
  const StoredChunk* last = nullptr;
  for (const StoredChunk& chunk : set.chunks) {
    const bool begins = last == nullptr || !SameThread(last->view.header, chunk.view.header);
    last = &chunk;
    if (begins || !EndsBefore(chunk, zero_ns, since_ns)) kept.push_back(chunk);
  }
  set.chunks = std::move(kept);
}

ChunkPlan PlanChunks(std::span<const StoredChunk> chunks, int64_t since_ns, Store& store) {
  ChunkPlan plan;
  plan.zero_ns = FindZero(chunks);
  plan.places.resize(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    const ChunkHeader& header = chunks[i].view.header;
    const ChunkHeader* last = i > 0 ? &chunks[i - 1].view.header : nullptr;
    const bool same_thread = last != nullptr && SameThread(*last, header);
    const bool goes_on = i + 1 < chunks.size() && SameThread(header, chunks[i + 1].view.header);
    ChunkPlace& place = plan.places[i];
    place.clock = ClockOf(header, same_thread ? &plan.places[i - 1] : nullptr,
                          goes_on ? &chunks[i + 1].view.header : nullptr, plan.zero_ns);
    place.begins_thread = !same_thread;
    place.after_gap = same_thread && header.chunk_index != last->chunk_index + 1;
    place.facts_only = EndsBefore(chunks[i], plan.zero_ns, since_ns);
    place.new_capture = same_thread && header.capture_index != last->capture_index;
    if (header.pid == 0) continue;
    if (last == nullptr || !SameProcess(*last, header)) {
      store.processes.Append({.pid = header.pid,
                              .start_ns = Since(plan.zero_ns, header.attach_ns),
                              .end_ns = kOpenEnd,
                              .exit_code = -1,
                              .exit_signal = -1,
                              .rank = -1});
      plan.attach_ns.push_back(header.attach_ns);
    }
    place.process = ProcessId::At(store.processes.size() - 1);
    if (!same_thread) {
      const int64_t start_ns = place.clock.floor_ns();
      store.threads.Append(
          {.process = place.process, .tid = header.tid, .start_ns = start_ns, .end_ns = start_ns});
    }
    place.thread = ThreadId::At(store.threads.size() - 1);
  }
  CutStretches(chunks, plan.stretch_begins);
  return plan;
}

}  // namespace batchlight
