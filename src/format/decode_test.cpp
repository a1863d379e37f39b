#include "format/decode.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "format/chunk_scan.h"

namespace batchlight::format {
namespace {

constexpr size_t kChunk = kPageBytes;

// A file of two chunks on three pages, aligned as a mapping is.
class DecodeTest : public testing::Test {
 protected:
  void SetUp() override {
    file_.assign(3 * kChunk / 8, 0);
    AddChunk(0, 0);
    AddChunk(2 * kChunk, 1);
  }

  void AddChunk(size_t offset, uint32_t chunk_index) {
    ChunkHeader header{.magic = kChunkMagic, .version = 1, .header_bytes = 128};
    header.chunk_bytes = kChunk;
    header.pid = 7;
    header.chunk_index = chunk_index;
    std::memcpy(bytes() + offset, &header, sizeof header);
    const std::array<uint64_t, 3> records = {
        MakeHead(static_cast<uint8_t>(RecordKind::kRangePush), 2, 10), (uint64_t{1} << 32) | 5,
        MakeHead(static_cast<uint8_t>(RecordKind::kRangePop), 1, 20)};
    std::memcpy(bytes() + offset + sizeof header, records.data(), sizeof records);
  }

  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(file_.data()); }
  std::span<const uint8_t> span() { return {bytes(), file_.size() * 8}; }
  uint64_t& Word(size_t offset) { return file_[offset / 8]; }
  ChunkHeader* Header() { return reinterpret_cast<ChunkHeader*>(file_.data()); }

  std::vector<RecordView> Read(bool* damaged) {
    std::vector<RecordView> records;
    ChunkView chunk;
    EXPECT_TRUE(ParseChunk(span(), &chunk));
    RecordReader reader(chunk);
    for (RecordView view; reader.Next(view);) records.push_back(view);
    *damaged = reader.damaged();
    return records;
  }

  std::vector<uint64_t> file_;
};

TEST_F(DecodeTest, OpenChunkEndsAtAZeroHead) {
  bool damaged = true;
  const std::vector<RecordView> records = Read(&damaged);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].As<RangePushRecord>().message, 5u);
  EXPECT_EQ(records[0].As<RangePushRecord>().flags, 1u);
  EXPECT_EQ(records[1].ticks, 20u);
  EXPECT_FALSE(damaged);
  ChunkView chunk;
  ASSERT_TRUE(ParseChunk(span(), &chunk));
  EXPECT_EQ(UsedBytes(chunk), 128u + 24u);
}

TEST_F(DecodeTest, ClosedChunkWithAZeroHeadIsDamaged) {
  Header()->used_bytes = 128 + 32;
  bool damaged = false;
  EXPECT_EQ(Read(&damaged).size(), 2u);
  EXPECT_TRUE(damaged);
}

TEST_F(DecodeTest, RecordBeyondTheChunkIsDamage) {
  Word(128) = MakeHead(16, 0, 1);
  Word(136) = UINT64_MAX;  // the long form, absurdly large
  bool damaged = false;
  EXPECT_EQ(Read(&damaged).size(), 0u);
  EXPECT_TRUE(damaged);
}

TEST_F(DecodeTest, ShorterRecordReadsAsZeroBehind) {
  Word(128) = MakeHead(static_cast<uint8_t>(RecordKind::kRangePushEx), 2, 1);
  bool damaged = false;
  const RangePushExRecord record = Read(&damaged).at(0).As<RangePushExRecord>();
  EXPECT_EQ(record.message, 5u);
  EXPECT_EQ(record.domain, 1u);
  EXPECT_EQ(record.payload, 0u);
}

TEST_F(DecodeTest, BytesAreCutToTheRecord) {
  Word(128) = MakeHead(static_cast<uint8_t>(RecordKind::kString), 3, 1);
  Word(136) = (uint64_t{1000} << 32) | 1;
  Word(144) = 0x6463626164636261;
  bool damaged = false;
  const RecordView view = Read(&damaged).at(0);
  EXPECT_EQ(view.BytesAfter<StringRecord>(view.As<StringRecord>().byte_count), "abcdabcd");
}

TEST_F(DecodeTest, ScanSkipsHolesAndCountsGarbageOnce) {
  std::vector<ChunkView> chunks;
  EXPECT_EQ(ScanProcessFile(span(), chunks), 0u);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[1].header.chunk_index, 1u);

  Header()->magic ^= 1;
  Word(kChunk + 64) = 99;
  chunks.clear();
  EXPECT_EQ(ScanProcessFile(span(), chunks), 1u);
  EXPECT_EQ(chunks.size(), 1u);
}

TEST_F(DecodeTest, ScanFindsTheChunkBehindAWrongSize) {
  Header()->chunk_bytes = 64 * kPageBytes;
  std::vector<ChunkView> chunks;
  ScanProcessFile(span(), chunks);
  EXPECT_EQ(chunks.size(), 2u);
}

TEST_F(DecodeTest, EveryTruncationIsSafe) {
  for (size_t size = 0; size <= 3 * kChunk; ++size) {
    std::vector<ChunkView> chunks;
    ScanProcessFile(span().first(size), chunks);
    for (const ChunkView& chunk : chunks) {
      RecordReader reader(chunk);
      for (RecordView view; reader.Next(view);) {
        ASSERT_LE(view.fields + view.field_bytes, bytes() + size);
      }
    }
  }
}

}  // namespace
}  // namespace batchlight::format
