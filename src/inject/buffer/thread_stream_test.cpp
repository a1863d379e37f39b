#include "inject/buffer/thread_stream.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "inject/buffer/chunk_file.h"
#include "inject/buffer/facts.h"
#include "inject/collect/operator_levels.h"
#include "inject/native_api.h"
#include "inject/rt/process.h"
#include "inject/testing/read_process.h"

namespace batchlight::inject {
namespace {

using format::RecordKind;

void Mark(const std::string& text) {
  Guard guard;
  ASSERT_TRUE(guard);
  ThreadStream* stream = ThreadStream::Current(guard);
  ASSERT_NE(stream, nullptr);
  ASSERT_TRUE(stream->Ensure(sizeof(format::MarkRecord) + StringBytes(text.size())));
  const format::StringRef message = stream->Intern(text.data(), text.size());
  stream->WriteShort(format::MarkRecord{.message = message});
}

std::vector<std::string> Marks(const std::vector<ReadChunk>& chunks) {
  std::vector<std::string> texts;
  for (const ReadChunk& chunk : chunks) {
    EXPECT_FALSE(chunk.damaged);
    for (const ReadRecord& record : chunk.records) {
      if (record.kind != RecordKind::kMark) continue;
      texts.push_back(chunk.strings.at(record.As<format::MarkRecord>().message));
    }
  }
  return texts;
}

uint32_t ThreadIndex() { return t_thread.index_plus_1 - 1; }

TEST(ThreadStream, RecordsOverManyChunks) {
  std::vector<std::string> wanted;
  uint32_t index = 0;
  std::thread([&] {
    for (int i = 0; i < 30000; ++i) {
      wanted.push_back("mark " + std::to_string(i % 700) + std::string(i % 90, '.'));
      Mark(wanted.back());
    }
    index = ThreadIndex();
  }).join();
  const std::vector<ReadChunk> chunks = ReadThisProcess(index);
  EXPECT_EQ(Marks(chunks), wanted);
  ASSERT_GT(chunks.size(), 4u);
  uint64_t last = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_EQ(chunks[i].header.chunk_index, i);
    EXPECT_NE(chunks[i].header.used_bytes, 0u);
    for (const ReadRecord& record : chunks[i].records) {
      EXPECT_GE(record.ticks, last);
      last = record.ticks;
    }
  }
  EXPECT_EQ(chunks.back().records.back().kind, RecordKind::kThreadExit);
}

bool IsMapped(const void* address) {
  constexpr auto kPage = uintptr_t{format::kPageBytes};
  unsigned char page = 0;
  auto* const begin = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) / kPage * kPage);
  return mincore(begin, 1, &page) == 0;
}

void MarkIntoTheNextChunk() {
  const uint64_t before = t_thread.stream->base_ticks();
  while (t_thread.stream->base_ticks() == before) Mark("filling");
}

// As a signal handler does while its thread adds to a sum.
TEST(ThreadStream, AChunkThatIsBeingChangedStaysForOneMore) {
  uint32_t index = 0;
  std::thread([&] {
    Mark("first");
    ThreadStream* const stream = t_thread.stream;
    format::PythonCallerRecord* sums = nullptr;
    {
      Guard guard;
      ASSERT_TRUE(stream->Ensure(sizeof *sums));
      sums = stream->WriteInPlace(format::PythonCallerRecord{.function = 1});
    }
    {
      const InPlace in_place;
      MarkIntoTheNextChunk();
      sums->self_ticks = 7;
    }
    EXPECT_TRUE(IsMapped(sums));
    MarkIntoTheNextChunk();
    EXPECT_FALSE(IsMapped(sums));
    index = ThreadIndex();
  }).join();
  uint64_t ticks = 0;
  for (const ReadChunk& chunk : ReadThisProcess(index)) {
    for (const ReadRecord& record : chunk.records) {
      if (record.kind != RecordKind::kPythonCaller) continue;
      ticks += record.As<format::PythonCallerRecord>().self_ticks;
    }
  }
  EXPECT_EQ(ticks, 7u);
}

TEST(ThreadStream, TheLastChunkOfAProcessStaysMapped) {
  std::thread([&] {
    Mark("last");
    Guard guard;
    const auto* const place =
        reinterpret_cast<const char*>(ThreadStream::Progress(t_thread.stream));
    t_thread.stream->Seal();
    EXPECT_TRUE(IsMapped(place - 1));
  }).join();
}

// Where the program may take no more memory (`ulimit -v`), each event would try again, and a try
// takes as long as a thousand events.
TEST(ChunkFile, WithoutAddressSpaceItIsNotTriedAgainAtOnce) {
  std::thread([] {
    Guard guard;
    ASSERT_TRUE(guard);
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    Chunk chunk;
    bool waits = false;
    // Once a thread may stand still for longer than the first wait.
    for (int attempt = 0; attempt < 5 && !waits; ++attempt) {
      rlimit none = {1 << 20, before.rlim_max};
      ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
      const ChunkFault fault = OpenChunk(1u << 20, 1u << 20, 0, &chunk);
      ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
      ASSERT_EQ(fault, ChunkFault::kFile);
      waits = OpenChunk(1u << 20, 1u << 20, 0, &chunk) == ChunkFault::kFile;
      if (!waits) CloseChunk(chunk);
    }
    EXPECT_TRUE(waits);
    while (OpenChunk(1u << 20, 1u << 20, 0, &chunk) != ChunkFault::kNone) usleep(10'000);
    CloseChunk(chunk);
  }).join();
}

size_t ResidentPages(const Chunk& chunk) {
  std::vector<unsigned char> pages(chunk.bytes / format::kPageBytes);
  EXPECT_EQ(mincore(chunk.base, chunk.bytes, pages.data()), 0);
  size_t resident = 0;
  for (const unsigned char page : pages) resident += page & 1;
  return resident;
}

// Reading ahead would zero a whole chunk at its first event, while the thread waits.
TEST(ChunkFile, TheFirstTouchTakesFewPages) {
  std::thread([] {
    Guard guard;
    ASSERT_TRUE(guard);
    Chunk chunk;
    ASSERT_EQ(OpenChunk(1u << 20, 1u << 20, 0, &chunk), ChunkFault::kNone);
    ASSERT_EQ(chunk.bytes, 1u << 20);
    if (ResidentPages(chunk) == 0) {  // not on tmpfs, whose files have their pages at once
      chunk.base[0] = 1;
      EXPECT_LE(ResidentPages(chunk), 4u);
    }
    CloseChunk(chunk);
  }).join();
}

TEST(ThreadStream, CutsLongStringsBetweenCharacters) {
  std::string text(format::kMaxStringBytes - 1, 'x');
  text += "\xc3\xa9 and more";
  const uint64_t cut = CounterValue(format::Counter::kStringsTruncated);
  uint32_t index = 0;
  std::thread([&] {
    Mark(text);
    index = ThreadIndex();
  }).join();
  EXPECT_EQ(Marks(ReadThisProcess(index)).at(0), std::string(format::kMaxStringBytes - 1, 'x'));
  EXPECT_EQ(CounterValue(format::Counter::kStringsTruncated), cut + 1);
}

// As a signal handler would, further in.
[[gnu::noinline]] bool EntersFurtherIn() {
  volatile char room[256];
  room[0] = 0;
  Guard guard;
  room[1] = room[0];
  return static_cast<bool>(guard);
}

TEST(ThreadStream, IgnoresTheSecondEntry) {
  const uint64_t ignored = CounterValue(format::Counter::kReentryIgnored);
  Guard first;
  ASSERT_TRUE(first);
  EXPECT_FALSE(EntersFurtherIn());
  EXPECT_FALSE(EntersFurtherIn());  // the second one's end did not let go of the first
  EXPECT_EQ(CounterValue(format::Counter::kReentryIgnored), ignored + 2);
}

sigjmp_buf g_back;

// Enters, writes half an event, and leaves by a jump, as deep in the stack as is asked for.
[[gnu::noinline]] void JumpOutFrom(int depth) {
  volatile char room[256];
  room[0] = static_cast<char>(depth);
  if (depth > 0) {
    JumpOutFrom(depth - 1);
  } else {
    Guard guard;
    ASSERT_TRUE(guard);
    ThreadStream* stream = ThreadStream::Current(guard);
    ASSERT_TRUE(stream->Ensure(1000));
    stream->Intern("half an event");
    siglongjmp(g_back, 1);
  }
  room[1] = room[0];
}

[[gnu::noinline]] bool EntersFrom(int depth) {
  volatile char room[256];
  room[0] = static_cast<char>(depth);
  const bool entered = depth > 0 ? EntersFrom(depth - 1) : EntersFurtherIn();
  room[1] = room[0];
  return entered;
}

TEST(ThreadStream, GoesOnAfterAJumpOutOfIt) {
  uint32_t index = 0;
  const uint32_t cut_off = Control()->events_cut_off;
  std::thread([&] {
    index = ThreadIndex();
    Mark("before");
    if (sigsetjmp(g_back, 1) == 0) JumpOutFrom(20);
    Mark("after");
    index = ThreadIndex();
  }).join();
  EXPECT_EQ(Marks(ReadThisProcess(index)), (std::vector<std::string>{"before", "after"}));
  EXPECT_EQ(Control()->events_cut_off, cut_off + 1);
}

// Nothing tells such calls from a signal handler's, but that they go on and on.
TEST(ThreadStream, GoesOnAfterAJumpWithCallsFromFurtherIn) {
  uint32_t index = 0;
  std::thread([&] {
    Mark("before");
    if (sigsetjmp(g_back, 1) == 0) JumpOutFrom(0);
    EXPECT_FALSE(EntersFrom(20));
    for (int i = 0; i < 200 && !EntersFrom(20); ++i) {
    }
    Mark("after");
    index = ThreadIndex();
  }).join();
  EXPECT_EQ(Marks(ReadThisProcess(index)), (std::vector<std::string>{"before", "after"}));
}

// Threads that end without having come back give back their buffers and locks.
TEST(ThreadStream, EndsInsideTheRecorder) {
  for (int i = 0; i < 300; ++i) {  // of a megabyte each, in a budget of 64
    std::thread([] {
      if (sigsetjmp(g_back, 1) != 0) return;
      Guard guard;
      ASSERT_TRUE(guard);
      ThreadStream* stream = ThreadStream::Current(guard);
      ASSERT_TRUE(stream->Ensure(900'000)) << "no budget";
      const FactGroup facts(guard);
      siglongjmp(g_back, 1);
    }).join();
  }
  Guard guard;
  Property(guard, "after.threads", "that ended inside");  // needs the lock
  EXPECT_FALSE(FactsPending(SessionState() >> 1));
}

TEST(ThreadStream, RewindLeavesNoTrace) {
  uint32_t index = 0;
  std::thread([&] {
    Mark("kept");
    {
      Guard guard;
      ThreadStream* stream = ThreadStream::Current(guard);
      ASSERT_TRUE(stream->Ensure(sizeof(format::ProcessExitRecord)));
      stream->Write(format::ProcessExitRecord{.status = 1, .how = 2});
      stream->Rewind(sizeof(format::ProcessExitRecord));
    }
    Mark("kept too");
    index = ThreadIndex();
  }).join();
  const std::vector<ReadChunk> chunks = ReadThisProcess(index);
  EXPECT_EQ(Marks(chunks), (std::vector<std::string>{"kept", "kept too"}));
  for (const ReadRecord& record : chunks.at(0).records) {
    EXPECT_NE(record.kind, RecordKind::kProcessExit);
  }
}

// Captures start and stop while threads write: every event lies in a chunk of one capture, and what
// was said about the process is in each capture once.
TEST(ThreadStream, FollowsCaptures) {
  constexpr int kThreads = 3, kCaptures = 20;
  static std::atomic<bool> stop{false};
  static std::atomic<int> marks{0};
  format::ControlPage* page = Control();
  const uint32_t first = (page->state >> 1) + 1;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      while (!stop) {
        if (Collecting()) {
          Mark("thread " + std::to_string(t));
          ++marks;
        }
        Guard guard;
        Property(guard, ("key." + std::to_string(t)).c_str(), "value");
        std::this_thread::yield();
      }
    });
    if (t == 0) {
      Guard guard;
      Property(guard, "said.before", "1");
    }
  }
  for (int i = 0; i < kCaptures; ++i) {
    page->state = (first + i) << 1 | format::kStateCollecting;
    const int before = marks;  // however long a loaded machine takes
    while (marks < before + 20) std::this_thread::yield();
    page->state = (first + i) << 1;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  page->state = (first + kCaptures) << 1 | format::kStateCollecting;

  std::map<uint32_t, int> starts, said;
  for (const ReadChunk& chunk : ReadThisProcess()) {
    EXPECT_FALSE(chunk.damaged);
    for (const ReadRecord& record : chunk.records) {
      if (record.kind == RecordKind::kProcessStart) ++starts[chunk.header.capture_index];
      if (record.kind == RecordKind::kProperty &&
          chunk.strings.at(record.As<format::PropertyRecord>().key) == "said.before") {
        ++said[chunk.header.capture_index];
      }
    }
  }
  int captures_seen = 0, captures_told = 0;
  for (int i = 0; i < kCaptures; ++i) {
    const uint32_t capture = first + i;
    if (starts.count(capture) == 0) continue;  // no thread came by
    ++captures_seen;
    EXPECT_EQ(starts[capture], 1);
    EXPECT_LE(said[capture], 1);  // 0: the capture ended before it could be said
    captures_told += said[capture];
  }
  EXPECT_GT(captures_seen, kCaptures / 2);
  EXPECT_GT(captures_told, captures_seen / 2);
}

TEST(Reason, IsSaidOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        Guard guard;
        Reason(guard, "feature", "It is off because of the test.");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int count = 0;
  const uint32_t capture = SessionState() >> 1;
  for (const ReadChunk& chunk : ReadThisProcess()) {
    if (chunk.header.capture_index != capture) continue;
    for (const ReadRecord& record : chunk.records) count += record.kind == RecordKind::kReason;
  }
  EXPECT_EQ(count, 1);
}

// What chunks and streams of this process take now; the main thread's chunk depends on how fast it
// filled its last one.
uint32_t UsedBudget() {
  constexpr uint32_t kAll = 1u << 30;
  Control()->budget_bytes = kAll;
  uint32_t fits = 0;
  for (uint32_t step = kAll; step > 0; step /= 2) {
    if (!TakeBudget(fits + step)) continue;
    ReturnBudget(fits + step);
    fits += step;
  }
  return kAll - fits;
}

// How many of 24 threads that live at once could record an event.
int RecordedOfMany() {
  std::atomic<int> recorded{0}, arrived{0};
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 24; ++t) {
    threads.emplace_back([&] {
      {
        Guard guard;
        ThreadStream* stream = ThreadStream::Current(guard);
        if (stream != nullptr && stream->Ensure(sizeof(format::OpEndRecord))) {
          stream->Write(format::OpEndRecord{});
          ++recorded;
        }
      }
      ++arrived;
      while (!leave) std::this_thread::yield();
    });
    // One after the other: where all take memory for a stream first, none is left for a chunk.
    while (arrived <= t) std::this_thread::yield();
  }
  leave = true;
  for (std::thread& thread : threads) thread.join();
  return recorded;
}

uint64_t Unrecorded() {
  return CounterValue(format::Counter::kThreadsUnrecorded) +
         CounterValue(format::Counter::kEventsDroppedBudget);
}

TEST(ThreadStream, StaysWithinTheBudget) {
  format::ControlPage* page = Control();
  page->budget_bytes = UsedBudget() + (64u << 10);
  const uint64_t lost = Unrecorded();
  const int recorded = RecordedOfMany();
  page->budget_bytes = 0;
  EXPECT_GT(recorded, 1);
  EXPECT_LT(recorded, 12);
  EXPECT_EQ(Unrecorded() - lost, static_cast<uint64_t>(24 - recorded));
}

TEST(ThreadStream, NoMoreThreadsAtOnceThanTheLimit) {
  Control()->max_streams = 8;
  const uint64_t lost = Unrecorded();
  const int recorded = RecordedOfMany(), again = RecordedOfMany();
  Control()->max_streams = 0;
  EXPECT_GT(recorded, 4);  // other tests may have left some
  EXPECT_LE(recorded, 8);
  EXPECT_EQ(again, recorded);  // those that have ended do not count
  EXPECT_EQ(Unrecorded() - lost, static_cast<uint64_t>(2 * (24 - recorded)));
}

TEST(NativeApi, WritesOperators) {
  const batchlight_native_api_t* api = batchlight_native_api();
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api->version, static_cast<uint32_t>(BATCHLIGHT_NATIVE_API_VERSION));
  EXPECT_EQ(api->size_bytes, sizeof *api);
  uint32_t index = 0;
  std::thread([&] {
    EXPECT_EQ(api->op_begin("aten::linear", 41, 0, 7, "\x01\x02", 2), 1);
    api->op_end();
    index = ThreadIndex();
  }).join();
  const ReadChunk chunk = ReadThisProcess(index).at(0);
  int seen = 0;
  for (const ReadRecord& record : chunk.records) {
    if (record.kind == RecordKind::kOpEnd) ++seen;
    if (record.kind != RecordKind::kOpBegin) continue;
    const auto op = record.As<format::OpBeginRecord>();
    EXPECT_EQ(chunk.strings.at(op.name), "aten::linear");
    EXPECT_EQ(chunk.strings.at(op.shapes), "\x01\x02");
    EXPECT_EQ(op.sequence, 41);
    EXPECT_EQ(op.forward_thread, 7u);
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

// Of linear > matmul > mm with two levels: the inner one is a part of what calls it.
TEST(NativeApi, WritesOperatorsDownToALevel) {
  const batchlight_native_api_t* api = batchlight_native_api();
  ASSERT_NE(api, nullptr);
  uint32_t index = 0;
  g_operator_levels = 2;
  std::thread([&] {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(api->op_begin("aten::linear", -1, 0, 0, nullptr, 0), 1);
      EXPECT_EQ(api->collecting(), 1);
      EXPECT_EQ(api->op_begin("aten::matmul", -1, 0, 0, nullptr, 0), 1);
      EXPECT_EQ(api->collecting(), 0) << "its inputs are not described either";
      EXPECT_EQ(api->op_begin("aten::mm", -1, 0, 0, nullptr, 0), 0);
      api->op_end();
      api->op_end();
    }
    index = ThreadIndex();
  }).join();
  g_operator_levels = UINT32_MAX;
  const ReadChunk chunk = ReadThisProcess(index).at(0);
  std::vector<std::string> begun;
  size_t ended = 0;
  for (const ReadRecord& record : chunk.records) {
    if (record.kind == RecordKind::kOpEnd) ++ended;
    if (record.kind != RecordKind::kOpBegin) continue;
    begun.push_back(chunk.strings.at(record.As<format::OpBeginRecord>().name));
  }
  EXPECT_EQ(begun, (std::vector<std::string>{"aten::linear", "aten::matmul", "aten::linear",
                                             "aten::matmul"}));
  EXPECT_EQ(ended, 4u);
}

}  // namespace
}  // namespace batchlight::inject
