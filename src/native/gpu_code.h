// The ELF file of code for NVIDIA's GPUs (a cubin), as compilers make it: from which line of source
// each instruction of a function comes, if it was compiled with -lineinfo, as Triton's kernels are.
// The bytes may be anything.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight::native {

struct SourceLine {
  std::string_view file;  // "": not known
  uint32_t line = 0;
};

class GpuCode {
 public:
  // Nothing is kept of `image`.
  explicit GpuCode(std::span<const uint8_t> image);

  bool has_lines() const { return !functions_.empty(); }
  // Of the instruction at `offset` of the function, whose name is mangled.
  SourceLine LineOf(std::string_view function, uint64_t offset) const;

 private:
  struct Row {
    uint64_t offset;
    uint32_t file;  // of files_
    uint32_t line;  // 0: none from here on
  };
  friend class LineProgram;
  // Counts it. False: the image names more than any compiler's.
  bool HasRoomFor(size_t text_bytes);
  std::vector<Row>* RowsOf(std::string_view function);  // null likewise

  std::vector<std::string> files_;
  std::map<std::string, std::vector<Row>, std::less<>> functions_;  // rows by offset
  size_t text_bytes_ = 0;
};

}  // namespace batchlight::native
