#include "format/encode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/decode.h"

namespace batchlight::format {
namespace {

struct Chunk {
  explicit Chunk(size_t bytes) : words(bytes / 8) {}
  std::span<uint8_t> bytes() {
    return {reinterpret_cast<uint8_t*>(words.data()), words.size() * 8};
  }
  std::vector<uint64_t> words;
};

std::vector<RecordView> Walk(std::span<const uint8_t> bytes) {
  ChunkView chunk;
  EXPECT_TRUE(ParseChunk(bytes, &chunk));
  std::vector<RecordView> records;
  RecordReader reader(chunk);
  for (RecordView view; reader.Next(view);) records.push_back(view);
  EXPECT_FALSE(reader.damaged());
  return records;
}

TEST(ChunkWriter, RecordsComeBack) {
  Chunk chunk(4096);
  ChunkWriter writer(chunk.bytes(), {.pid = 7, .base_ticks = 1000});
  const StringRef name = writer.AddString("forward", 1000);
  ASSERT_EQ(name, 1u);
  ASSERT_TRUE(writer.Add(RangePushRecord{.message = name}, 1005));
  ASSERT_TRUE(writer.Add(RangePopRecord{}, 1009));
  const auto records = Walk(chunk.bytes());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].BytesAfter<StringRecord>(7), "forward");
  EXPECT_EQ(records[1].kind, RecordKind::kRangePush);
  EXPECT_EQ(records[1].As<RangePushRecord>().message, name);
  EXPECT_EQ(records[1].ticks, 5u);
  EXPECT_EQ(records[2].ticks, 9u);
}

TEST(ChunkWriter, LongRecordCarriesItsSizeApart) {
  Chunk chunk(16384);
  ChunkWriter writer(chunk.bytes(), {});
  const std::string text(5000, 'x');
  ASSERT_EQ(writer.AddString(text, 0), 1u);
  ASSERT_TRUE(writer.Add(RangePopRecord{}, 1));
  const auto records = Walk(chunk.bytes());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].As<StringRecord>().byte_count, 5000u);
  EXPECT_EQ(records[0].BytesAfter<StringRecord>(5000), text);
  EXPECT_EQ(records[1].kind, RecordKind::kRangePop);
}

TEST(ChunkWriter, RefusesWhatDoesNotFit) {
  Chunk chunk(4096);
  ChunkWriter writer(chunk.bytes(), {});
  const std::string filler(4096 - sizeof(ChunkHeader) - sizeof(StringRecord) - 24 - 8, 'x');
  ASSERT_EQ(writer.AddString(filler, 0), 1u);
  ASSERT_EQ(writer.Room(), 24u);
  EXPECT_EQ(writer.AddString("longer than the room", 0), 0u);
  EXPECT_TRUE(writer.Add(RangePopRecord{}, 0));
  EXPECT_TRUE(writer.Add(RangePushRecord{}, 0));
  EXPECT_FALSE(writer.Add(RangePopRecord{}, 0));
  EXPECT_EQ(Walk(chunk.bytes()).size(), 3u);
}

TEST(ChunkWriter, ClosedChunkSaysWhatIsUsed) {
  Chunk chunk(4096);
  ChunkWriter writer(chunk.bytes(), {.base_ticks = 10, .base_monotonic_ns = 100});
  ASSERT_TRUE(writer.Add(RangePopRecord{}, 11));
  writer.Close(20, 200);
  ChunkView view;
  ASSERT_TRUE(ParseChunk(chunk.bytes(), &view));
  EXPECT_TRUE(view.closed);
  EXPECT_EQ(view.header.used_bytes, sizeof(ChunkHeader) + 8);
  EXPECT_EQ(view.header.end_monotonic_ns, 200);
  EXPECT_FALSE(writer.Add(RangePopRecord{}, 30));
}

}  // namespace
}  // namespace batchlight::format
