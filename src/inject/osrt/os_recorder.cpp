#include "inject/osrt/os_recorder.h"

#include <cstring>

#include "inject/backtrace/thread_backtraces.h"
#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/osrt/open_files.h"
#include "inject/osrt/wake_table.h"
#include "inject/rt/control.h"
#include "inject/rt/option_number.h"
#include "inject/rt/thread_exit.h"
#include "inject/rt/tick_threshold.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace batchlight::inject::osrt {
namespace {

using format::OsCallCountRecord;
using format::OsCallRecord;

// The thread's sums, which lie in its chunk.
struct ThreadCounts {
  uint64_t base_ticks;  // of the chunk
  OsCallCountRecord* places[kCallNumbers];
};
static_assert(sizeof(ThreadCounts) <= format::kPageBytes);

constinit __thread ThreadCounts* t_counts = nullptr;  // a page, on first use
char g_gone;  // t_counts of a thread that has ended: what its libraries still do is not recorded
ThreadCounts* Gone() { return reinterpret_cast<ThreadCounts*>(&g_gone); }

constexpr size_t kMostPathBytes = 1024;
constinit TickThreshold g_threshold;
// Longer calls have the stack that they are made from, of so many frames; 0 = none.
constinit TickThreshold g_backtrace_threshold;
size_t g_backtrace_frames = 0;
WakeTable g_wakes;

uint64_t Since(uint64_t begin) {
  const uint64_t now = Ticks();
  return now > begin ? now - begin : 0;
}

bool IsShort(uint64_t ticks) { return g_threshold.IsAbove(ticks); }

ThreadCounts* MapCounts() {
  if (!ThreadStream::MayRecord() || !TakeBudget(format::kPageBytes)) return nullptr;
  auto* counts = static_cast<ThreadCounts*>(sys::MapMemory(format::kPageBytes));
  if (counts == nullptr) {
    ReturnBudget(format::kPageBytes);
    return nullptr;
  }
  sys::Advise(counts, format::kPageBytes, MADV_WIPEONFORK);
  t_counts = counts;
  CallAtThreadExit();
  return counts;
}

// Neither recorded nor counted.
[[gnu::cold, gnu::noinline]] void Lose() {
  if (Collecting() && t_counts != Gone() && !t_thread.calls_out)
    AddCounter(format::Counter::kOsCallsUncounted);
}

// The sum's record in the thread's open chunk; defines it if need be.
[[gnu::noinline]] OsCallCountRecord* Place(const Guard& guard, OsCall call) {
  ThreadCounts* counts = t_counts != nullptr ? t_counts : MapCounts();
  ThreadStream* stream = counts != nullptr ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr) {
    Lose();
    return nullptr;
  }
  if (!stream->Ensure(sizeof(OsCallCountRecord))) return nullptr;  // which counts it
  if (counts->base_ticks != stream->base_ticks()) {
    std::memset(counts->places, 0, sizeof counts->places);
    counts->base_ticks = stream->base_ticks();
    g_threshold.Learn();
    g_backtrace_threshold.Learn();
  }
  OsCallCountRecord*& place = counts->places[static_cast<uint32_t>(call)];
  if (place == nullptr) {
    place = stream->WriteInPlace(OsCallCountRecord{.call = static_cast<uint32_t>(call)});
  }
  return place;
}

void Count(const Guard& guard, OsCall call, uint64_t ticks, uint64_t bytes) {
  const ThreadCounts* counts = t_counts;
  if (counts == Gone()) return;
  const ThreadStream* stream = t_thread.stream;
  OsCallCountRecord* place = nullptr;
  if (__builtin_expect(counts != nullptr && stream != nullptr, 1) &&
      counts->base_ticks == stream->base_ticks() && counts->base_ticks != 0 &&
      stream->capture_index() == SessionState() >> 1) {
    place = counts->places[static_cast<uint32_t>(call)];
  }
  if (__builtin_expect(place == nullptr, 0)) {
    if (!Collecting()) return;
    place = Place(guard, call);
    if (place == nullptr) return;
  }
  place->calls += 1;
  place->ticks += ticks;
  place->bytes += bytes;
}

// 0: it has none. Otherwise the open chunk has `room` left.
uint32_t StackOf(const Guard& guard, const OsCallRecord& record, ThreadStream& stream,
                 size_t room) {
  if (g_backtrace_frames == 0 || g_backtrace_threshold.IsAbove(record.ticks)) return 0;
  if (!backtrace::Walk(guard, g_backtrace_frames)) return 0;
  return backtrace::Define(guard, stream, room);
}

[[gnu::noinline]] void Record(const Guard& guard, const OsCallRecord& record,
                              const FileName& file = {}) {
  if (!Collecting() || t_counts == Gone()) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  const size_t room = sizeof record + (file.bytes != 0 ? StringBytes(file.bytes) : 0) +
                      sizeof(format::OsBacktraceRecord);
  if (stream == nullptr) return Lose();
  if (!stream->Ensure(room)) return;  // which counts it
  const uint32_t stack = StackOf(guard, record, *stream, room);
  if (!stream->More(room)) return;
  OsCallRecord whole = record;
  if (file.bytes != 0) whole.file = stream->Intern(file.text, file.bytes);
  stream->WriteShort(whole);
  if (stack != 0) stream->Write(format::OsBacktraceRecord{.stack = stack});
}

// --- what the shims call ------------------------------------------------------------------------

void Done(OsCall call, uint64_t begin, int64_t result) {
  const uint64_t ticks = Since(begin);
  Guard guard;
  if (!guard) return Lose();
  if (IsShort(ticks)) return Count(guard, call, ticks, 0);
  Record(guard, {.ticks = ticks, .call = static_cast<uint32_t>(call), .result = result});
}

IoDirection DirectionOf(OsCall call) {
  switch (call) {
#define DIRECTION_Read(name)
#define DIRECTION_Write(name) case OsCall::k_##name:
#define DIRECTION_File(name)
#define DIRECTION_Memory(name)
#define DIRECTION_Poll(name)
#define DIRECTION_Sleep(name)
#define DIRECTION_Lock(name)
#define DIRECTION_Wake(name)
#define DIRECTION_Process(name)
#define OS_CALL(name, number, doing) DIRECTION_##doing(name)
#include "format/os_calls.def"
#undef OS_CALL
    return IoDirection::kWrite;
    default:
      return IoDirection::kRead;
  }
}

void DoneIo(OsCall call, uint64_t begin, int64_t result, int64_t bytes, int descriptor) {
  const uint64_t ticks = Since(begin);
  Guard guard;
  if (!guard) return Lose();
  const uint64_t moved = bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
  if (bytes >= 0) AddIo(descriptor, DirectionOf(call), moved, begin, ticks);
  if (IsShort(ticks)) return Count(guard, call, ticks, moved);
  Record(guard,
         {.ticks = ticks, .call = static_cast<uint32_t>(call), .result = result, .bytes = moved},
         descriptor >= 0 ? NameOf(guard, descriptor) : FileName());
}

// Whether the kernel got as far as to read the path, which else may be anything.
bool WasRead(int64_t result, const char* path) {
  if (path == nullptr) return false;
  return result != -1 || errno == ENOENT || errno == EACCES || errno == ENOTDIR ||
         errno == EEXIST || errno == EISDIR || errno == ELOOP || errno == EPERM;
}

void DonePath(OsCall call, uint64_t begin, int64_t result, const char* path) {
  const uint64_t ticks = Since(begin);
  Guard guard;
  if (!guard) return Lose();
  // Somebody may have closed it without us: close_range, the C library itself.
  if (result >= 0 && result <= INT32_MAX && t_counts != Gone()) {
    ReopenFile(guard, static_cast<int>(result));
  }
  if (IsShort(ticks)) return Count(guard, call, ticks, 0);
  const size_t bytes = WasRead(result, path) ? strnlen(path, kMostPathBytes) : 0;
  Record(guard, {.ticks = ticks, .call = static_cast<uint32_t>(call), .result = result},
         {path, static_cast<uint32_t>(bytes)});
}

void DoneWait(OsCall call, uint64_t begin, int64_t result, const volatile void* object,
              uint32_t holder) {
  const uint64_t ticks = Since(begin);
  Guard guard;
  if (!guard) return Lose();
  if (IsShort(ticks)) return Count(guard, call, ticks, 0);
  Record(guard, {.ticks = ticks,
                 .call = static_cast<uint32_t>(call),
                 .released_by = holder != 0 ? holder : g_wakes.Waker(object, begin),
                 .result = result,
                 .object = reinterpret_cast<uintptr_t>(object)});
}

void CountOnly(OsCall call) {
  Guard guard;
  if (!guard) return Lose();
  Count(guard, call, 0, 0);
}

void Wake(OsCall call, const volatile void* object) {
  Guard guard;
  if (!guard) return Lose();
  Count(guard, call, 0, 0);
  const ThreadStream* stream = t_thread.stream;
  if (stream != nullptr) g_wakes.Wake(object, stream->tid(), Ticks());
}

void Closing(int descriptor) {
  Guard guard;
  if (guard && t_counts != Gone()) CloseFile(guard, descriptor);
}

void SayWhy(const char* text) {
  Guard guard;
  if (guard) Reason(guard, "osrt", text);
}

uint64_t SlowTicks() { return Ticks(); }

OsApi g_api = {nullptr,  nullptr,   Done, DoneIo,  DonePath,
               DoneWait, CountOnly, Wake, Closing, SayWhy};

}  // namespace

void PrepareOsCalls() {
  if (!Traces(format::kTraceOs)) return;
  const char* const extra = Control()->extra;
  g_threshold.Set(OptionNumber(extra, "osrt.threshold_ns="));
  g_backtrace_threshold.Set(OptionNumber(extra, "osrt.backtrace_ns="));
  g_backtrace_frames = OptionNumber(extra, "osrt.backtrace_frames=");
  PrepareOpenFiles();
  g_api.ticks = g_clock_kind == format::ClockKind::kTsc ? nullptr : SlowTicks;
  g_api.state = g_state.load(std::memory_order_relaxed);
}

const OsApi* Api() { return g_api.state != nullptr ? &g_api : nullptr; }

void SayOpenFiles(const Guard& guard) {
  if (Api() != nullptr) CloseAllFiles(guard);
}

void ReleaseOsCalls() {
  if (Api() == nullptr) return;
  ThreadCounts* counts = t_counts;
  t_counts = Gone();
  if (counts == nullptr || counts == Gone()) return;
  sys::Unmap(counts, format::kPageBytes);
  ReturnBudget(format::kPageBytes);
}

}  // namespace batchlight::inject::osrt
