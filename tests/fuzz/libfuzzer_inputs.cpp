// Entry for libFuzzer: cmake -DBATCHLIGHT_FUZZ=ON with clang, then
//   build/fuzz/test/fuzz_inputs CORPUS_FOLDER
#include "fuzz_inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  batchlight::fuzz::FuzzInput(data, size);
  return 0;
}
