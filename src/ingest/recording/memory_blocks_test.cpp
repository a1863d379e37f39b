#include "ingest/recording/memory_blocks.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ingest/dump/trace_text.h"
#include "ingest/recording/recording.h"

namespace batchlight {
namespace {

TEST(MemoryBlocks, SmallBlocksStandForAnIntervalLargeOnesForThemselves) {
  EXPECT_EQ(RepresentedBytes(100, 0), 100u);
  EXPECT_NEAR(static_cast<double>(RepresentedBytes(16, 1 << 20)), 1 << 20, 32);
  EXPECT_EQ(RepresentedBytes(uint64_t{64} << 20, 1 << 20), uint64_t{64} << 20);
  // 1 - 1/e of the blocks of the interval's size are seen.
  EXPECT_NEAR(static_cast<double>(RepresentedBytes(1'000'000, 1e6)), 1'581'977, 2);
}

TEST(MemoryBlocks, AreFreedByWhicheverThread) {
  char folder[] = "/tmp/bl_memory_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const auto files = AssembleRecording(
      "chunk pid=0 tid=1 thread=0 attach_ns=0 clock=monotonic base_ticks=1000 base_ns=1000\n"
      "+0 ClockSync monotonic_ns=1000 realtime_ns=1700000000000001000\n"
      "chunk pid=41 tid=41 thread=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+5 PythonCode id=1 file=\"train.py\" function=\"main\" first_line=1\n"
      "+5 PythonStack id=1 parent=0 code=1 line=7\n"
      "+10 MemoryAllocated address=4096 bytes=100 stack=1 source=1\n"
      "+20 MemoryAllocated address=8192 bytes=200 stack=0 source=0\n"
      "+50 MemoryAllocated address=4096 bytes=300 stack=1 source=0\n"
      "+60 MemoryAllocated address=4096 bytes=400 stack=1 source=0\n"  // a free that was missed
      "chunk pid=41 tid=42 thread=1 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+40 MemoryFreed address=4096\n"
      "+45 MemoryFreed address=12288\n"  // never heard of
      "chunk pid=43 tid=43 thread=0 attach_ns=1500 clock=monotonic base_ticks=2000 base_ns=2000\n"
      "+70 MemoryAllocated address=4096 bytes=1 stack=0 source=9\n"
      "+80 MemoryFreed address=8192\n");  // another process's
  ASSERT_TRUE(files.ok()) << files.status().message();
  const std::string live = std::string(folder) + "/a.batchlight.live";
  ASSERT_TRUE(WriteLiveFolder(files.value(), live).ok());
  const Result<Store> store = ReadRecording(live);
  ASSERT_TRUE(store.ok()) << store.status().message();
  const MemoryBlocksTable& blocks = store.value().memory_blocks;
  ASSERT_EQ(blocks.size(), 5u);
  const int64_t start = blocks.start_ns[0];
  EXPECT_EQ(blocks.end_ns[0] - start, 30);
  EXPECT_EQ(blocks.end_ns[1], kOpenEnd);
  EXPECT_EQ(blocks.end_ns[2] - start, 50);
  EXPECT_EQ(blocks.end_ns[3], kOpenEnd);
  EXPECT_EQ(blocks.end_ns[4], kOpenEnd);
  EXPECT_EQ(blocks.source[0], MemorySource::kPython);
  EXPECT_FALSE(blocks.python_stack[0].IsNone());
  EXPECT_TRUE(blocks.python_stack[1].IsNone());
  EXPECT_EQ(blocks.represented_bytes[1], 200u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace batchlight
