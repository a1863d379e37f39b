// A thread's stream of records: the only way into the recording.
//
//   Guard guard;
//   if (!guard || !Collecting()) return;
//   ThreadStream* stream = ThreadStream::Current(guard);
//   if (stream == nullptr ||
//       !stream->Ensure(sizeof(ModuleBeginRecord) + StringBytes(n) + StringBytes(m))) return;
//   ModuleBeginRecord record{.path = stream->Intern(path, n), .class_name = stream->Intern(c, m)};
//   stream->Write(record);
//
// Ensure() makes room for the whole batch and may open another chunk, which voids earlier string
// ids. It also reads the clock: that instant is the time of the batch. Ensure() and Current() count
// what cannot be written; callers just return.
//
// The memory of a stream is one page: this object, then the first string table. A forked child sees
// the page as zeros (MADV_WIPEONFORK), so that even after a raw clone(2) no child writes into its
// parent's chunk: every Ensure() finds no room and takes the slow path.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "format/records.h"
#include "inject/buffer/chunk_file.h"
#include "inject/buffer/string_table.h"
#include "inject/rt/clock.h"
#include "inject/rt/control.h"
#include "inject/rt/guard.h"
#include "inject/rt/text.h"

namespace batchlight::inject {

constexpr size_t Align8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

// Room that a record followed by `bytes` bytes takes at most, cut to the format's limit.
constexpr size_t BytesRecordBytes(size_t record_bytes, size_t bytes) {
  return record_bytes + 8 +
         Align8(bytes < format::kMaxStringBytes ? bytes : format::kMaxStringBytes);
}
// Room that Intern() of a string takes at most.
constexpr size_t StringBytes(size_t bytes) {
  return BytesRecordBytes(sizeof(format::StringRecord), bytes);
}

// For who changes records where they lie, without a Guard: while it lives, the chunk that was open
// last stays mapped, though a signal handler or what the thread allocates meanwhile open the next
// one. Two chunks opened in one such moment, by a handler that writes a lot, are not foreseen.
class InPlace {
 public:
  InPlace() : before_(t_thread.in_place) {
    t_thread.in_place = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~InPlace() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread.in_place = before_;
  }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

 private:
  const bool before_;
};

class ThreadStream {
 public:
  // The calling thread's stream, opened on first use. nullptr (counted) when there is no session or
  // no memory for one.
  static ThreadStream* Current(const Guard&) {
    ThreadStream* stream = t_thread.stream;
    return __builtin_expect(stream != nullptr, 1) ? stream : Open();
  }

  // Whether the thread has a stream or may open one. For what maps memory of its own for a thread:
  // the kernel allows a process so many mappings, and they are the program's.
  static bool MayRecord() { return t_thread.stream != nullptr || HasPlace(); }
  static void ForgetStreams();  // in a forked child, which has none of its parent's threads

  // Room for `bytes` of records in one chunk of the present capture, and the time of the records.
  // False: the event is dropped, and counted.
  bool Ensure(size_t bytes) {
    const uint64_t delta = Ticks() - base_ticks_;
    if (__builtin_expect(static_cast<size_t>(limit_ - cursor_) >= bytes &&
                             SessionState() >> 1 == capture_index_ && delta <= next_measure_,
                         1)) {
      delta_ = delta;
      return true;
    }
    return EnsureSlow(bytes);
  }

  // More room than the last Ensure() asked for, at the same time. Voids earlier string ids.
  bool More(size_t bytes) {
    return static_cast<size_t>(limit_ - cursor_) >= bytes || EnsureSlow(bytes);
  }

  // Id of a string in this chunk; defines it on first use. Empty: 0.
  format::StringRef Intern(const char* text, size_t bytes) {
    const StoredString* found = recent_.Find(chunk_.base, text, bytes);
    return __builtin_expect(found != nullptr, 1) ? found->id : InternOther(text, bytes);
  }
  format::StringRef Intern(const char* text) { return Intern(text, std::strlen(text)); }
  // For a caller that keeps HashBytes(text, bytes). At most kMaxStringBytes.
  format::StringRef InternHashed(const char* text, size_t bytes, uint64_t hash) {
    if (bytes == 0) return 0;
    const StoredString* found = strings_.Find(chunk_.base, text, bytes, hash);
    return (__builtin_expect(found != nullptr, 1) ? found : DefineString(text, bytes, hash))->id;
  }
  // Id of the NUL-terminated text at this pointer if it is at hand; if not, 0, and Intern() must be
  // asked.
  format::StringRef Recent(const char* text) const {
    const StoredString* found = recent_.FindTerminated(chunk_.base, text);
    return __builtin_expect(found != nullptr, 1) ? found->id : 0;
  }

  // Appends a record (its head is filled here, last) at the time of Ensure().
  template <class R>
  void Write(const R& record) {
    WriteDelta(record, delta_);
  }
  // For a record that goes on to change where it lies, until the chunk is closed: base_ticks()
  // tells.
  template <class R>
  R* WriteInPlace(const R& record) {
    R* place = reinterpret_cast<R*>(cursor_);
    Write(record);
    return place;
  }
  // At another instant of Ticks(), for events that ended elsewhere.
  template <class R>
  void WriteAt(const R& record, uint64_t ticks) {
    const int64_t delta = static_cast<int64_t>(ticks - base_ticks_);
    WriteDelta(record, delta < 0 ? 0 : static_cast<uint64_t>(delta));
  }
  // Only its first kBytes: the rest is zero, and readers fill that in.
  template <size_t kBytes, class R>
  void WriteFirst(const R& record) {
    static_assert(kBytes % 8 == 0 && kBytes < sizeof(R));
    std::memcpy(cursor_ + 8, reinterpret_cast<const char*>(&record) + 8, kBytes - 8);
    Publish(static_cast<uint8_t>(R::kKind), kBytes, delta_);
  }
  // Without the zero words at its end, which readers fill in: for records that are mostly empty.
  template <class R>
  void WriteShort(const R& record) {
    WriteTrimmed(record, delta_);
  }
  // With `head_time` in place of the time, and without the zero words at the record's end: for
  // records on another clock (CUDA).
  template <class R>
  void WriteTrimmed(const R& record, uint64_t head_time) {
    uint64_t words[sizeof(R) / 8];
    std::memcpy(words, &record, sizeof(R));
    size_t count = sizeof(R) / 8;
    while (count > 1 && words[count - 1] == 0) --count;
    std::memcpy(cursor_ + 8, words + 1, (count - 1) * 8);
    Publish(static_cast<uint8_t>(R::kKind), count * 8, head_time);
  }
  // Ticks of the chunk's time 0. They also tell chunks apart: string ids, time bases and records in
  // place are void once they have changed. 0 = no chunk is open.
  uint64_t base_ticks() const { return base_ticks_; }

  // A record of the kind "+ bytes"; fills its byte_count. Longer payloads are cut and counted.
  template <class R>
  void WriteWithBytes(R record, const void* bytes, size_t count) {
    record.byte_count = CutLength(bytes, count);
    WriteLong(R::kKind, reinterpret_cast<const char*>(&record) + 8, sizeof(R) - 8, bytes,
              record.byte_count);
  }

  // A record whose type is known at run time only; `record` includes the head's place.
  void WriteRaw(uint8_t kind, const void* record, size_t bytes);

  // Writes the facts (facts.h) that the present capture still lacks.
  void WriteFacts();

  // The ticks of the last Ensure().
  uint64_t now() const { return base_ticks_ + delta_; }
  uint32_t tid() const { return tid_; }
  uint32_t capture_index() const { return capture_index_; }  // of the open chunk

  // How much of a string or payload is kept (counts what is cut).
  static uint32_t CutLength(const void* bytes, size_t count);

  // Takes back the last `bytes` written (an exec that failed).
  void Rewind(size_t bytes);
  size_t position() const { return static_cast<size_t>(cursor_ - chunk_.base); }

  // Operators of the thread that were recorded and have not ended.
  uint32_t open_operators() const { return open_operators_; }
  void OperatorBegan() { ++open_operators_; }
  void OperatorEnded() { open_operators_ -= open_operators_ > 0; }

  // Ends this thread's stream: final name and counters, ThreadExit, chunk closed, memory returned.
  static void CloseCurrent(const Guard&);
  // The thread left the recorder in the middle of an event (guard.h). What it had written stays in
  // the recording; the next event opens another stream. If it is not over for certain, the memory
  // stays: it may still be written.
  static void Abandon(bool is_over);
  // Changes with each record; for guard.h.
  static size_t Progress(const ThreadStream* stream) {
    return reinterpret_cast<size_t>(stream->cursor_);
  }

  // The process ends: as above, but later events of the thread may open another chunk. What is
  // mapped stays so.
  void Seal();

  // Turns zeroed memory into a stream whose only chunk is not part of the recording
  // (scratch_stream.h).
  void StartScratch(const Chunk& chunk);
  void EndScratch() { strings_.ReleaseGrown(); }

 private:
  // A record may be written up to seconds after its Ensure().
  static constexpr uint64_t kMaxDelta = format::kMaxTicksInChunk - (uint64_t{1} << 40);
  // The clock's rate is measured again when a chunk is this old, twice this, and so on.
  static constexpr uint64_t kFirstMeasure = uint64_t{1} << 20;
  // Kept free at the end of every chunk for what is written when it closes: counters, thread name,
  // exit.
  static constexpr size_t kCloseReserve = 512;

  [[gnu::cold, gnu::noinline]] static ThreadStream* Open();
  void Start();
  bool Revive();
  [[gnu::cold, gnu::noinline]] bool EnsureSlow(size_t bytes);
  ChunkFault SwitchChunk(size_t bytes);
  void StartChunk(const Chunk& chunk, uint32_t capture_index);
  bool Populate(size_t bytes);
  void MeasureClock(uint64_t delta);
  Chunk CloseOpenChunk();
  void Retire(const Chunk& chunk);
  static bool HasPlace();
  [[gnu::cold, gnu::noinline]] void Unmap();
  void WriteOpening();
  void WriteThreadName();
  void WriteCounters();
  bool Drop(ChunkFault fault);
  [[gnu::noinline]] format::StringRef InternOther(const char* text, size_t bytes);
  [[gnu::cold, gnu::noinline]] const StoredString* DefineString(const char* text, size_t bytes,
                                                                uint64_t hash);
  size_t WriteLong(format::RecordKind kind, const void* fields, size_t field_bytes,
                   const void* bytes, size_t count);

  template <class R>
  void WriteDelta(const R& record, uint64_t delta) {
    static_assert(std::is_trivially_copyable_v<R> && sizeof(R) / 8 < 256);
    std::memcpy(cursor_ + 8, reinterpret_cast<const char*>(&record) + 8, sizeof(R) - 8);
    Publish(static_cast<uint8_t>(R::kKind), sizeof(R), delta);
  }
  // Makes the record at the cursor visible to readers: its head comes last.
  void Publish(uint8_t kind, size_t bytes, uint64_t delta) {
    const uint64_t head = format::MakeHead(kind, bytes / 8, delta);
    std::atomic_ref(*reinterpret_cast<uint64_t*>(cursor_)).store(head, std::memory_order_release);
    cursor_ += bytes;
  }

  char* cursor_;  // next record
  char* limit_;   // records end here: populated memory, before the reserve
  uint64_t base_ticks_;
  uint64_t next_measure_;   // ticks since base
  uint64_t delta_;          // time of the batch: ticks since base
  uint32_t capture_index_;  // of the open chunk
  uint32_t next_string_;
  StringTable strings_;
  Chunk chunk_;
  Chunk kept_;  // the one before, if it was being changed: until the next is closed
  // Rarely used, except for recent_.
  uint64_t* drop_values_[2];  // value fields of the Counter records updated in place
  uint32_t tid_;
  uint32_t index_;
  uint32_t next_chunk_bytes_;
  uint32_t open_operators_;
  bool started_;  // false = wiped by a fork
  bool writing_facts_;
  bool lost_;      // events since the last record of the open chunk
  bool scratch_;   // there is no other chunk
  char name_[16];  // OS name last written
  RecentStrings recent_;
};

}  // namespace batchlight::inject
