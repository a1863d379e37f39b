#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "base/file.h"
#include "format/encode.h"
#include "ingest/common/quoted_text.h"
#include "ingest/common/shapes_text.h"
#include "ingest/dump/record_fields.h"
#include "ingest/dump/trace_text.h"

namespace batchlight {
namespace {

using format::ChunkHeader;

// Room for a chunk while it is written; cut to whole pages when it is finished.
constexpr size_t kRoomBytes = 16 << 20;

struct Attribute {
  std::string_view name;
  std::string value;
};

template <typename T>
bool ToNumber(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// name=value pairs up to the end of the line. A value in quotes or braces may hold spaces.
bool ParseAttributes(std::string_view rest, std::vector<Attribute>& attributes) {
  attributes.clear();
  while (true) {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (rest.empty()) return true;
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    Attribute attribute{.name = rest.substr(0, equals), .value = {}};
    rest.remove_prefix(equals + 1);
    if (rest.starts_with('"')) {
      if (!TakeQuoted(rest, attribute.value)) return false;
    } else if (rest.starts_with('{')) {
      const size_t end = rest.find('}');
      if (end == std::string_view::npos ||
          !InputsFromText(rest.substr(1, end - 1), &attribute.value)) {
        return false;
      }
      rest.remove_prefix(end + 1);
    } else {
      attribute.value = rest.substr(0, rest.find(' '));
      rest.remove_prefix(attribute.value.size());
    }
    attributes.push_back(std::move(attribute));
  }
}

class Assembler {
 public:
  Result<std::map<std::string, std::string>> Run(std::string_view text) {
    size_t line_number = 0;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line_number;
      RETURN_IF_ERROR(Line(line).WithContext(fmt::format("line {}", line_number)));
    }
    FinishChunk();
    return std::move(files_);
  }

 private:
  Status Line(std::string_view line) {
    while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') return {};
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(space);
    if (word == "chunk") return Chunk(line);
    uint64_t ticks = 0;
    if (!word.starts_with('+') || !ToNumber(word.substr(1), &ticks)) {
      return InputError("expected \"chunk\" or \"+TICKS\", found \"" + std::string(word) + "\"");
    }
    if (!room_) return InputError("a record before the first chunk line");
    while (line.starts_with(' ')) line.remove_prefix(1);
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view name = line.substr(0, end);
    if (!ParseAttributes(line.substr(end), attributes_)) return InputError("malformed fields");
    return Record(name, header_.base_ticks + ticks);
  }

  Status Chunk(std::string_view rest) {
    FinishChunk();
    if (!ParseAttributes(rest, attributes_)) return InputError("malformed chunk line");
    ChunkHeader header = header_;
    header.end_ticks = 0;
    header.end_monotonic_ns = 0;
    bool has_index = false;
    for (const Attribute& attribute : attributes_) {
      if (!SetHeader(attribute, header)) {
        return InputError("unknown or malformed \"" + std::string(attribute.name) + "\"");
      }
      has_index = has_index || attribute.name == "index";
    }
    const bool same_thread = header.pid == header_.pid && header.attach_ns == header_.attach_ns &&
                             header.thread_index == header_.thread_index;
    if (!has_index) header.chunk_index = same_thread && any_chunk_ ? header_.chunk_index + 1 : 0;
    header_ = header;
    any_chunk_ = true;
    room_.reset(static_cast<uint8_t*>(std::calloc(1, kRoomBytes)));
    writer_ = format::ChunkWriter(std::span(room_.get(), kRoomBytes), header_);
    strings_.clear();
    return {};
  }

  bool SetHeader(const Attribute& attribute, ChunkHeader& header) {
    const auto number = [&](auto& field) { return ToNumber(attribute.value, &field); };
    const std::string_view name = attribute.name;
    if (name == "pid") return number(header.pid);
    if (name == "tid") return number(header.tid);
    if (name == "thread") return number(header.thread_index);
    if (name == "index") return number(header.chunk_index);
    if (name == "capture") return number(header.capture_index);
    if (name == "attach_ns") return number(header.attach_ns);
    if (name == "base_ticks") return number(header.base_ticks);
    if (name == "base_ns") return number(header.base_monotonic_ns);
    if (name == "end_ticks") return number(header.end_ticks);
    if (name == "end_ns") return number(header.end_monotonic_ns);
    if (name == "ticks_per_second") return number(header.ticks_per_second);
    if (name == "version") return number(version_);
    if (name != "clock") return false;
    const bool monotonic = attribute.value == "monotonic";
    header.clock_kind =
        static_cast<uint32_t>(monotonic ? format::ClockKind::kMonotonic : format::ClockKind::kTsc);
    return monotonic || attribute.value == "tsc";
  }

  Status Record(std::string_view name, uint64_t ticks) {
    if (name == "Unknown") return UnknownRecord(ticks);
#define RECORD_BEGIN(Name, number, since, doc) \
  if (name == #Name) return AddRecord<format::Name##Record, HasBytes(doc)>(ticks);
#define FIELD(type, name, doc)
#define RECORD_END(Name)
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END
    return InputError("unknown record \"" + std::string(name) + "\"");
  }

  template <typename Record, bool kHasBytes>
  Status AddRecord(uint64_t ticks) {
    Record record{};
    std::string bytes;
    for (const Attribute& attribute : attributes_) {
      if (kHasBytes && attribute.name == "bytes") {
        bytes = attribute.value;
        continue;
      }
      bool known = false;
      Status status;
      VisitFields(record, [&](auto kind, std::string_view name, auto& value) {
        if (name != attribute.name) return;
        known = true;
        if constexpr (std::is_same_v<decltype(kind), StringField>) {
          value = StringId(attribute.value, ticks);
          if (value == 0) status = InputError("the chunk is full");
        } else if (!ToNumber(attribute.value, &value)) {
          status = InputError("not a number: \"" + attribute.value + "\"");
        }
      });
      RETURN_IF_ERROR(std::move(status));
      if (!known) return InputError("unknown field \"" + std::string(attribute.name) + "\"");
    }
    if constexpr (kHasBytes) record.byte_count = static_cast<uint32_t>(bytes.size());
    if (!writer_.AddWithBytes(record, bytes, ticks)) return InputError("the chunk is full");
    return {};
  }

  // A record of a kind that this version does not know, to test that readers skip it.
  Status UnknownRecord(uint64_t ticks) {
    uint32_t kind = 0;
    std::string bytes;
    for (const Attribute& attribute : attributes_) {
      if (attribute.name == "bytes") bytes = attribute.value;
      if (attribute.name == "kind") ToNumber(attribute.value, &kind);
    }
    if (kind == 0 || kind > 255 || bytes.size() % 8 != 0 || bytes.size() > 1024) {
      return InputError("Unknown needs kind=1..255 and bytes in multiples of 8");
    }
    const uint32_t offset = writer_.used_bytes();
    if (!writer_.AddWithBytes(format::RangePopRecord{}, bytes, ticks)) {
      return InputError("the chunk is full");
    }
    room_.get()[offset] = static_cast<uint8_t>(kind);
    return {};
  }

  format::StringRef StringId(const std::string& text, uint64_t ticks) {
    const auto [place, added] = strings_.try_emplace(text, 0);
    if (added) place->second = writer_.AddString(text, ticks);
    return place->second;
  }

  // A chunk with an end is closed; one without stays as a killed process leaves it.
  void FinishChunk() {
    if (!room_) return;
    const uint32_t used_bytes = writer_.used_bytes();
    if (header_.end_ticks != 0) writer_.Close(header_.end_ticks, header_.end_monotonic_ns);
    const uint32_t pages = (used_bytes + format::kPageBytes - 1) / format::kPageBytes;
    auto* header = reinterpret_cast<ChunkHeader*>(room_.get());
    header->chunk_bytes = pages * format::kPageBytes;
    if (version_ != 0) header->version = version_;
    const std::string name =
        header_.pid == 0 ? "tool.blp" : fmt::format("{}-{}.blp", header_.pid, header_.attach_ns);
    files_[name].append(reinterpret_cast<const char*>(room_.get()), header->chunk_bytes);
    room_.reset();
  }

  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };

  std::map<std::string, std::string> files_;
  ChunkHeader header_{};
  bool any_chunk_ = false;
  uint16_t version_ = 0;
  std::unique_ptr<uint8_t[], Free> room_;  // of the chunk being written
  format::ChunkWriter writer_;
  std::map<std::string, format::StringRef> strings_;
  std::vector<Attribute> attributes_;
};

}  // namespace

Result<std::map<std::string, std::string>> AssembleRecording(std::string_view text) {
  return Assembler().Run(text);
}

Status WriteLiveFolder(const std::map<std::string, std::string>& files, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return OutputError("cannot make " + folder + ": " + error.message());
  for (const auto& [name, bytes] : files) {
    RETURN_IF_ERROR(WriteWholeFile(folder + "/" + name, bytes));
  }
  return {};
}

}  // namespace batchlight
