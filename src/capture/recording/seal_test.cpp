#include "capture/recording/seal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cstdlib>
#include <map>

#include "base/file.h"
#include "capture/recording/lasting_records.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/partial_block.h"
#include "format/encode.h"

namespace batchlight::capture {
namespace {

using namespace format;  // records

// A chunk with a process start, a property, and `pairs` pushes and pops.
std::string MakeChunk(uint32_t pid, uint32_t capture, int pairs, bool close) {
  std::vector<uint64_t> words(64 * 1024 / 8);
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(words.data()), words.size() * 8);
  ChunkHeader header{};
  header.pid = pid;
  header.capture_index = capture;
  ChunkWriter writer(bytes, header);
  ProcessStartRecord start{};
  start.executable = writer.AddString("/bin/train", 0);
  writer.Add(start, 0);
  const StringRef message = writer.AddString("forward", 1);
  PropertyRecord property{};
  property.key = writer.AddString("machine.cpu", 1);
  property.value = writer.AddString("fast", 1);
  writer.Add(property, 1);
  for (int i = 0; i < pairs; ++i) {
    const uint64_t ticks = 2 * static_cast<uint64_t>(i);
    writer.Add(RangePushRecord{.message = message}, ticks);
    writer.Add(RangePopRecord{}, ticks + 1);
  }
  if (close) writer.Close(1000, 1000);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Status AddPart(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  Status status = AddPartialBlock(fd, path, bytes);
  close(fd);
  return status;
}

class SealTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string base = testing::TempDir() + "seal_XXXXXX";
    ASSERT_NE(mkdtemp(base.data()), nullptr);
    folder_ = base + "/run.batchlight.live";
    output_ = base + "/run.batchlight";
    ASSERT_EQ(mkdir(folder_.c_str(), 0777), 0);
    Put("control", std::string(4096, '\0'));
  }
  void Put(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(WriteWholeFile(folder_ + "/" + name, bytes).ok());
  }
  // Walks the blocks by the index and returns each chunk's bytes.
  std::vector<std::string> ReadChunks() {
    const std::string file = ReadWholeFile(output_).value();
    FileTrailer trailer;
    std::memcpy(&trailer, file.data() + file.size() - sizeof trailer, sizeof trailer);
    EXPECT_EQ(std::memcmp(trailer.magic, kFileMagic, 8), 0);
    const std::string index = ReadBlock(file, trailer.index_offset, BlockKind::kIndex);
    EXPECT_EQ(index.size(), trailer.block_count * sizeof(IndexEntry));
    std::vector<std::string> chunks;
    for (size_t i = 0; i < trailer.block_count; ++i) {
      IndexEntry entry;
      std::memcpy(&entry, index.data() + i * sizeof entry, sizeof entry);
      chunks.push_back(ReadBlock(file, entry.offset, BlockKind::kChunk));
    }
    return chunks;
  }
  static std::string ReadBlock(const std::string& file, uint64_t offset, BlockKind kind) {
    BlockHeader header;
    EXPECT_LE(offset + sizeof header, file.size());
    std::memcpy(&header, file.data() + offset, sizeof header);
    EXPECT_EQ(header.magic, kBlockMagic);
    EXPECT_EQ(header.kind, kind);
    const char* stored = file.data() + offset + sizeof header;
    EXPECT_EQ(header.checksum, XXH3_64bits(stored, header.stored_bytes));
    if (header.codec == BlockCodec::kRaw) return {stored, header.stored_bytes};
    std::string raw(header.raw_bytes, '\0');
    EXPECT_EQ(ZSTD_decompress(raw.data(), raw.size(), stored, header.stored_bytes), raw.size());
    return raw;
  }
  template <typename Visit>
  static void ForEach(const std::string& bytes, Visit&& visit) {
    std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
    std::memcpy(aligned.data(), bytes.data(), bytes.size());
    ChunkView chunk;
    EXPECT_TRUE(
        ParseChunk({reinterpret_cast<const uint8_t*>(aligned.data()), bytes.size()}, &chunk));
    EXPECT_TRUE(chunk.closed);
    RecordReader reader(chunk);
    for (RecordView view; reader.Next(view);) visit(view);
    EXPECT_FALSE(reader.damaged());
  }
  static std::map<RecordKind, int> CountKinds(const std::string& bytes) {
    std::map<RecordKind, int> kinds;
    ForEach(bytes, [&](const RecordView& view) { ++kinds[view.kind]; });
    return kinds;
  }
  // "id text" of every string.
  static std::vector<std::string> StringsOf(const std::string& bytes) {
    std::vector<std::string> strings;
    ForEach(bytes, [&](const RecordView& view) {
      if (view.kind != RecordKind::kString) return;
      const auto record = view.As<StringRecord>();
      strings.push_back(std::to_string(record.id) + " " +
                        std::string(view.BytesAfter<StringRecord>(record.byte_count)));
    });
    return strings;
  }
  static PropertyRecord PropertyOf(const std::string& bytes) {
    PropertyRecord property{};
    ForEach(bytes, [&](const RecordView& view) {
      if (view.kind == RecordKind::kProperty) property = view.As<PropertyRecord>();
    });
    return property;
  }
  LiveFolder Live() const { return LiveFolder::Open(folder_).value(); }
  std::string folder_, output_;
};

TEST_F(SealTest, OpenAndClosedChunksComeBack) {
  Put("7-1.blp", MakeChunk(7, 0, 100, true) + std::string(8192, '\0') + MakeChunk(7, 0, 3, false));
  const auto summary = Seal(Live(), output_, {});
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary.value().chunks, 2u);
  const auto chunks = ReadChunks();
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(CountKinds(chunks[0])[RecordKind::kRangePush], 100);
  EXPECT_EQ(CountKinds(chunks[1])[RecordKind::kRangePop], 3);
}

TEST_F(SealTest, APartialBlockLeavesTheChunksAsTheyAre) {
  Put("7-1.blp", MakeChunk(7, 0, 100, true) + MakeChunk(7, 0, 3, true));
  ASSERT_TRUE(Seal(Live(), output_, {}).ok());
  const auto before = ReadChunks();
  const size_t size = ReadWholeFile(output_).value().size();
  const std::string bytes(1000, 'x');
  ASSERT_TRUE(AddPart(output_, bytes).ok());
  EXPECT_EQ(ReadChunks(), before);
  ASSERT_TRUE(AddPart(output_, bytes + bytes).ok());  // in place of the first
  ASSERT_TRUE(AddPart(output_, "").ok());
  EXPECT_EQ(ReadChunks(), before);
  EXPECT_LT(ReadWholeFile(output_).value().size(), size + 100);
  Put("text", "hello");
  EXPECT_EQ(AddPart(folder_ + "/text", bytes).kind(), ErrorKind::kInput);
}

TEST_F(SealTest, CaptureKeepsWhatTheToolSaidEarlier) {
  Put("7-1.blp", MakeChunk(7, 0, 10, true) + MakeChunk(7, 1, 20, true) + MakeChunk(7, 2, 30, true));
  Put("tool.blp", MakeChunk(0, 0, 10, true) + MakeChunk(0, 2, 1, true));
  ASSERT_TRUE(Seal(Live(), output_, {.capture_index = 1}).ok());
  const auto chunks = ReadChunks();
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(CountKinds(chunks[0])[RecordKind::kRangePush], 20);
  auto earlier = CountKinds(chunks[1]);
  EXPECT_EQ(earlier[RecordKind::kProperty], 1);
  EXPECT_EQ(earlier[RecordKind::kRangePush], 0);
  EXPECT_EQ(StringsOf(chunks[1]), (std::vector<std::string>{"1 machine.cpu", "2 fast"}));
  EXPECT_EQ(PropertyOf(chunks[1]).key, 1u);
  EXPECT_EQ(PropertyOf(chunks[1]).value, 2u);
}

TEST_F(SealTest, NeverOverwritesUnasked) {
  Put("7-1.blp", MakeChunk(7, 0, 1, true));
  ASSERT_TRUE(WriteWholeFile(output_, "precious").ok());
  EXPECT_EQ(Seal(Live(), output_, {}).status().kind(), ErrorKind::kOutput);
  EXPECT_EQ(ReadWholeFile(output_).value(), "precious");
  EXPECT_TRUE(Seal(Live(), output_, {.replace = true}).ok());
}

TEST_F(SealTest, RefusesAFolderThatIsNone) {
  const std::string empty = folder_ + "/empty";
  ASSERT_EQ(mkdir(empty.c_str(), 0777), 0);
  const LiveFolder folder = LiveFolder::Open(empty).value();
  EXPECT_EQ(Seal(folder, output_, {}).status().kind(), ErrorKind::kInput);
}

TEST_F(SealTest, ThousandsOfTinyChunksStaySmall) {
  std::string file;
  for (int i = 0; i < 2000; ++i) file += MakeChunk(7, 0, 1, true).substr(0, 4096);
  for (size_t at = 0; at < file.size(); at += 4096) {
    const uint32_t chunk_bytes = 4096;
    std::memcpy(file.data() + at + offsetof(ChunkHeader, chunk_bytes), &chunk_bytes, 4);
  }
  Put("7-1.blp", file);
  const auto summary = Seal(Live(), output_, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary.value().chunks, 2000u);
  EXPECT_LT(summary.value().file_bytes / 2000, 256u);
}

TEST_F(SealTest, LiveFolderOfSomebodyElseStays) {
  Put("7-1.blp", MakeChunk(7, 0, 5, true));
  Put("7-2.blp", "");
  Put("notes.txt", "mine");
  EXPECT_EQ(Live().Remove().kind(), ErrorKind::kOutput);
  EXPECT_TRUE(FileExists(folder_ + "/notes.txt"));
  EXPECT_FALSE(FileExists(folder_ + "/7-1.blp"));
  EXPECT_FALSE(FileExists(folder_ + "/7-2.blp"));
}

// In the folder of another user these would lead to what only the tool may read, or nowhere.
TEST_F(SealTest, LinksAndPipesAreLeftOut) {
  const std::string chunk = MakeChunk(7, 0, 5, true);
  Put("7-1.blp", chunk);
  ASSERT_TRUE(WriteWholeFile(output_ + ".secret", MakeChunk(8, 0, 5, true)).ok());
  ASSERT_EQ(symlink((output_ + ".secret").c_str(), (folder_ + "/8-1.blp").c_str()), 0);
  ASSERT_EQ(link((output_ + ".secret").c_str(), (folder_ + "/8-2.blp").c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ + "/0-x.blp").c_str(), 0600), 0);
  const auto summary = Seal(Live(), output_, {});
  ASSERT_TRUE(summary.ok()) << summary.status().message();
  EXPECT_EQ(summary.value().chunks, 1u);
  EXPECT_EQ(summary.value().damaged_stretches, 3u);
}

TEST_F(SealTest, TheFileIsItsOwnersAlone) {
  Put("7-1.blp", MakeChunk(7, 0, 5, true));
  ASSERT_TRUE(Seal(Live(), output_, {}).ok());
  struct stat info {};
  ASSERT_EQ(stat(output_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace batchlight::capture
