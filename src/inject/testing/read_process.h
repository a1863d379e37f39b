// Reads what this process has recorded so far, through the tool's decoder.
#pragma once

#include <dirent.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "format/decode.h"
#include "inject/rt/control.h"
#include "inject/rt/process.h"

namespace batchlight::inject {

struct ReadRecord {
  format::RecordKind kind;
  uint64_t ticks;            // absolute
  std::vector<uint8_t> raw;  // fields

  template <class R>
  R As() const {
    R record{};
    const size_t bytes = raw.size() < sizeof(R) - 8 ? raw.size() : sizeof(R) - 8;
    std::memcpy(reinterpret_cast<char*>(&record) + 8, raw.data(), bytes);
    return record;
  }
};

struct ReadChunk {
  format::ChunkHeader header;
  std::map<uint32_t, std::string> strings;
  std::vector<ReadRecord> records;
  bool damaged = false;
};

inline ReadChunk DecodeChunk(const format::ChunkView& view) {
  ReadChunk chunk{.header = view.header, .strings = {}, .records = {}};
  format::RecordReader reader(view);
  for (format::RecordView record; reader.Next(record);) {
    if (record.kind == format::RecordKind::kString) {
      const auto string = record.As<format::StringRecord>();
      chunk.strings[string.id] = record.BytesAfter<format::StringRecord>(string.byte_count);
    }
    chunk.records.push_back({record.kind,
                             view.header.base_ticks + record.ticks,
                             {record.fields, record.fields + record.field_bytes}});
  }
  chunk.damaged = reader.damaged();
  return chunk;
}

// The chunks of this process; only those of one thread unless `thread_index` is negative.
inline std::vector<ReadChunk> ReadThisProcess(int64_t thread_index = -1) {
  const std::string path = std::string(SessionDir()) + "/" + std::to_string(g_process.pid) + "-" +
                           std::to_string(g_process.attach_ns) + ".blp";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<uint64_t> words(static_cast<size_t>(file.tellg()) / 8);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 8));
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(words.data()),
                                       words.size() * 8);
  std::vector<ReadChunk> chunks;
  for (size_t at = 0; at < bytes.size();) {
    format::ChunkView view;
    if (!format::ParseChunk(bytes.subspan(at), &view)) {
      at += format::kPageBytes;
      continue;
    }
    at += view.header.chunk_bytes;
    if (thread_index >= 0 && view.header.thread_index != thread_index) continue;
    chunks.push_back(DecodeChunk(view));
  }
  return chunks;
}

}  // namespace batchlight::inject
