#include "inject/stacks/frame_walk.h"

#include "cpython/line_table.h"

namespace batchlight::inject::stacks {
namespace {

uint64_t IdentityOf(const FrameLayout& layout, const void* code) {
  return Load<uint64_t>(code, layout.code_file) ^ Load<uint64_t>(code, layout.code_name) << 20 ^
         Load<uint32_t>(code, layout.code_first_line);
}

}  // namespace

bool WalkFrames(const FrameSource& source, const void* innermost, RawStack& stack) {
  const FrameLayout layout = *source.layout;
  uint64_t hash = 0x9e3779b97f4a7c15;
  size_t count = 0;
  const void* frame = innermost;
  for (; frame != nullptr && count < kMaxFrames;
       frame = Load<const void*>(frame, layout.frame_back)) {
    if (layout.frame_owner != 0 && Load<uint8_t>(frame, layout.frame_owner) >= layout.owner_is_c) {
      continue;
    }
    const auto* code = reinterpret_cast<const void*>(cpython::CodeOf(layout, frame));
    if (code == nullptr || Load<const void*>(code, layout.object_type) != source.code_type)
      return false;
    RawFrame& raw = stack.frames[count++];
    raw = {code, PlaceOf(layout, frame), IdentityOf(layout, code)};
    const uint64_t word = reinterpret_cast<uint64_t>(code) * 0xff51afd7ed558ccd ^
                          raw.place * 0xc4ceb9fe1a85ec53 ^ raw.identity * 0x9e3779b97f4a7c15;
    hash = (hash ^ word ^ word >> 29) * 0xbf58476d1ce4e5b9;
  }
  stack.count = count;
  stack.is_cut = frame != nullptr;
  stack.hash = hash ^ hash >> 32;
  return true;
}

uint32_t LineOf(const FrameLayout& layout, const RawFrame& frame) {
  const auto* table = Load<const char*>(frame.code, layout.code_table);
  if (table == nullptr) return 0;
  const auto bytes = Load<size_t>(table, layout.object_size);
  const int64_t offset =
      cpython::OffsetOf(layout, frame.place, reinterpret_cast<uint64_t>(frame.code));
  return cpython::LineAt(layout.table_kind,
                         reinterpret_cast<const uint8_t*>(table + layout.bytes_data), bytes,
                         Load<int32_t>(frame.code, layout.code_first_line), offset);
}

}  // namespace batchlight::inject::stacks
