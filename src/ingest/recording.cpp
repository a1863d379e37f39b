#include "ingest/recording.h"

namespace batchlight {

Result<Store> ReadRecording(const std::string& path) {
  return InputError("cannot read " + path + ": this build does not read recordings yet");
}

}  // namespace batchlight
