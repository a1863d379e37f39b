#include "ingest/decode/stall_samples.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "format/decode.h"
#include "ingest/chunks/chunk_clock.h"
#include "ingest/chunks/chunk_set.h"

namespace batchlight {
namespace {

using format::RecordKind;
using format::RecordView;

class StallReader {
 public:
  void ReadChunk(const format::ChunkView& chunk);
  StallSamples Finish();

 private:
  struct Totals {
    uint64_t samples, dropped, foreign;
    bool buffer_full;
  };
  struct Place {  // what stands at an instruction
    uint32_t text, file, line;
  };

  // The number of a string of the chunk among the names; 0: there is none.
  uint32_t Name(uint32_t ref);
  void Take(const format::StallWindowRecord& record);
  void Take(const format::StallSampleRecord& record);

  std::unordered_map<uint32_t, std::string_view> strings_;  // of the chunk
  std::unordered_map<uint32_t, uint32_t> named_;            // of the chunk
  uint32_t pid_ = 0;
  ChunkClock clock_;

  StallSamples result_;
  std::unordered_map<std::string, uint32_t> names_;
  std::map<std::pair<uint32_t, uint32_t>, Totals> totals_;  // by process and window
  // Code, function, offset, reason: how many samples.
  std::map<std::tuple<uint64_t, uint32_t, uint64_t, uint32_t>, uint64_t> samples_;
  std::map<std::tuple<uint64_t, uint32_t, uint64_t>, Place> places_;
};

uint32_t StallReader::Name(uint32_t ref) {
  const auto known = named_.find(ref);
  if (known != named_.end()) return known->second;
  const auto text = strings_.find(ref);
  if (text == strings_.end()) return 0;
  const auto [name, is_new] =
      names_.try_emplace(std::string(text->second), static_cast<uint32_t>(result_.names.size()));
  if (is_new) result_.names.push_back(name->first);
  return named_[ref] = name->second;
}

void StallReader::Take(const format::StallWindowRecord& record) {
  constexpr uint32_t kSerialized = 1, kCutShort = 2;
  const bool has_period = record.period_log2 > 0 && record.period_log2 < 63;
  result_.windows.push_back(
      {.pid = pid_,
       .number = record.window,
       .device = record.device,
       .iteration = record.iteration,
       .length_ns = std::max<int64_t>(0, clock_.LengthNs(record.ticks)),
       .switch_ns = static_cast<int64_t>(std::min<uint64_t>(record.switch_ns, INT64_MAX)),
       .period_cycles = has_period ? uint64_t{1} << record.period_log2 : 0,
       .serialized = (record.flags & kSerialized) != 0,
       .is_short = (record.flags & kCutShort) != 0,
       .modules_unloaded = record.modules_unloaded});
}

void StallReader::Take(const format::StallSampleRecord& record) {
  samples_[{record.cubin, Name(record.function), record.offset, Name(record.reason)}] +=
      record.samples;
}

void StallReader::ReadChunk(const format::ChunkView& chunk) {
  strings_.clear();
  named_.clear();
  pid_ = chunk.header.pid;
  clock_ = ChunkClock(chunk.header, 0, 0, INT64_MAX);
  format::RecordReader reader(chunk);
  for (RecordView view; reader.Next(view);) {
    if (view.kind == RecordKind::kString) {
      const auto record = view.As<format::StringRecord>();
      strings_[record.id] = view.BytesAfter<format::StringRecord>(record.byte_count);
    } else if (view.kind == RecordKind::kStallWindow) {
      Take(view.As<format::StallWindowRecord>());
    } else if (view.kind == RecordKind::kStallSample) {
      Take(view.As<format::StallSampleRecord>());
    } else if (view.kind == RecordKind::kStallTotals) {
      const auto record = view.As<format::StallTotalsRecord>();
      totals_[{pid_, record.window}] = {record.samples, record.dropped, record.foreign,
                                        (record.flags & 1) != 0};
    } else if (view.kind == RecordKind::kGpuInstruction) {
      const auto record = view.As<format::GpuInstructionRecord>();
      places_.try_emplace({record.cubin, Name(record.function), record.offset},
                          Place{Name(record.text), Name(record.file), record.line});
    }
  }
}

StallSamples StallReader::Finish() {
  for (StallWindow& window : result_.windows) {
    const auto found = totals_.find({window.pid, window.number});
    if (found == totals_.end()) continue;
    window.is_whole = true;
    window.samples = found->second.samples;
    window.dropped = found->second.dropped;
    window.foreign = found->second.foreign;
    window.buffer_full = found->second.buffer_full;
  }
  for (const auto& [key, count] : samples_) {
    const auto& [code, function, offset, reason] = key;
    StallSample sample{.function = function,
                       .reason = reason,
                       .samples = static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX)),
                       .code = code,
                       .offset = offset};
    if (const auto place = places_.find({code, function, offset}); place != places_.end()) {
      sample.instruction = place->second.text;
      sample.file = place->second.file;
      sample.line = place->second.line;
    }
    result_.samples.push_back(sample);
  }
  return std::move(result_);
}

}  // namespace

Result<StallSamples> ReadStallSamples(const std::string& path) {
  ASSIGN_OR_RETURN(const ChunkSet set, LoadChunks(path));
  BlockUnpacker unpacker;
  StallReader reader;
  for (size_t i = 0; i < set.chunks.size(); ++i) {
    reader.ReadChunk(unpacker.Open(set.chunks[i]));
    set.Release(i);
  }
  StallSamples samples = reader.Finish();
  samples.owners = set.owners;
  return samples;
}

}  // namespace batchlight
