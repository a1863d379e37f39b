#include "capture/recording/seal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include <zstd.h>

#include "base/file.h"
#include "base/thread_pool.h"
#include "capture/recording/lasting_records.h"
#include "format/chunk_scan.h"

namespace batchlight::capture {
namespace {

using format::BlockHeader;
using format::ChunkView;

// Level 3 gives files of the same size (10 million events: 18.7 MB both), and the user waits.
constexpr int kSealLevel = 1;
constexpr size_t kBatchBytes = 32 << 20;
constexpr size_t kBatchChunks = 4096;

std::string_view AsText(const void* data, size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

// A block ready to be written: header, stored bytes, padding.
std::string MakeBlock(format::BlockKind kind, std::string_view raw) {
  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  std::string block(sizeof(BlockHeader) + ZSTD_compressBound(raw.size()), '\0');
  char* stored = block.data() + sizeof(BlockHeader);
  size_t stored_bytes = ZSTD_compressCCtx(context.get(), stored, block.size() - sizeof(BlockHeader),
                                          raw.data(), raw.size(), kSealLevel);
  BlockHeader header{};
  header.codec = format::BlockCodec::kZstd;
  if (ZSTD_isError(stored_bytes) != 0 || stored_bytes >= raw.size()) {
    header.codec = format::BlockCodec::kRaw;
    stored_bytes = raw.size();
    std::copy(raw.begin(), raw.end(), stored);
  }
  header.magic = format::kBlockMagic;
  header.kind = kind;
  header.stored_bytes = static_cast<uint32_t>(stored_bytes);
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.checksum = XXH3_64bits(stored, stored_bytes);
  std::memcpy(block.data(), &header, sizeof header);
  block.resize(sizeof header + stored_bytes);
  block.resize((block.size() + 7) & ~size_t{7}, '\0');
  return block;
}

// The bytes to store for a chunk of which all records are wanted.
std::vector<uint8_t> CutToUsed(const ChunkView& chunk) {
  const uint32_t used = format::UsedBytes(chunk);
  if (used <= chunk.header.header_bytes) return {};
  std::vector<uint8_t> bytes(chunk.bytes.begin(), chunk.bytes.begin() + used);
  std::memcpy(bytes.data() + offsetof(format::ChunkHeader, used_bytes), &used, sizeof used);
  return bytes;
}

class Sealer {
 public:
  Sealer(AtomicFileWriter& writer, const SealOptions& options)
      : writer_(writer), options_(options) {}

  Status Begin() {
    format::FileHeader header{};
    std::copy(std::begin(format::kFileMagic), std::end(format::kFileMagic), header.magic);
    header.version = format::kFormatVersion;
    header.header_bytes = sizeof header;
    return writer_.Write(AsText(&header, sizeof header));
  }

  // `share`: of the whole work, for this file.
  Status AddFile(const LiveFolder& folder, const std::string& name, double share) {
    ASSIGN_OR_RETURN(std::optional<MappedFile> mapped, folder.Map(name));
    if (!mapped) {
      ++summary_.damaged_stretches;
      return {};
    }
    const auto file = std::make_shared<const MappedFile>(*std::move(mapped));
    std::vector<ChunkView> chunks;
    summary_.damaged_stretches += format::ScanProcessFile(file->bytes(), chunks);
    for (const ChunkView& chunk : chunks) {
      if (!IsWanted(chunk.header)) continue;
      batch_.push_back({file, chunk});
      batch_bytes_ += chunk.bytes.size();
      done_ += share / static_cast<double>(chunks.size());
      if (batch_bytes_ >= kBatchBytes || batch_.size() >= kBatchChunks) RETURN_IF_ERROR(Flush());
    }
    return {};
  }

  Result<SealSummary> End() {
    RETURN_IF_ERROR(Flush());
    format::FileTrailer trailer{};
    trailer.index_offset = writer_.bytes_written();
    trailer.block_count = index_.size();
    std::copy(std::begin(format::kFileMagic), std::end(format::kFileMagic), trailer.magic);
    const size_t index_bytes = index_.size() * sizeof(format::IndexEntry);
    RETURN_IF_ERROR(
        writer_.Write(MakeBlock(format::BlockKind::kIndex, AsText(index_.data(), index_bytes))));
    RETURN_IF_ERROR(writer_.Write(AsText(&trailer, sizeof trailer)));
    summary_.file_bytes = writer_.bytes_written();
    return summary_;
  }

 private:
  struct Piece {
    std::shared_ptr<const MappedFile> file;  // keeps the chunk's bytes
    ChunkView chunk;
    std::string block;  // empty = nothing of it is wanted
    uint64_t raw_bytes = 0;
  };

  bool IsWhole(const format::ChunkHeader& header) const {
    return !options_.capture_index || header.capture_index == *options_.capture_index;
  }
  bool IsWanted(const format::ChunkHeader& header) const {
    const bool of_tool = header.pid == 0;
    return IsWhole(header) || (of_tool && header.capture_index < *options_.capture_index);
  }

  void Compress(Piece& piece) const {
    const bool whole = IsWhole(piece.chunk.header);
    const std::vector<uint8_t> raw =
        whole ? CutToUsed(piece.chunk) : KeepLastingRecords(piece.chunk);
    if (raw.empty()) return;
    piece.raw_bytes = raw.size();
    piece.block = MakeBlock(format::BlockKind::kChunk, AsText(raw.data(), raw.size()));
  }

  Status Flush() {
    ParallelFor(batch_.size(), [this](size_t i) { Compress(batch_[i]); });
    for (const Piece& piece : batch_) {
      if (piece.block.empty()) continue;
      const format::ChunkHeader& header = piece.chunk.header;
      index_.push_back({writer_.bytes_written(), header.pid, header.thread_index});
      RETURN_IF_ERROR(writer_.Write(piece.block));
      ++summary_.chunks;
      summary_.raw_bytes += piece.raw_bytes;
    }
    batch_.clear();
    batch_bytes_ = 0;
    if (options_.progress != nullptr) options_.progress(done_);
    return {};
  }

  AtomicFileWriter& writer_;
  const SealOptions& options_;
  std::vector<Piece> batch_;
  size_t batch_bytes_ = 0;
  double done_ = 0;  // share of the work that is in batches, for progress
  std::vector<format::IndexEntry> index_;
  SealSummary summary_;
};

}  // namespace

Result<SealSummary> Seal(const LiveFolder& live_folder, const std::string& output,
                         const SealOptions& options) {
  if (!live_folder.HoldsRecording()) {
    // Its file system may have gone, as one of FUSE whose server died.
    return errno == ENOENT
               ? InputError(live_folder.path() + " is not the live folder of a recording")
               : InputError("cannot read " + live_folder.path() + ": " + std::strerror(errno));
  }
  if (!options.replace && FileExists(output)) {
    return OutputError(output + " exists; remove it, choose another name, or pass -f");
  }
  if (options.ended) live_folder.GiveBackRoom();
  const std::vector<std::string> names = live_folder.ProcessFiles();
  ASSIGN_OR_RETURN(AtomicFileWriter writer,
                   AtomicFileWriter::Create(output, {.is_private = true,
                                                     .replace = options.replace,
                                                     .folder = options.output_folder,
                                                     .owner = options.owner,
                                                     .group = options.group}));
  Sealer sealer(writer, options);
  RETURN_IF_ERROR(sealer.Begin());
  for (const std::string& name : names) {
    RETURN_IF_ERROR(sealer.AddFile(live_folder, name, 1.0 / static_cast<double>(names.size())));
  }
  ASSIGN_OR_RETURN(const SealSummary summary, sealer.End());
  const int held_fd = options.held_fd != nullptr ? fcntl(writer.fd(), F_DUPFD_CLOEXEC, 0) : -1;
  Status committed = writer.Commit();
  if (committed.ok() && options.held_fd != nullptr) {
    *options.held_fd = held_fd;
  } else if (held_fd >= 0) {
    close(held_fd);
  }
  RETURN_IF_ERROR(std::move(committed));
  return summary;
}

}  // namespace batchlight::capture
