// Where the CUPTI lies that a program will use, for those who plan counters before it runs.
#pragma once

#include <string>
#include <vector>

namespace batchlight::capture {

// Whose libcupti is loaded: of the user who runs the program, if that is the tool's own; else only
// one that nobody but the tool's user and root could change (base/trusted_path.h).
enum class CuptiOf { kAnyone, kToolAlone };

// The folder of libcupti: of BATCHLIGHT_CUPTI (a file or a folder), else of the packages beside the
// program's interpreter (nvidia-cuda-cupti, as PyTorch brings it), of VIRTUAL_ENV or of python3;
// "-": none is there, and the loader and CUDA's toolkits are to be asked.
std::string FindCuptiFolder(const std::vector<std::string>& command,
                            CuptiOf whose = CuptiOf::kAnyone);

}  // namespace batchlight::capture
