#include "capture/recording/tool_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

// Room for the longest string twice: a key and a value.
constexpr size_t kChunkBytes = 256 * 1024;

size_t StringBytes(std::string_view text) {
  return sizeof(format::StringRecord) + 8 + format::PadTo8(text.size());
}

std::string_view Cut(std::string_view text) { return text.substr(0, format::kMaxStringBytes); }

}  // namespace

Result<ToolLog> ToolLog::Create(const LiveFolder& live_folder) {
  const std::string path = live_folder.path() + "/" + kToolFile;
  ToolLog log;
  log.fd_ = live_folder.folder().MakePrivateFile(kToolFile);
  if (log.fd_ < 0) return OutputError("cannot write " + path + ": " + std::strerror(errno));
  log.attach_ns_ = MonotonicNow();
  if (!log.OpenChunk()) return OutputError("cannot write " + path + ": " + std::strerror(errno));
  return log;
}

ToolLog::ToolLog(ToolLog&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      file_bytes_(other.file_bytes_),
      mapping_(std::exchange(other.mapping_, nullptr)),
      writer_(std::exchange(other.writer_, {})),
      chunk_index_(other.chunk_index_),
      capture_index_(other.capture_index_),
      attach_ns_(other.attach_ns_),
      gpu_metrics_(std::move(other.gpu_metrics_)),
      gpu_metrics_written_(other.gpu_metrics_written_) {}

ToolLog::~ToolLog() {
  CloseChunk();
  if (fd_ >= 0) close(fd_);
}

bool ToolLog::OpenChunk() {
  CloseChunk();
  const auto offset = static_cast<off_t>(file_bytes_);
  if (const int error = posix_fallocate(fd_, offset, kChunkBytes); error != 0) {
    errno = error;
    return false;
  }
  void* memory = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset);
  if (memory == MAP_FAILED) return false;
  mapping_ = memory;
  gpu_metrics_written_ = 0;
  file_bytes_ += kChunkBytes;
  const int64_t now = MonotonicNow();
  format::ChunkHeader header{};
  header.chunk_index = chunk_index_++;
  header.capture_index = capture_index_;
  header.clock_kind = static_cast<uint32_t>(format::ClockKind::kMonotonic);
  header.attach_ns = attach_ns_;
  header.base_ticks = static_cast<uint64_t>(now);
  header.base_monotonic_ns = now;
  header.ticks_per_second = 1'000'000'000;
  writer_ = format::ChunkWriter({static_cast<uint8_t*>(memory), kChunkBytes}, header);
  format::ClockSyncRecord sync{};
  sync.monotonic_ns = now;
  sync.realtime_ns = ClockNow(CLOCK_REALTIME);
  writer_.Add(sync, static_cast<uint64_t>(now));
  return true;
}

void ToolLog::CloseChunk() {
  if (mapping_ == nullptr) return;
  const int64_t now = MonotonicNow();
  writer_.Close(static_cast<uint64_t>(now), now);
  munmap(std::exchange(mapping_, nullptr), kChunkBytes);
}

template <typename AddRecord>
void ToolLog::Append(size_t bytes, AddRecord&& add) {
  if (writer_.Room() < bytes && !OpenChunk()) return;
  add(static_cast<uint64_t>(MonotonicNow()));
}

void ToolLog::AddProperty(std::string_view key, std::string_view value) {
  key = Cut(key);
  value = Cut(value);
  Append(StringBytes(key) + StringBytes(value) + sizeof(format::PropertyRecord), [&](uint64_t now) {
    format::PropertyRecord record{};
    record.key = writer_.AddString(key, now);
    record.value = writer_.AddString(value, now);
    writer_.Add(record, now);
  });
}

void ToolLog::AddReason(std::string_view feature, std::string_view text) {
  text = Cut(text);
  Append(StringBytes(feature) + StringBytes(text) + sizeof(format::ReasonRecord),
         [&](uint64_t now) {
           format::ReasonRecord record{};
           record.feature = writer_.AddString(feature, now);
           record.text = writer_.AddString(text, now);
           writer_.Add(record, now);
         });
}

void ToolLog::AddProcessStatus(const format::ProcessStatusRecord& status) {
  Append(sizeof status, [&](uint64_t now) { writer_.Add(status, now); });
}

void ToolLog::AddCounter(format::Counter counter, uint64_t value) {
  format::CounterRecord record{};
  record.counter = static_cast<uint32_t>(counter);
  record.value = value;
  Append(sizeof record, [&](uint64_t now) { writer_.Add(record, now); });
}

void ToolLog::DefineGpuMetric(const GpuMetricDefinition& metric) {
  constexpr size_t kMost = 1024;  // a thousand take a quarter of a chunk
  if (gpu_metrics_.size() < kMost) gpu_metrics_.push_back(metric);
}

void ToolLog::WriteGpuMetrics(uint64_t now) {
  for (; gpu_metrics_written_ < gpu_metrics_.size(); ++gpu_metrics_written_) {
    const GpuMetricDefinition& metric = gpu_metrics_[gpu_metrics_written_];
    format::GpuMetricRecord record{};
    record.id = static_cast<uint32_t>(gpu_metrics_written_ + 1);
    record.device = metric.device;
    record.uuid = writer_.AddString(Cut(metric.uuid), now);
    record.name = writer_.AddString(Cut(metric.name), now);
    record.unit = writer_.AddString(Cut(metric.unit), now);
    record.source = metric.source;
    record.interval_ns = metric.interval_ns;
    writer_.Add(record, now);
  }
}

void ToolLog::AddGpuSample(const GpuSample& sample) {
  const auto first = std::find_if(
      gpu_metrics_.begin(), gpu_metrics_.end(), [&](const GpuMetricDefinition& metric) {
        return metric.device == sample.device && metric.source == sample.source;
      });
  if (first == gpu_metrics_.end()) return;
  size_t definitions = 0;
  for (const GpuMetricDefinition& metric : gpu_metrics_) {
    definitions += sizeof(format::GpuMetricRecord) + StringBytes(metric.uuid) +
                   StringBytes(metric.name) + StringBytes(metric.unit);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(sample.values.data()),
                               sample.values.size() * sizeof(float));
  const bool defined = gpu_metrics_written_ == gpu_metrics_.size();
  const size_t room = sizeof(format::GpuMetricSampleRecord) + 8 + format::PadTo8(bytes.size());
  if (definitions + room > kChunkBytes / 2) return;
  // In a chunk of its own the definitions come first.
  Append(room + (defined ? 0 : definitions), [&](uint64_t now) {
    if (gpu_metrics_written_ != gpu_metrics_.size()) WriteGpuMetrics(now);
    format::GpuMetricSampleRecord record{};
    record.start_ns = sample.start_ns;
    record.first_metric = static_cast<uint32_t>(first - gpu_metrics_.begin() + 1);
    record.byte_count = static_cast<uint32_t>(bytes.size());
    writer_.AddWithBytes(record, bytes, now);
  });
}

void ToolLog::SetCapture(uint32_t capture_index) {
  if (capture_index == capture_index_) return;
  capture_index_ = capture_index;
  if (!OpenChunk()) writer_ = {};
}

void ToolLog::AddCaptureWindow(uint32_t capture_index, bool on) {
  SetCapture(capture_index);
  format::CaptureWindowRecord window{};
  window.capture_index = capture_index;
  window.on = on ? 1 : 0;
  Append(sizeof window, [&](uint64_t now) { writer_.Add(window, now); });
}

}  // namespace batchlight::capture
