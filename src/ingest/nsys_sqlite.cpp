#include "ingest/nsys_sqlite.h"

namespace batchlight {

Result<Store> ImportNsysSqlite(const std::string& path) {
  return InputError("cannot read " + path + ": this build does not read nsys exports yet");
}

}  // namespace batchlight
