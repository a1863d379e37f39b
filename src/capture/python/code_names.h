// What code objects of a running process are called and where their lines are, read once for each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/python/frame_reader.h"

namespace batchlight::capture {

struct PythonCode {
  std::string file;
  std::string function;
  uint32_t first_line = 0;
};

// A frame with its names, for writing.
struct NamedFrame {
  std::shared_ptr<const PythonCode> code;
  uint32_t line = 0;  // 0 = unknown
};

class CodeNames {
 public:
  // The frames by name, innermost first. False: one of them is not of a code object.
  bool Name(const FrameReader& reader, std::span<const PythonFrame> frames,
            std::vector<NamedFrame>& named);

 private:
  struct Known {
    // What tells apart code objects that had the same address one after the other.
    uint64_t file = 0, name = 0;
    uint32_t first_line = 0;
    std::shared_ptr<const PythonCode> code;
    std::vector<uint8_t> line_table;
    std::unordered_map<uint64_t, uint32_t> lines;  // by PythonFrame::place
  };

  // nullptr: no code object.
  Known* Find(const FrameReader& reader, uint64_t address, const uint8_t* copy);

  std::unordered_map<uint64_t, Known> known_;  // by address
  size_t held_bytes_ = 0;                      // by known_, as far as the program decides it
  std::vector<uint64_t> addresses_;
  std::vector<uint8_t> copies_;
};

}  // namespace batchlight::capture
