// Instructions of GPU code that was sampled are offsets: here they get their lines of source, as
// the code's own tables have them, and their text, from nvdisasm where there is one.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/live_folder.h"

namespace batchlight::capture {

// nvdisasm: of PATH, of CUDA_HOME, of Triton's package beside the program's CUPTI, of CUDA's usual
// folder. "": there is none.
std::string FindDisassembler(const std::string& cupti_folder);

struct GpuCodeWords {
  std::string disassembler;  // "": instructions get no text
  uint32_t capture = 0;
};

// Writes a GpuInstruction for each instruction that was sampled, into a file of its own: before the
// folder is sealed. Without samples nothing is done. Errors: a process file cannot be read,
// or the disassembler was ended.
Status NameGpuCode(const LiveFolder& live_folder, const GpuCodeWords& words);

}  // namespace batchlight::capture
