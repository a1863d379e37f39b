#include "ingest/kineto_json.h"

namespace batchlight {

Result<Store> ImportKinetoJson(const std::string& path) {
  return InputError("cannot read " + path + ": this build does not read Kineto traces yet");
}

}  // namespace batchlight
