// What a process says of its Python frames is anybody's: offsets, lists and texts that mean harm.
#include "capture/python/frame_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file.h"
#include "capture/loop/clock.h"
#include "capture/python/code_names.h"
#include "capture/python/python_log.h"
#include "capture/python/sampled_process.h"
#include "format/decode.h"

namespace batchlight::capture {
namespace {

constexpr uint64_t kCodeType = 0x1234;
constexpr uint32_t kCompactKind1 = 1 << 2 | 1 << 5;

// A str that is compact and not ASCII.
struct Text {
  uint64_t head[2] = {};
  std::atomic<uint64_t> length{5};
  uint64_t hash = 0;
  uint32_t state = kCompactKind1;
  uint32_t unused[9] = {};
  char data[4096];

  Text() { std::fill(std::begin(data), std::end(data), 'A'); }
};
static_assert(offsetof(Text, data) == 72);

struct Code {
  uint64_t references = 1;
  uint64_t type = kCodeType;
  uint32_t first_line = 3;
  const void* file = nullptr;
  const void* name = nullptr;
  const void* table = nullptr;
  uint64_t unused[16] = {};
};

struct Frame {
  const Code* code = nullptr;
  const Frame* back = nullptr;
  uint64_t place = 0;
};

struct Thread {
  const Thread* newer = nullptr;
  const Thread* older = nullptr;
  const Frame* frame = nullptr;
  uint64_t tid = 7;
  uint64_t unused[60] = {};
};

uint64_t At(const void* place) { return reinterpret_cast<uint64_t>(place); }

// Of structs as above, in this process.
cpython::ProcessFrames OwnFrames(const Thread& thread) {
  cpython::ProcessFrames where{};
  where.pid = static_cast<uint32_t>(getpid());
  where.tid = 7;
  where.thread_tid = offsetof(Thread, tid);
  where.thread_state = At(&thread);
  where.code_type = kCodeType;
  where.layout = {.object_type = offsetof(Code, type),
                  .object_size = 16,
                  .thread_frame = offsetof(Thread, frame),
                  .frame_code = offsetof(Frame, code),
                  .frame_back = offsetof(Frame, back),
                  .frame_place = offsetof(Frame, place),
                  .place_unit = 1,
                  .code_first_line = offsetof(Code, first_line),
                  .code_file = offsetof(Code, file),
                  .code_name = offsetof(Code, name),
                  .code_table = offsetof(Code, table),
                  .bytes_data = 32,
                  .text_length = offsetof(Text, length),
                  .text_state = offsetof(Text, state),
                  .ascii_data = 48,
                  .compact_data = offsetof(Text, data),
                  .table_kind = cpython::LineTableKind::kPairs};
  return where;
}

TEST(FrameReader, OffsetsBehindWhatIsCopiedAreRefused) {
  const Thread thread;
  EXPECT_TRUE(FrameReader::CanRead(OwnFrames(thread)));
  using Layout = cpython::FrameLayout;
  for (uint16_t Layout::*const offset :
       {&Layout::object_type, &Layout::thread_frame, &Layout::code_file, &Layout::code_name,
        &Layout::code_table, &Layout::code_first_line, &Layout::text_length, &Layout::text_state,
        &Layout::ascii_data}) {
    cpython::ProcessFrames where = OwnFrames(thread);
    where.layout.*offset = UINT16_MAX;
    EXPECT_FALSE(FrameReader::CanRead(where));
  }
  for (uint32_t cpython::ProcessFrames::*const offset :
       {&cpython::ProcessFrames::thread_tid, &cpython::ProcessFrames::thread_handle}) {
    cpython::ProcessFrames where = OwnFrames(thread);
    where.*offset = UINT32_MAX;
    EXPECT_FALSE(FrameReader::CanRead(where));
  }
}

TEST(FrameReader, LayoutsOfAllPythonsAreRead) {
  const Thread thread;
  for (int minor = 8; minor <= 12; ++minor) {
    const char* why = nullptr;
    cpython::ProcessFrames where = OwnFrames(thread);
    where.layout = *cpython::FindFrameLayout(minor, nullptr, &why);
    EXPECT_TRUE(FrameReader::CanRead(where)) << minor;
  }
}

TEST(FrameReader, AGilIsThereUnlessItsSwitchIsOff) {
  const Thread thread;
  cpython::ProcessFrames where = OwnFrames(thread);
  EXPECT_TRUE(FrameReader(where).HasGil());
  int32_t enabled = 0;
  where.gil_switch = At(&enabled);
  EXPECT_FALSE(FrameReader(where).HasGil());
  enabled = INT32_MAX;
  EXPECT_TRUE(FrameReader(where).HasGil());
  where.gil_switch = 1;  // nowhere
  EXPECT_FALSE(FrameReader(where).HasGil());
}

TEST(FrameReader, ListsWithoutAnEndHaveOne) {
  Thread thread;
  Frame frame;
  thread.newer = thread.older = &thread;
  frame.back = &frame;
  thread.frame = &frame;
  FrameReader reader(OwnFrames(thread));
  std::vector<PythonThread> threads;
  ASSERT_TRUE(reader.ReadThreads(threads));
  EXPECT_LE(threads.size(), 4096u);
  std::vector<PythonFrame> frames;
  uint64_t outermost = 1;
  ASSERT_TRUE(reader.ReadFrames(threads[0].innermost, frames, outermost));
  EXPECT_LE(frames.size(), 512u);
  EXPECT_EQ(outermost, 0u);
}

// A thread's list and its frames have no end, and every frame is at another place of a line table
// of a megabyte: an hour.
TEST(SampledProcess, ALookEnds) {
  std::vector<uint8_t> table(32 + (1 << 20) - 64);
  const uint64_t table_bytes = table.size() - 32;
  std::memcpy(table.data() + 16, &table_bytes, sizeof table_bytes);
  Text text;
  Code code;
  code.file = code.name = &text;
  code.table = table.data();
  std::vector<Frame> frames(512 << 10);
  for (size_t i = 0; i < frames.size(); ++i) {
    frames[i] = {.code = &code, .back = &frames[(i * 7919 + 1) % frames.size()], .place = i};
  }
  std::vector<Thread> threads(4096);
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i].older = &threads[(i + 1) % threads.size()];
    threads[i].frame = &frames[i * 64];
  }
  char folder[] = "/tmp/bl_look_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  auto live_folder = LiveFolder::Create(std::string(folder) + "/run.batchlight.live", false);
  ASSERT_TRUE(live_folder.ok());
  auto log = PythonLog::Create(live_folder.value());
  ASSERT_TRUE(log.ok());
  cpython::ProcessFrames where = OwnFrames(threads[0]);
  where.tid = static_cast<uint32_t>(gettid());
  for (Thread& thread : threads) thread.tid = where.tid;
  SampledProcess process(where);
  constexpr int64_t kMostNs = 100'000'000;
  for (int look = 0; look < 3; ++look) {
    CpuLimit limit(ClockNow(CLOCK_THREAD_CPUTIME_ID), kMostNs);
    EXPECT_TRUE(process.Look(log.value(), limit));
  }
  std::filesystem::remove_all(folder);
}

// A page that cannot be read for a moment, as where it is being moved, is read again later.
TEST(SampledProcess, OneReadThatFailsIsNotItsEnd) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* place = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  Thread* thread = new (place) Thread;
  char folder[] = "/tmp/bl_read_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  auto live_folder = LiveFolder::Create(std::string(folder) + "/run.batchlight.live", false);
  ASSERT_TRUE(live_folder.ok());
  auto log = PythonLog::Create(live_folder.value());
  ASSERT_TRUE(log.ok());
  cpython::ProcessFrames where = OwnFrames(*thread);
  where.tid = static_cast<uint32_t>(gettid());
  SampledProcess process(where);
  const auto look = [&] {
    CpuLimit limit(ClockNow(CLOCK_THREAD_CPUTIME_ID), 100'000'000);
    return process.Look(log.value(), limit);
  };
  for (int round = 0; round < 30; ++round) {
    ASSERT_EQ(mprotect(place, page, PROT_NONE), 0);
    EXPECT_TRUE(look());
    ASSERT_EQ(mprotect(place, page, PROT_READ), 0);
    EXPECT_TRUE(look());
  }
  munmap(place, page);
  int looks = 0;
  while (look() && looks < 1000) ++looks;
  EXPECT_LT(looks, 1000);
  std::filesystem::remove_all(folder);
}

uint64_t SamplesIn(const std::string& file) {
  const auto bytes = ReadWholeFile(file);
  format::ChunkView chunk;
  if (!bytes.ok() ||
      !format::ParseChunk(
          {reinterpret_cast<const uint8_t*>(bytes.value().data()), bytes.value().size()}, &chunk)) {
    return 0;
  }
  uint64_t samples = 0;
  format::RecordReader reader(chunk);
  for (format::RecordView view; reader.Next(view);) {
    if (view.kind != format::RecordKind::kPythonSample) continue;
    samples += view.As<format::PythonSampleRecord>().samples;
  }
  return samples;
}

// One look for each letter: a thread in a frame of that name, which has no caller; '-': in none.
// How many of them were believed.
uint64_t BelievedOf(std::string_view outermost) {
  Text text;
  Code code;
  code.file = code.name = &text;
  std::vector<Frame> frames(128, Frame{.code = &code});
  Thread thread;
  char folder[] = "/tmp/bl_base_XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  auto live_folder = LiveFolder::Create(std::string(folder) + "/run.batchlight.live", false);
  auto log = PythonLog::Create(live_folder.value());
  cpython::ProcessFrames where = OwnFrames(thread);
  where.tid = static_cast<uint32_t>(gettid());
  SampledProcess process(where);
  for (const char name : outermost) {
    thread.frame = name == '-' ? nullptr : &frames[static_cast<size_t>(name)];
    CpuLimit limit(ClockNow(CLOCK_THREAD_CPUTIME_ID), 1'000'000'000);
    EXPECT_TRUE(process.Look(log.value(), limit));
  }
  process.Flush(log.value());
  const uint64_t samples = SamplesIn(std::string(folder) + "/run.batchlight.live/" + kPythonFile);
  std::filesystem::remove_all(folder);
  return samples;
}

TEST(SampledProcess, AStackThatEndsElsewhereIsBelievedWhenTheNextLookFindsTheSameEnd) {
  EXPECT_EQ(BelievedOf("AAAA"), 4u);
  EXPECT_EQ(BelievedOf("ABBB"), 3u);
  EXPECT_EQ(BelievedOf("ABC"), 1u);    // each is of something that had just yielded
  EXPECT_EQ(BelievedOf("AB-CC"), 3u);  // out of Python everything ends
}

TEST(SampledProcess, StacksThatOftenEndElsewhereAreAllBelieved) {
  std::string two, many;
  for (int i = 0; i < 50; ++i) {
    two += "AB";
    many += {static_cast<char>('A' + i), static_cast<char>('A' + i)};
  }
  EXPECT_GE(BelievedOf(two), 90u);
  EXPECT_GE(BelievedOf(many), 90u);
  EXPECT_GE(BelievedOf("ABCDEFGHIJKLMNOPQRST"), 16u);
  // Now and then is not often.
  std::string seldom;
  for (int i = 0; i < 10; ++i) seldom += "AAAAAAAAAAAAAAAAAAAB";
  EXPECT_EQ(BelievedOf(seldom), 190u);
}

// The process runs on while it is read, so a text may grow between two looks at it.
TEST(CodeNames, ATextThatChangesIsNotReadBeyondItsCopy) {
  Thread thread;
  Text text;
  Code code;
  code.file = code.name = &text;
  FrameReader reader(OwnFrames(thread));
  std::atomic<bool> over{false};
  std::thread changes([&] {
    while (!over) {
      text.length = 2;
      text.length = 1000;
    }
  });
  const std::vector<PythonFrame> frames = {{.code = At(&code)}};
  std::vector<NamedFrame> named;
  size_t others = 0;
  for (int round = 0; round < 20'000; ++round) {
    ++code.first_line;  // another function, as far as can be told
    CodeNames names;
    if (!names.Name(reader, frames, named)) continue;
    others += named[0].code->file.find_first_not_of('A') != std::string::npos;
  }
  over = true;
  changes.join();
  EXPECT_EQ(others, 0u);
}

size_t ResidentBytes() {
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// As of a program that compiles functions for ever.
TEST(CodeNames, LargeLineTablesAreNotKeptForEver) {
  constexpr size_t kTableBytes = 1 << 20, kCodes = 1500, kAtOnce = 100;
  Thread thread;
  Text text;
  std::vector<uint64_t> table(kTableBytes / sizeof(uint64_t) + 8);
  table[2] = kTableBytes;
  std::vector<Code> codes(kCodes);
  for (Code& code : codes) {
    code.file = code.name = &text;
    code.table = table.data();
  }
  FrameReader reader(OwnFrames(thread));
  CodeNames names;
  const size_t before = ResidentBytes();
  for (size_t begin = 0; begin < kCodes; begin += kAtOnce) {
    std::vector<PythonFrame> frames;
    for (size_t i = 0; i < kAtOnce; ++i) frames.push_back({.code = At(&codes[begin + i])});
    std::vector<NamedFrame> named;
    ASSERT_TRUE(names.Name(reader, frames, named));
    EXPECT_EQ(named[0].line, 3u);
  }
  constexpr size_t kMost = 700 << 20;  // a sanitizer keeps for a while what was given back
  EXPECT_LT(ResidentBytes(), before + kMost);
}

}  // namespace
}  // namespace batchlight::capture
