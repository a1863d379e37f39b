#include "capture/recording/partial_block.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "format/partial_block.h"

namespace batchlight::capture {
namespace {

using format::BlockHeader;
using format::FileTrailer;

constexpr int kPartialLevel = 3;

class RecordingFile {
 public:
  RecordingFile(int fd, const std::string& path) : path_(path), fd_(fd) {}

  Status Add(std::string_view bytes) {
    RETURN_IF_ERROR(ReadIndex());
    const std::string block = MakeBlock(bytes);
    FileTrailer trailer = trailer_;
    trailer.index_offset = place_ + block.size();
    std::string end = block + index_;
    end.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
    if (const int error =
            posix_fallocate(fd_, static_cast<off_t>(place_), static_cast<off_t>(end.size()));
        error != 0) {
      return OutputError("no room in " + path_ + ": " + std::strerror(error));
    }
    for (size_t done = 0; done < end.size();) {
      const ssize_t count =
          pwrite(fd_, end.data() + done, end.size() - done, static_cast<off_t>(place_ + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return OutputError("cannot write " + path_ + ": " + std::strerror(errno));
      done += static_cast<size_t>(count);
    }
    if (ftruncate(fd_, static_cast<off_t>(place_ + end.size())) == 0) return {};
    return OutputError("cannot shorten " + path_ + ": " + std::strerror(errno));
  }

 private:
  template <typename T>
  bool ReadAt(uint64_t offset, T* value) const {
    return pread(fd_, value, sizeof(T), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(sizeof(T));
  }

  Status NoIndex() const {
    return InputError(path_ +
                      " is no sealed recording with an index; `batchlight trace seal` "
                      "makes one of a live folder");
  }

  // Finds where the chunks end, and keeps the index block.
  Status ReadIndex() {
    struct stat info {};
    if (fstat(fd_, &info) != 0) return NoIndex();
    const auto size = static_cast<uint64_t>(info.st_size);
    BlockHeader header{};
    if (size < sizeof trailer_ || !ReadAt(size - sizeof trailer_, &trailer_) ||
        std::memcmp(trailer_.magic, format::kFileMagic, sizeof trailer_.magic) != 0 ||
        !ReadAt(trailer_.index_offset, &header) || header.kind != format::BlockKind::kIndex ||
        header.raw_bytes != trailer_.block_count * sizeof(format::IndexEntry)) {
      return NoIndex();
    }
    const uint64_t stored = format::PaddedBytes(header.stored_bytes);
    if (stored > size) return NoIndex();
    index_.resize(sizeof header + stored);
    if (pread(fd_, index_.data(), index_.size(), static_cast<off_t>(trailer_.index_offset)) !=
        static_cast<ssize_t>(index_.size())) {
      return NoIndex();
    }
    return FindPlace(header);
  }

  Status FindPlace(const BlockHeader& header) {
    std::vector<format::IndexEntry> entries(trailer_.block_count);
    const char* const stored = index_.data() + sizeof header;
    const size_t bytes = entries.size() * sizeof(format::IndexEntry);
    if (header.codec == format::BlockCodec::kZstd) {
      if (ZSTD_decompress(entries.data(), bytes, stored, header.stored_bytes) != bytes) {
        return NoIndex();
      }
    } else {
      std::memcpy(entries.data(), stored, std::min<size_t>(bytes, header.stored_bytes));
    }
    place_ = sizeof(format::FileHeader);
    for (const format::IndexEntry& entry : entries) {
      BlockHeader chunk{};
      if (entry.offset < place_) continue;
      if (!ReadAt(entry.offset, &chunk) || chunk.magic != format::kBlockMagic) return NoIndex();
      place_ = entry.offset + sizeof chunk + format::PaddedBytes(chunk.stored_bytes);
    }
    return place_ <= trailer_.index_offset ? Status() : NoIndex();
  }

  static std::string MakeBlock(std::string_view bytes) {
    std::string block(sizeof(BlockHeader) + ZSTD_compressBound(bytes.size()), '\0');
    char* const stored = block.data() + sizeof(BlockHeader);
    const size_t count = ZSTD_compress(stored, block.size() - sizeof(BlockHeader), bytes.data(),
                                       bytes.size(), kPartialLevel);
    BlockHeader header{};
    header.magic = format::kBlockMagic;
    header.kind = format::kPartialBlock;
    header.codec = format::BlockCodec::kZstd;
    header.stored_bytes = static_cast<uint32_t>(count);
    header.raw_bytes = static_cast<uint32_t>(bytes.size());
    header.checksum = XXH3_64bits(stored, count);
    std::memcpy(block.data(), &header, sizeof header);
    block.resize(sizeof header + format::PaddedBytes(count));
    return block;
  }

  const std::string path_;
  const int fd_;
  FileTrailer trailer_{};
  std::string index_;   // the block, as it stands in the file
  uint64_t place_ = 0;  // where the partial block goes
};

}  // namespace

Status AddPartialBlock(int fd, const std::string& path, std::string_view bytes) {
  if (bytes.size() > format::kMaxBlockBytes) return OutputError("more than a block can hold");
  return RecordingFile(fd, path).Add(bytes);
}

}  // namespace batchlight::capture
