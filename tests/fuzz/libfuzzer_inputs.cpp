// Entry for libFuzzer, compiled once for each row of targets.def (CMakeLists.txt).
#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  batchlight::fuzz::FUZZ_FUNCTION(data, size);
  return 0;
}
