#include "base/contain.h"

#include <exception>
#include <new>

namespace batchlight {

Status Contain(const std::string& work, const std::function<Status()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return OutputError(work + ": " + std::string(kNoMemory));
  } catch (const std::exception& error) {
    return OutputError(work + ": " + error.what());
  }
}

}  // namespace batchlight
