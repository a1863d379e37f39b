// Damage costs the damaged chunk, is counted, and never crashes.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "format/records.h"
#include "ingest/dump/trace_text.h"
#include "ingest/open_input.h"
#include "ingest/recording/recording.h"
#include "store/reason_features.h"
#include "tests/support/sealed_bytes.h"

namespace batchlight {
namespace {

using testing_support::SealedBytes;

constexpr int kChunks = 6;
constexpr int kRangesInChunk = 5;

// Chunks of two threads, each with whole ranges of its own.
std::map<std::string, std::string> SmallRecording() {
  std::string text;
  for (int i = 0; i < kChunks; ++i) {
    const std::string base = std::to_string(1000 * (i + 1));
    const int thread = i / (kChunks / 2);
    text += "chunk pid=7 tid=" + std::to_string(70 + thread) + " thread=" + std::to_string(thread) +
            " attach_ns=1 clock=monotonic base_ticks=" + base + " base_ns=" + base +
            " end_ticks=1000000 end_ns=1000000\n";
    for (int k = 0; k < kRangesInChunk; ++k) {
      text += "+" + std::to_string(k * 10) + " RangePush message=\"range " + std::to_string(k) +
              "\"\n+" + std::to_string(k * 10 + 5) + " RangePop\n";
    }
  }
  auto files = AssembleRecording(text);
  EXPECT_TRUE(files.ok()) << files.status().message();
  return files.value();
}

uint64_t Loss(const Store& store, format::Counter counter) {
  uint64_t value = 0;
  for (size_t row = 0; row < store.losses.size(); ++row) {
    if (store.losses.counter[row] == static_cast<uint32_t>(counter)) {
      value += store.losses.value[row];
    }
  }
  return value;
}

class RecordingFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    // In memory, since a disk would have to write out thousands of little files.
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    std::string name = (in_memory ? "/dev/shm" : "/tmp") + std::string("/bl_faults_XXXXXX");
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    // One processor: thousands of tiny files are read faster without starting threads for each.
    ASSERT_EQ(sched_getaffinity(0, sizeof processors_, &processors_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  void TearDown() override {
    sched_setaffinity(0, sizeof processors_, &processors_);
    std::filesystem::remove_all(folder_);
  }

  Result<Store> ReadSealed(std::string_view bytes) {
    const std::string path = folder_ + "/a.batchlight";
    std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
    return ReadRecording(path);
  }

  Result<Store> ReadLive(const std::map<std::string, std::string>& files) {
    const std::string live = folder_ + "/a.batchlight.live";
    std::filesystem::create_directories(live);
    for (const auto& [name, bytes] : files) {
      std::ofstream(live + "/" + name, std::ios::binary).write(bytes.data(), bytes.size());
    }
    return ReadRecording(live);
  }

  std::string folder_;
  cpu_set_t processors_;
};

TEST_F(RecordingFaultsTest, SealedAndLiveGiveTheSame) {
  const auto files = SmallRecording();
  for (const bool compress : {false, true}) {
    const Result<Store> sealed = ReadSealed(SealedBytes(files, compress));
    ASSERT_TRUE(sealed.ok()) << sealed.status().message();
    EXPECT_EQ(sealed->nvtx_ranges.size(), size_t{kChunks * kRangesInChunk});
    EXPECT_EQ(sealed->threads.size(), 2u);
    EXPECT_EQ(sealed->losses.size(), 0u);
    const Result<Store> live = ReadLive(files);
    ASSERT_TRUE(live.ok());
    EXPECT_EQ(sealed->nvtx_ranges.start_ns, live->nvtx_ranges.start_ns);
    EXPECT_EQ(sealed->nvtx_ranges.end_ns, live->nvtx_ranges.end_ns);
  }
}

TEST_F(RecordingFaultsTest, ReadingHasABudgetOfMemoryAndSaysWhatToDo) {
  const auto files = SmallRecording();
  setenv("BATCHLIGHT_MEMORY", "1000", 1);
  for (const Result<Store>& store : {ReadSealed(SealedBytes(files, true)), ReadLive(files)}) {
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.status().exit_code(), 3);
    EXPECT_NE(store.status().message().find("of memory, and 0.0 GB are free. Read it on a larger"),
              std::string::npos)
        << store.status().message();
  }
  unsetenv("BATCHLIGHT_MEMORY");
}

// Ranges in chunks of 8,000, 100 ns each.
std::map<std::string, std::string> LargeRecording(int chunks) {
  constexpr int kRanges = 8000;
  std::string text;
  for (int i = 0; i < chunks; ++i) {
    const std::string base = std::to_string(kRanges * 100 * (i + 1));
    text += "chunk pid=7 tid=7 index=" + std::to_string(i) +
            " attach_ns=1 clock=monotonic base_ticks=" + base + " base_ns=" + base + "\n";
    for (int k = 0; k < kRanges; ++k) {
      text += "+" + std::to_string(k * 100) + " RangePush message=\"range\"\n+" +
              std::to_string(k * 100 + 50) + " RangePop\n";
    }
  }
  auto files = AssembleRecording(text);
  EXPECT_TRUE(files.ok()) << files.status().message();
  return files.value();
}

// What is asked for decides, not the recording's size: its chunks are unpacked one by one.
TEST_F(RecordingFaultsTest, AStretchOfTimeTakesLittleMemory) {
  constexpr int kLargeChunks = 100;
  const auto files = LargeRecording(kLargeChunks);
  const std::string bytes = SealedBytes(files, true);
  setenv("BATCHLIGHT_MEMORY", "20000000", 1);  // the chunks are 19 MB, tables of all 45 MB
  const std::string path = folder_ + "/a.batchlight";
  EXPECT_FALSE(ReadSealed(bytes).ok());
  const Result<Store> stretch =
      ReadRecording(path, {.first_ns = 40'000'000, .last_ns = 40'001'000});
  ASSERT_TRUE(stretch.ok()) << stretch.status().message();
  EXPECT_GE(stretch->nvtx_ranges.size(), 10u);
  EXPECT_LT(stretch->nvtx_ranges.size(), 100u);
  // A stretch that is all there is.
  const Result<Store> all = ReadRecording(path, {.first_ns = 0, .last_ns = kOpenEnd});
  ASSERT_FALSE(all.ok());
  EXPECT_NE(all.status().message().find("a part of it took"), std::string::npos)
      << all.status().message();
  unsetenv("BATCHLIGHT_MEMORY");
}

// Its checksum is right, so only unpacking it tells: at its first bytes, or later.
TEST_F(RecordingFaultsTest, AChunkThatDoesNotUnpackIsCounted) {
  const std::string whole = SealedBytes(LargeRecording(2), true);
  const size_t block = sizeof(format::FileHeader);
  format::BlockHeader header{};
  std::memcpy(&header, whole.data() + block, sizeof header);
  for (const uint32_t cut : {header.stored_bytes - 4, uint32_t{16}}) {
    std::string bytes = whole;
    char* const stored = bytes.data() + block + sizeof header;
    header.stored_bytes -= cut;
    header.checksum = XXH3_64bits(stored, header.stored_bytes);
    std::memcpy(bytes.data() + block, &header, sizeof header);
    const Result<Store> store = ReadSealed(bytes);
    ASSERT_TRUE(store.ok()) << store.status().message();
    EXPECT_EQ(store->nvtx_ranges.size(), 8000u) << cut;
    EXPECT_EQ(Loss(store.value(), format::Counter::kChunksDamaged), 1u) << cut;
    header.stored_bytes += cut;
  }
}

TEST_F(RecordingFaultsTest, SealedFileCutAnywhere) {
  const std::string whole = SealedBytes(SmallRecording(), false);
  size_t most_rows = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const Result<Store> store = ReadSealed(std::string_view(whole).substr(0, size));
    if (size < sizeof(format::FileHeader)) {
      ASSERT_FALSE(store.ok());
      ASSERT_EQ(store.status().exit_code(), 3);
      continue;
    }
    ASSERT_TRUE(store.ok()) << size;
    ASSERT_GE(store->nvtx_ranges.size(), most_rows) << size;  // more bytes, never fewer ranges
    ASSERT_EQ(store->nvtx_ranges.size() % kRangesInChunk, 0u) << size;
    most_rows = store->nvtx_ranges.size();
    ASSERT_GE(store->reasons.size(), 1u);  // says that the end is missing
  }
  EXPECT_EQ(most_rows, size_t{kChunks * kRangesInChunk});
}

TEST_F(RecordingFaultsTest, SealedFileWithAFlippedBitLosesOneChunk) {
  const std::string whole = SealedBytes(SmallRecording(), false);
  for (size_t bit = sizeof(format::FileHeader) * 8; bit < whole.size() * 8; bit += 3) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const Result<Store> store = ReadSealed(bytes);
    ASSERT_TRUE(store.ok()) << bit;
    const size_t lost = size_t{kChunks * kRangesInChunk} - store->nvtx_ranges.size();
    ASSERT_TRUE(lost == 0 || lost == kRangesInChunk) << bit << " lost " << lost;
    if (lost > 0) {
      ASSERT_EQ(Loss(store.value(), format::Counter::kChunksDamaged), 1u) << bit;
    }
  }
}

TEST_F(RecordingFaultsTest, LiveFileCutAnywhere) {
  const auto files = SmallRecording();
  const auto& [name, whole] = *files.begin();
  size_t most_rows = 0;
  for (size_t size = 0; size <= whole.size(); size += 8) {
    const Result<Store> store = ReadLive({{name, whole.substr(0, size)}});
    ASSERT_TRUE(store.ok()) << size;
    ASSERT_GE(store->nvtx_ranges.size(), most_rows) << size;
    most_rows = store->nvtx_ranges.size();
  }
  EXPECT_EQ(most_rows, size_t{kChunks * kRangesInChunk});
}

TEST_F(RecordingFaultsTest, LiveFileWithAFlippedBitNeverCrashes) {
  const auto files = SmallRecording();
  const auto& [name, whole] = *files.begin();
  for (size_t byte = 0; byte < whole.size(); ++byte) {
    if (byte % format::kPageBytes > 1024) continue;  // zeros behind the records
    std::string bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << (byte % 8)));
    const Result<Store> store = ReadLive({{name, bytes}});
    ASSERT_TRUE(store.ok()) << byte;
    // Other chunks keep their ranges; a flipped head may end its own chunk early.
    ASSERT_GE(store->nvtx_ranges.size(), size_t{(kChunks - 1) * kRangesInChunk}) << byte;
  }
}

TEST_F(RecordingFaultsTest, NewerVersions) {
  const auto newer = AssembleRecording(
      "chunk pid=7 tid=7 attach_ns=1 clock=monotonic version=9\n"
      "+1 RangePush message=\"known\"\n+2 Unknown kind=199 bytes=\"\"\n+3 RangePop\n");
  ASSERT_TRUE(newer.ok());
  const Result<Store> store = ReadLive(newer.value());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->nvtx_ranges.size(), 1u);
  EXPECT_EQ(Loss(store.value(), format::Counter::kRecordsUnknown), 1u);

  std::string sealed = SealedBytes(SmallRecording(), true);
  sealed[6] = '2';  // another file layout
  const Result<Store> other = ReadSealed(sealed);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("newer"), std::string::npos) << other.status().message();
}

TEST_F(RecordingFaultsTest, EmptyFolderIsNoRecording) {
  EXPECT_EQ(ReadRecording(folder_).status().exit_code(), 3);
}

// A program that runs for ten seconds, and a tool that looks at the machine for five.
std::string RunOfTool(const std::string& last_word) {
  const std::string head = " attach_ns=1 clock=monotonic base_ticks=1000 base_ns=1000\n";
  return "chunk pid=0 tid=0 thread=0" + head + "+0 CaptureWindow on=1\n" + last_word +
         "chunk pid=0 tid=4 thread=4" + head +
         "+0 MachineUsage processors=2\n+5000000000 MachineUsage processors=2\n"
         "chunk pid=7 tid=7 thread=0" +
         head + "+0 RangePush message=\"run\"\n+10000000000 RangePop\n";
}

TEST_F(RecordingFaultsTest, AKilledToolIsTold) {
  auto files = AssembleRecording(RunOfTool(""));
  ASSERT_TRUE(files.ok()) << files.status().message();
  const Result<Store> killed = ReadLive(files.value());
  ASSERT_TRUE(killed.ok());
  ASSERT_EQ(killed->reasons.size(), 1u);
  EXPECT_EQ(killed->Text(killed->reasons.feature[0]), kToolFeature);
  const std::string_view said = killed->Text(killed->reasons.text[0]);
  EXPECT_TRUE(said.starts_with("batchlight itself was killed, or is held up, 5.0 s")) << said;

  files = AssembleRecording(RunOfTool("+5000000000 CaptureWindow\n"));
  ASSERT_TRUE(files.ok()) << files.status().message();
  const Result<Store> ended = ReadLive(files.value());
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->reasons.size(), 0u);
}

TEST_F(RecordingFaultsTest, UnsealedRecordingOpensByItsSealedName) {
  ASSERT_TRUE(ReadLive(SmallRecording()).ok());
  const Result<Store> store = OpenInput(folder_ + "/a.batchlight");
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(store->nvtx_ranges.size(), size_t{kChunks * kRangesInChunk});
  ASSERT_EQ(store->reasons.size(), 1u);
  EXPECT_EQ(store->Text(store->reasons.feature[0]), kUnsealedFeature);
}

}  // namespace
}  // namespace batchlight
