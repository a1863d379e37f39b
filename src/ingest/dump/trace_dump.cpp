#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ingest/common/quoted_text.h"
#include "ingest/common/shapes_text.h"
#include "ingest/dump/record_fields.h"
#include "ingest/dump/trace_text.h"

namespace batchlight {
namespace {

using format::RecordKind;
using format::RecordView;

constexpr size_t kFlushBytes = 1 << 20;

class RecordPrinter {
 public:
  RecordPrinter(const DumpOptions& options, const std::function<Status(std::string_view)>& write)
      : options_(options), write_(write) {}

  Status Print(const format::ChunkView& chunk) {
    if (options_.chunks) PrintHeader(chunk.header);
    strings_.assign(1, {});
    format::RecordReader reader(chunk);
    for (RecordView view; reader.Next(view);) {
      if (view.kind == RecordKind::kString) {
        Define(view, chunk.bytes.size() / 16);
      } else if (options_.records) {
        PrintRecord(view);
      }
      if (text_.size() >= kFlushBytes) RETURN_IF_ERROR(Flush());
    }
    if (reader.damaged()) {
      fmt::format_to(Out(), "# damaged at byte {} of the chunk: the rest is lost\n",
                     reader.position());
    }
    return Flush();
  }

 private:
  std::back_insert_iterator<std::string> Out() { return std::back_inserter(text_); }

  Status Flush() {
    Status status = write_(text_);
    text_.clear();
    return status;
  }

  void PrintHeader(const format::ChunkHeader& header) {
    const bool monotonic =
        header.clock_kind == static_cast<uint32_t>(format::ClockKind::kMonotonic);
    fmt::format_to(Out(),
                   "chunk pid={} tid={} thread={} index={} capture={} attach_ns={} clock={} "
                   "base_ticks={} base_ns={} end_ticks={} end_ns={} ticks_per_second={}",
                   header.pid, header.tid, header.thread_index, header.chunk_index,
                   header.capture_index, header.attach_ns, monotonic ? "monotonic" : "tsc",
                   header.base_ticks, header.base_monotonic_ns, header.end_ticks,
                   header.end_monotonic_ns, header.ticks_per_second);
    if (header.version != format::kFormatVersion) {
      fmt::format_to(Out(), " version={}", header.version);
    }
    text_ += '\n';
  }

  void Define(const RecordView& view, size_t max_id) {
    const auto record = view.As<format::StringRecord>();
    if (record.id == 0 || record.id > max_id) return;
    if (record.id >= strings_.size()) strings_.resize(record.id + 1);
    strings_[record.id] = view.BytesAfter<format::StringRecord>(record.byte_count);
  }

  void PrintRecord(const RecordView& view) {
    fmt::format_to(Out(), "+{} ", view.ticks);
    switch (view.kind) {
#define RECORD_BEGIN(Name, number, since, doc)              \
  case RecordKind::k##Name:                                 \
    text_ += #Name;                                         \
    PrintFields<format::Name##Record, HasBytes(doc)>(view); \
    break;
#define FIELD(type, name, doc)
#define RECORD_END(Name)
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END
      default:
        fmt::format_to(Out(), "Unknown kind={} bytes=", static_cast<int>(view.kind));
        AppendQuoted({reinterpret_cast<const char*>(view.fields), view.field_bytes}, text_);
    }
    text_ += '\n';
  }

  template <typename Record, bool kHasBytes>
  void PrintFields(const RecordView& view) {
    const Record record = view.As<Record>();
    VisitFields(record, [&](auto kind, std::string_view name, const auto& value) {
      if constexpr (std::is_same_v<decltype(kind), StringField>) {
        PrintString(name, value);
      } else {
        if (value == 0 || (kHasBytes && name == "byte_count")) return;
        fmt::format_to(Out(), " {}={}", name, value);
      }
    });
    if constexpr (kHasBytes) {
      text_ += " bytes=";
      AppendQuoted(view.BytesAfter<Record>(record.byte_count), text_);
    }
  }

  void PrintString(std::string_view name, uint32_t ref) {
    if (ref == 0) return;
    fmt::format_to(Out(), " {}=", name);
    if (ref >= strings_.size()) {
      fmt::format_to(Out(), "?{}", ref);  // never defined
      return;
    }
    if (name == "shapes") {
      const std::string inputs = InputsText(strings_[ref]);
      std::string back;
      if (InputsFromText(inputs, &back) && back == strings_[ref]) {
        fmt::format_to(Out(), "{{{}}}", inputs);
        return;
      }
    }
    AppendQuoted(strings_[ref], text_);
  }

  const DumpOptions& options_;
  const std::function<Status(std::string_view)>& write_;
  std::string text_;
  std::vector<std::string_view> strings_;  // of the chunk, by id
};

}  // namespace

Status DumpRecording(const std::string& path, const DumpOptions& options,
                     const std::function<Status(std::string_view)>& write) {
  ASSIGN_OR_RETURN(const ChunkSet set, LoadChunks(path));
  return DumpChunks(set, options, write);
}

Status DumpChunks(const ChunkSet& set, const DumpOptions& options,
                  const std::function<Status(std::string_view)>& write) {
  uint32_t version = 0;  // of the newest chunk
  for (const StoredChunk& chunk : set.chunks) {
    version = std::max<uint32_t>(version, chunk.view.header.version);
  }
  RETURN_IF_ERROR(write(fmt::format("# batchlight recording, format version {}, {} chunks\n",
                                    version, set.chunks.size())));
  for (const std::string& notice : set.notices) RETURN_IF_ERROR(write("# " + notice + "\n"));
  if (set.damaged > 0) {
    RETURN_IF_ERROR(write(fmt::format("# {} damaged chunks skipped\n", set.damaged)));
  }
  RecordPrinter printer(options, write);
  BlockUnpacker unpacker;
  for (const StoredChunk& chunk : set.chunks) {
    RETURN_IF_ERROR(printer.Print(unpacker.Open(chunk)));
  }
  return {};
}

}  // namespace batchlight
