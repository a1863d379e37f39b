// Entry for libFuzzer: cmake -DBATCHLIGHT_FUZZ=ON with clang, then
//   build/fuzz/test/fuzz_recording CORPUS_FOLDER
#include "fuzz_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  batchlight::fuzz::FuzzRecording(data, size);
  return 0;
}
