#include "capture/python/code_names.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "cpython/line_table.h"
#include "cpython/text_object.h"

namespace batchlight::capture {
namespace {

using cpython::FrameLayout;
using cpython::Load;

constexpr size_t kMostTableBytes = 1 << 20;
constexpr size_t kMostHeldBytes = 64 << 20;  // programs that compile for ever start over
constexpr size_t kBytesEach = 256;           // of a code object or a line, besides what it holds

// A str of the process as UTF-8; empty where there is none. Nothing: what lay there was given to
// something else meanwhile.
std::optional<std::string> ReadText(const FrameReader& reader, uint64_t address) {
  std::vector<uint8_t> copy(reader.layout().compact_data + sizeof(uint64_t));
  if (address == 0 || !reader.memory().Read(address, copy.data(), copy.size())) return "";
  const uint64_t length = std::min<uint64_t>(
      Load<uint64_t>(copy.data(), reader.layout().text_length), cpython::kTextBytes);
  constexpr size_t kMostBytesEach = 4;
  const size_t head = copy.size();
  copy.resize(head + length * kMostBytesEach);
  // What follows a text need not be there: page by page, from its end.
  size_t bytes = copy.size();
  while (bytes > head && !reader.memory().Read(address, copy.data(), bytes)) {
    const uint64_t end = (address + bytes - 1) & ~uint64_t{4095};
    bytes = end > address + head ? end - address : head;
  }
  // The process runs on: by now its length may be another one, for which there is no room here.
  const uint64_t room = std::min(length, Load<uint64_t>(copy.data(), reader.layout().text_length));
  std::memcpy(copy.data() + reader.layout().text_length, &room, sizeof room);
  char buffer[cpython::kTextBytes];
  const cpython::TextView text = cpython::ReadText(reader.layout(), copy.data(), buffer);
  const bool is_ascii = text.data != buffer;
  const auto is_none = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  if (is_ascii && std::any_of(text.data, text.data + text.size, is_none)) return std::nullopt;
  return std::string(text.data, text.size);
}

std::vector<uint8_t> ReadTable(const FrameReader& reader, uint64_t address) {
  uint64_t bytes = 0;
  if (address == 0 ||
      !reader.memory().Read(address + reader.layout().object_size, &bytes, sizeof bytes) ||
      bytes > kMostTableBytes) {
    return {};
  }
  std::vector<uint8_t> table(bytes);
  if (!reader.memory().Read(address + reader.layout().bytes_data, table.data(), bytes)) return {};
  return table;
}

}  // namespace

CodeNames::Known* CodeNames::Find(const FrameReader& reader, uint64_t address,
                                  const uint8_t* copy) {
  const FrameLayout& layout = reader.layout();
  if (Load<uint64_t>(copy, layout.object_type) != reader.code_type()) return nullptr;
  const auto file = Load<uint64_t>(copy, layout.code_file);
  const auto name = Load<uint64_t>(copy, layout.code_name);
  const auto first_line = Load<uint32_t>(copy, layout.code_first_line);
  Known& known = known_[address];  // without code where it could not be read
  if (!known.code || known.file != file || known.name != name || known.first_line != first_line) {
    const std::optional<std::string> file_text = ReadText(reader, file);
    const std::optional<std::string> name_text = ReadText(reader, name);
    if (!file_text || !name_text) return nullptr;
    // One stack of many large functions: their lines stay unknown this time.
    const bool has_room = held_bytes_ <= kMostHeldBytes;
    known = {file,
             name,
             first_line,
             std::make_shared<const PythonCode>(
                 PythonCode{.file = *file_text, .function = *name_text, .first_line = first_line}),
             has_room ? ReadTable(reader, Load<uint64_t>(copy, layout.code_table))
                      : std::vector<uint8_t>(),
             {}};
    held_bytes_ += kBytesEach + known.code->file.size() + known.code->function.size() +
                   known.line_table.size();
  }
  return &known;
}

bool CodeNames::Name(const FrameReader& reader, std::span<const PythonFrame> frames,
                     std::vector<NamedFrame>& named) {
  addresses_.clear();
  for (const PythonFrame& frame : frames) addresses_.push_back(frame.code);
  copies_.resize(frames.size() * kCodeBytes);
  if (reader.memory().ReadAll(addresses_, kCodeBytes, copies_.data()) < frames.size()) return false;
  const FrameLayout& layout = reader.layout();
  named.clear();
  if (held_bytes_ > kMostHeldBytes) {
    known_.clear();
    held_bytes_ = 0;
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    Known* known = Find(reader, frames[i].code, copies_.data() + i * kCodeBytes);
    if (known == nullptr) return false;
    const auto [line, added] = known->lines.try_emplace(frames[i].place);
    if (added) {
      held_bytes_ += kBytesEach;
      line->second = cpython::LineAt(layout.table_kind, known->line_table.data(),
                                     known->line_table.size(), static_cast<int>(known->first_line),
                                     cpython::OffsetOf(layout, frames[i].place, frames[i].code));
    }
    named.push_back({known->code, line->second});
  }
  return true;
}

}  // namespace batchlight::capture
