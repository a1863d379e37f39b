#include "ingest/kineto/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/work_progress.h"

namespace batchlight {
namespace {

constexpr size_t kPackedBytes = 256 << 10;
// Traces shrink to a tenth, at most to a fiftieth; gzip can pack the same byte a thousand times.
constexpr uint64_t kMostUnpackedBytes = uint64_t{1} << 30;
constexpr uint64_t kMostUnpackedPerPackedByte = 200;

class PlainSource : public ByteSource {
 public:
  PlainSource(int fd, std::string path) : fd_(fd), path_(std::move(path)) {
    struct stat info {};
    if (fstat(fd_, &info) == 0) ReadingProgress().Expect(static_cast<uint64_t>(info.st_size));
  }
  ~PlainSource() override { close(fd_); }

  Result<size_t> Read(char* to, size_t size) override {
    while (true) {
      const ssize_t count = read(fd_, to, size);
      if (count > 0) ReadingProgress().Done(static_cast<uint64_t>(count));
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) return InputError("cannot read " + path_ + ": " + std::strerror(errno));
    }
  }

  bool packed() const override { return false; }
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<PlainSource> packed)
      : packed_(std::move(packed)), buffer_(kPackedBytes) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  Result<size_t> Read(char* to, size_t size) override {
    if (!ready_) return InputError("cannot unpack " + packed_->path() + ": out of memory");
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    const size_t wanted = stream_.avail_out;
    if (unpacked_bytes_ > kMostUnpackedBytes + kMostUnpackedPerPackedByte * packed_bytes_) {
      return Damaged("it unpacks to more than 200 times its size, as no trace does");
    }
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        ASSIGN_OR_RETURN(const size_t count,
                         packed_->Read(reinterpret_cast<char*>(buffer_.data()), buffer_.size()));
        if (count == 0) return at_member_end_ ? Result<size_t>(0) : Damaged("the file is cut");
        stream_.next_in = buffer_.data();
        stream_.avail_in = static_cast<uInt>(count);
        packed_bytes_ += count;
      }
      if (at_member_end_ && inflateReset(&stream_) != Z_OK) return Damaged("reset");
      at_member_end_ = false;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      at_member_end_ = code == Z_STREAM_END;  // another member may follow
      const bool fine = code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
      if (!fine && stream_.avail_out == wanted) {
        return Damaged(stream_.msg != nullptr ? stream_.msg : "bad data");
      }
      if (!fine) break;
    }
    unpacked_bytes_ += wanted - stream_.avail_out;
    return wanted - stream_.avail_out;
  }

  bool packed() const override { return true; }

 private:
  Status Damaged(const char* why) {
    return InputError("cannot unpack " + packed_->path() + ": the gzip data is damaged: " + why);
  }

  std::unique_ptr<PlainSource> packed_;
  std::vector<Bytef> buffer_;
  z_stream stream_{};
  uint64_t packed_bytes_ = 0;  // read so far
  uint64_t unpacked_bytes_ = 0;
  bool ready_ = false;
  bool at_member_end_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return InputError("cannot open " + path + ": " + std::strerror(errno));
  auto plain = std::make_unique<PlainSource>(fd, path);
  unsigned char magic[2] = {};
  const bool gzip = pread(fd, magic, sizeof magic, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  if (gzip) return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(plain)));
  return std::unique_ptr<ByteSource>(std::move(plain));
}

}  // namespace batchlight
