#include "export/text/pprof_profile.h"

#include "base/json_text.h"

namespace batchlight {
namespace {

constexpr uint64_t kMapping = 1;

}  // namespace

void PprofProfile::AddType(std::string_view type, std::string_view unit) {
  profile_.Message(1, ProtobufMessage().Number(1, Text(type)).Number(2, Text(unit)));
}

uint64_t PprofProfile::Location(PythonFrameId frame) {
  const uint64_t next = python_locations_.size() + named_locations_.size() + 1;
  const auto [location, added] = python_locations_.try_emplace(frame, next);
  if (added) {
    const PythonFramesTable& frames = store_.python_frames;
    const size_t row = frame.row();
    AddLocation(next,
                Function(store_.Text(frames.function[row]), store_.Text(frames.file[row]),
                         frames.first_line[row]),
                frames.line[row]);
  }
  return location->second;
}

uint64_t PprofProfile::Location(std::string_view function) {
  if (const auto known = named_locations_.find(function); known != named_locations_.end()) {
    return known->second;
  }
  const uint64_t next = python_locations_.size() + named_locations_.size() + 1;
  named_locations_.emplace(function, next);
  AddLocation(next, Function(function, "", 0), 0);
  return next;
}

void PprofProfile::AddSample(std::span<const uint64_t> locations, std::span<const int64_t> values,
                             std::span<const Label> labels) {
  ProtobufMessage sample;
  for (const uint64_t location : locations) sample.Number(1, location);
  for (const int64_t value : values) sample.Number(2, static_cast<uint64_t>(value));
  for (const Label& label : labels) {
    sample.Message(3, ProtobufMessage().Number(1, Text(label.key)).Number(2, Text(label.text)));
  }
  profile_.Message(2, sample);
}

std::string PprofProfile::Finish(std::string_view shown_first) {
  // All places are named already: without that, pprof looks for a program to ask for names.
  profile_.Message(3, ProtobufMessage()
                          .Number(1, kMapping)
                          .Number(5, Text("Python"))
                          .Number(7, 1)
                          .Number(8, 1)
                          .Number(9, 1));
  const uint64_t first = Text(shown_first);
  ProtobufMessage texts;
  for (const std::string& text : texts_) texts.Bytes(6, text);
  return profile_.Append(texts).Number(14, first).bytes();
}

uint64_t PprofProfile::Text(std::string_view text) {
  const auto [place, added] = numbers_.try_emplace(ValidUtf8(text), texts_.size());
  if (added) texts_.push_back(place->first);
  return place->second;
}

uint64_t PprofProfile::Function(std::string_view name, std::string_view file, uint32_t first_line) {
  const uint64_t name_id = Text(name);
  const uint64_t file_id = Text(file);
  const auto [function, added] =
      functions_.try_emplace({name_id, file_id, first_line}, functions_.size() + 1);
  if (added) {
    // Without a name of the linker's (3): pprof would take it for C++ and <module> for arguments of
    // a template.
    profile_.Message(5, ProtobufMessage()
                            .Number(1, function->second)
                            .Number(2, name_id)
                            .Number(4, file_id)
                            .Number(5, first_line));
  }
  return function->second;
}

void PprofProfile::AddLocation(uint64_t id, uint64_t function, uint32_t line) {
  profile_.Message(4, ProtobufMessage()
                          .Number(1, id)
                          .Number(2, kMapping)
                          .Message(4, ProtobufMessage().Number(1, function).Number(2, line)));
}

}  // namespace batchlight
