#include "inject/buffer/thread_stream.h"

#include <sys/prctl.h>

#include <atomic>
#include <new>

#include "inject/buffer/facts.h"
#include "inject/buffer/fork.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"
#include "inject/rt/thread_exit.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace batchlight::inject {
namespace {

using format::Counter;

constexpr size_t kPopulateBytes = 64u << 10;  // page faults are taken in portions of this size
constexpr uint32_t kFirstStrings = 256;       // entries of the table within the stream's page

constinit std::atomic<uint32_t> g_streams{0};  // that Open() made and that live

void* MakePage() {
  if (!ThreadStream::MayRecord() || !TakeThreadBudget(format::kPageBytes)) return nullptr;
  void* page = sys::MapMemory(format::kPageBytes);
  if (page != nullptr) g_streams.fetch_add(1, std::memory_order_relaxed);
  return page;
}

}  // namespace

// --- life ---------------------------------------------------------------------------------------

// Threads that ask in the same moment may pass it by a few.
bool ThreadStream::HasPlace() {
  const uint32_t most = Control()->max_streams;
  return most == 0 || g_streams.load(std::memory_order_relaxed) < most;
}

void ThreadStream::ForgetStreams() { g_streams.store(0, std::memory_order_relaxed); }

ThreadStream* ThreadStream::Open() {
  if (Control() == nullptr || !StartOverIfForked(false)) return nullptr;
  static_assert(sizeof(ThreadStream) + kFirstStrings * 8 <= format::kPageBytes);
  void* page = MakePage();
  if (page == nullptr) {
    ReturnAllThreadBudget();
    AddCounter(Counter::kThreadsUnrecorded);
    return nullptr;
  }
  sys::Advise(page, format::kPageBytes, MADV_WIPEONFORK);
  auto* stream = static_cast<ThreadStream*>(page);
  stream->Start();
  t_thread.stream = stream;
  CallAtThreadExit();
  return stream;
}

// The page is zero: no chunk, no room, no strings.
void ThreadStream::Start() {
  tid_ = static_cast<uint32_t>(sys::Tid());
  if (t_thread.index_plus_1 == 0) {
    t_thread.index_plus_1 = g_process.next_thread_index.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  index_ = t_thread.index_plus_1 - 1;
  next_chunk_bytes_ = FirstChunkBytes();
  strings_.Use(reinterpret_cast<char*>(this) + sizeof *this, kFirstStrings);
  started_ = true;
}

void ThreadStream::StartScratch(const Chunk& chunk) {
  Start();
  chunk_ = chunk;
  cursor_ = chunk.base + sizeof(format::ChunkHeader);
  limit_ = chunk.base + chunk.bytes;
  base_ticks_ = Ticks();
  next_measure_ = kMaxDelta;
  capture_index_ = SessionState() >> 1;
  scratch_ = true;
}

// This page was wiped: we are in a child that the program made without the C library's fork.
// Another thread may have found that out before, and taken the file.
bool ThreadStream::Revive() {
  if (!StartOverIfForked(true)) return false;
  t_thread.budget_bytes = 0;  // the parent's
  t_thread.chunk_count = 0;
  t_thread.index_plus_1 = 0;
  TakeThreadBudget(format::kPageBytes);
  g_streams.fetch_add(1, std::memory_order_relaxed);
  Start();
  t_thread.stream = this;
  return true;
}

void ThreadStream::CloseCurrent(const Guard&) {
  ThreadStream* stream = t_thread.stream;
  if (stream == nullptr) return;
  sys::ErrnoSaver errno_saver;
  t_thread.stream = nullptr;
  if (!stream->started_) return;  // a child's copy of its parent's thread
  if (stream->chunk_.base != nullptr) {
    stream->WriteThreadName();
    stream->WriteCounters();
    stream->delta_ = Ticks() - stream->base_ticks_;
    stream->Write(format::ThreadExitRecord{});
    stream->Retire(stream->CloseOpenChunk());
  }
  stream->Unmap();
  ReturnAllThreadBudget();
}

// The chunk may end in half a record, whose head is still zero: readers stop there. It is not
// touched, since the thread may have been about to close it.
void ThreadStream::Abandon(bool is_over) {
  ThreadStream* stream = t_thread.stream;
  if (stream != nullptr && stream->scratch_) return;
  t_thread.stream = nullptr;
  if (!is_over) {
    t_thread.budget_bytes = 0;  // stays taken
  } else {
    if (stream != nullptr && stream->started_) stream->Unmap();
    ReturnAllThreadBudget();  // also for what had not become part of the stream yet
  }
  ++t_thread.chunk_count;  // a number left out tells readers that events may be missing here
  Control()->events_cut_off.fetch_add(1, std::memory_order_relaxed);
}

void ThreadStream::Unmap() {
  const Chunk chunk = chunk_;
  if (chunk.base != nullptr) inject::CloseChunk(chunk);
  if (kept_.base != nullptr) inject::CloseChunk(kept_);
  strings_.ReleaseGrown();
  sys::Unmap(this, format::kPageBytes);
  g_streams.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadStream::Seal() {
  if (chunk_.base == nullptr) return;
  WriteThreadName();
  WriteCounters();
  // Unmapped by the kernel when the process has ended: below FUSE that waits for the server, which
  // would hold up the program's own ends, as of what it has printed.
  CloseOpenChunk();
}

// --- room ---------------------------------------------------------------------------------------

bool ThreadStream::EnsureSlow(size_t bytes) {
  if (scratch_) return false;
  sys::ErrnoSaver errno_saver;
  if (!started_ && !Revive()) return false;
  const uint32_t capture_index = SessionState() >> 1;
  const uint64_t delta = Ticks() - base_ticks_;
  if (chunk_.base != nullptr && !lost_ && capture_index_ == capture_index && delta <= kMaxDelta &&
      Populate(bytes)) {
    if (delta > next_measure_) MeasureClock(delta);
    delta_ = delta;
    return true;
  }
  const ChunkFault fault = SwitchChunk(bytes);
  if (fault != ChunkFault::kNone) return Drop(fault);
  if (writing_facts_) return true;
  if (FactsPending(capture_index_)) {
    WriteFacts();
    return Ensure(bytes);  // the facts took the room, or went on into further chunks
  }
  WriteOpening();
  return static_cast<size_t>(limit_ - cursor_) >= bytes || Populate(bytes);
}

// Moves the limit within the open chunk. Taking the page faults here, many at once, keeps them out
// of the events; and pages that a short-lived thread does not reach cost nothing.
bool ThreadStream::Populate(size_t bytes) {
  char* end = chunk_.base + chunk_.bytes - kCloseReserve;
  // The cursor may be in the reserve already: counters of what was dropped.
  if (cursor_ > end || static_cast<size_t>(end - cursor_) < bytes) return false;
  if (static_cast<size_t>(limit_ - cursor_) >= bytes) return true;
  char* from = chunk_.base + static_cast<size_t>(limit_ - chunk_.base) / 4096 * 4096;
  size_t portion = static_cast<size_t>(cursor_ + bytes - from);
  if (portion < kPopulateBytes) portion = kPopulateBytes;
  const size_t left = chunk_.bytes - static_cast<size_t>(from - chunk_.base);
  if (portion > left) portion = left;
  const long result = sys::Call(SYS_madvise, from, portion, MADV_POPULATE_WRITE);
  if (result != 0 && result != -EINVAL && result != -EINTR && result != -EAGAIN) return false;
  limit_ = from + portion < end ? from + portion : end;
  return static_cast<size_t>(limit_ - cursor_) >= bytes;
}

// The old chunk is closed only when the new one is there: while the disk is full, the count of what
// is lost is kept up in the old one.
ChunkFault ThreadStream::SwitchChunk(size_t bytes) {
  const size_t least = sizeof(format::ChunkHeader) + 2 * kCloseReserve + bytes;
  if (least > MaxChunkBytes() + 4 * StringBytes(format::kMaxStringBytes)) {
    return ChunkFault::kBudget;
  }
  Chunk next;
  const uint32_t capture_index = SessionState() >> 1;
  const ChunkFault fault =
      OpenChunk(next_chunk_bytes_, static_cast<uint32_t>(least), chunk_.bytes, &next);
  if (fault != ChunkFault::kNone) return fault;
  if (chunk_.base != nullptr) Retire(CloseOpenChunk());
  StartChunk(next, capture_index);
  if (next_chunk_bytes_ < MaxChunkBytes()) next_chunk_bytes_ *= 2;
  return Populate(bytes) ? ChunkFault::kNone : ChunkFault::kFile;
}

void ThreadStream::StartChunk(const Chunk& chunk, uint32_t capture_index) {
  NoteSignalStack();
  const ClockPair clock = ReadClockPair();
  auto* header = new (chunk.base) format::ChunkHeader{};
  header->version = format::kFormatVersion;
  header->header_bytes = sizeof *header;
  header->chunk_bytes = chunk.bytes;
  header->pid = g_process.pid;
  header->tid = tid_;
  header->thread_index = index_;
  // A number left out tells readers that events are missing here.
  if (lost_) ++t_thread.chunk_count;
  lost_ = false;
  header->chunk_index = t_thread.chunk_count++;
  header->capture_index = capture_index;
  header->clock_kind = static_cast<uint32_t>(g_clock_kind);
  header->attach_ns = g_process.attach_ns;
  header->base_ticks = clock.ticks;
  header->base_monotonic_ns = clock.monotonic_ns;
  header->ticks_per_second = TicksPerSecond(clock);
  std::atomic_ref(header->magic).store(format::kChunkMagic, std::memory_order_release);
  chunk_.bytes = chunk.bytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  chunk_.base = chunk.base;
  cursor_ = limit_ = chunk.base + sizeof *header;
  base_ticks_ = clock.ticks;
  next_measure_ = kFirstMeasure;
  delta_ = 0;
  capture_index_ = capture_index;
  next_string_ = 0;
  drop_values_[0] = drop_values_[1] = nullptr;
  strings_.Clear();
  recent_.Clear();
  name_[0] = 0;
  AddCounter(Counter::kChunksWritten);
}

// In a chunk that is never closed, because the program was killed, times stay exact: the rate in
// its header was measured over at least half of the chunk's life.
void ThreadStream::MeasureClock(uint64_t delta) {
  auto* header = reinterpret_cast<format::ChunkHeader*>(chunk_.base);
  std::atomic_ref(header->ticks_per_second)
      .store(TicksPerSecond(ReadClockPair()), std::memory_order_relaxed);
  while (next_measure_ < delta) next_measure_ *= 2;
  if (next_measure_ > kMaxDelta) next_measure_ = kMaxDelta;
}

Chunk ThreadStream::CloseOpenChunk() {
  auto* header = reinterpret_cast<format::ChunkHeader*>(chunk_.base);
  const ClockPair clock = ReadClockPair();
  header->end_ticks = clock.ticks;
  header->end_monotonic_ns = clock.monotonic_ns;
  std::atomic_ref(header->used_bytes)
      .store(static_cast<uint32_t>(position()), std::memory_order_release);
  const Chunk closed = chunk_;
  chunk_.base = nullptr;  // first: Abandon() unmaps what is there
  base_ticks_ = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  chunk_.bytes = 0;
  cursor_ = limit_ = nullptr;
  return closed;
}

void ThreadStream::Retire(const Chunk& chunk) {
  const Chunk before = kept_;
  kept_ = t_thread.in_place ? chunk : Chunk{};
  if (before.base != nullptr) inject::CloseChunk(before);
  if (kept_.base == nullptr) inject::CloseChunk(chunk);
}

// Counts a lost event. The thread's chunk ends here, so that its calls do not pair across the gap;
// a Counter record at the end says what was lost, and is kept up to date until there is a next
// chunk.
bool ThreadStream::Drop(ChunkFault fault) {
  const bool budget = fault == ChunkFault::kBudget;
  const Counter counter = budget ? Counter::kEventsDroppedBudget : Counter::kEventsDroppedFile;
  AddCounter(counter);
  lost_ = true;
  if (chunk_.base == nullptr) {
    if (!HasProcessFile() && !WasLeftOut()) {
      Control()->events_unfiled.fetch_add(1, std::memory_order_relaxed);
    }
    return false;
  }
  uint64_t*& value = drop_values_[budget ? 0 : 1];
  if (value == nullptr) {
    value = reinterpret_cast<uint64_t*>(cursor_ + offsetof(format::CounterRecord, value));
    Write(format::CounterRecord{.counter = static_cast<uint32_t>(counter), .value = 0});
    limit_ = cursor_;
  }
  std::atomic_ref(*value).store(CounterValue(counter), std::memory_order_relaxed);
  return false;
}

// --- records ------------------------------------------------------------------------------------

uint32_t ThreadStream::CutLength(const void* bytes, size_t count) {
  if (count <= format::kMaxStringBytes) return static_cast<uint32_t>(count);
  AddCounter(Counter::kStringsTruncated);
  // Not within a UTF-8 sequence.
  const auto* text = static_cast<const unsigned char*>(bytes);
  uint32_t cut = format::kMaxStringBytes;
  while (cut > format::kMaxStringBytes - 4 && (text[cut] & 0xc0) == 0x80) --cut;
  return cut;
}

format::StringRef ThreadStream::InternOther(const char* text, size_t bytes) {
  if (bytes > format::kMaxStringBytes) bytes = CutLength(text, bytes);
  if (bytes == 0) return 0;
  const uint64_t hash = HashBytes(text, bytes);
  const StoredString* string = strings_.Find(chunk_.base, text, bytes, hash);
  if (string == nullptr) string = DefineString(text, bytes, hash);
  recent_.Remember(chunk_.base, text, string);
  return string->id;
}

const StoredString* ThreadStream::DefineString(const char* text, size_t bytes, uint64_t hash) {
  const uint32_t fields[2] = {++next_string_, static_cast<uint32_t>(bytes)};
  const size_t offset = WriteLong(format::RecordKind::kString, fields, sizeof fields, text, bytes);
  strings_.Insert(chunk_.base, hash, static_cast<uint32_t>(offset));
  return reinterpret_cast<const StoredString*>(chunk_.base + offset);
}

// Writes a record of any length and returns where its fields lie in the chunk. Padding is zero
// because the chunk is.
size_t ThreadStream::WriteLong(format::RecordKind kind, const void* fields, size_t field_bytes,
                               const void* bytes, size_t count) {
  size_t total = 8 + field_bytes + Align8(count);
  char* to = cursor_ + 8;
  const bool long_form = total / 8 > 255;
  if (long_form) {
    total += 8;
    const uint64_t words = total / 8;
    std::memcpy(to, &words, 8);
    to += 8;
  }
  const size_t fields_offset = static_cast<size_t>(to - chunk_.base);
  std::memcpy(to, fields, field_bytes);
  std::memcpy(to + field_bytes, bytes, count);
  const uint64_t head =
      format::MakeHead(static_cast<uint8_t>(kind), long_form ? 0 : total / 8, delta_);
  std::atomic_ref(*reinterpret_cast<uint64_t*>(cursor_)).store(head, std::memory_order_release);
  cursor_ += total;
  return fields_offset;
}

void ThreadStream::WriteRaw(uint8_t kind, const void* record, size_t bytes) {
  std::memcpy(cursor_ + 8, static_cast<const char*>(record) + 8, bytes - 8);
  Publish(kind, bytes, delta_);
}

void ThreadStream::Rewind(size_t bytes) {
  cursor_ -= bytes;
  // Readers see the head vanish first.
  std::atomic_ref(*reinterpret_cast<uint64_t*>(cursor_)).store(0, std::memory_order_release);
  std::memset(cursor_, 0, bytes);
}

void ThreadStream::WriteFacts() {
  writing_facts_ = true;
  WriteUnwrittenFacts(*this);
  writing_facts_ = false;
  WriteOpening();
}

// What each chunk starts with, after the facts if it has any.
void ThreadStream::WriteOpening() {
  if (chunk_.base == nullptr || !Populate(2 * kCloseReserve)) return;
  WriteThreadName();
  WriteCounters();
}

// The kernel's name of the calling thread, if it is not the one last written.
void ThreadStream::WriteThreadName() {
  char name[16] = {};
  if (sys::Call(SYS_prctl, PR_GET_NAME, name) != 0 || std::memcmp(name, name_, sizeof name) == 0) {
    return;
  }
  std::memcpy(name_, name, sizeof name);
  const format::StringRef id = Intern(name, strnlen(name, sizeof name));
  Write(format::ThreadNameRecord{.tid = tid_, .source = 0, .name = id});
}

void ThreadStream::WriteCounters() {
  constexpr auto kEnd = static_cast<uint32_t>(Counter::kEnd);
  constexpr size_t kKeepForExit = 64;
  const char* end = chunk_.base + chunk_.bytes - kKeepForExit;
  for (uint32_t i = 1; i < kEnd; ++i) {
    const uint64_t value = CounterValue(static_cast<Counter>(i));
    if (value == 0) continue;
    if (static_cast<size_t>(end - cursor_) < sizeof(format::CounterRecord)) return;
    Write(format::CounterRecord{.counter = i, .value = value});
  }
}

}  // namespace batchlight::inject
