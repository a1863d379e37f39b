#include "base/contain.h"

#include <exception>
#include <new>

namespace batchlight {

Status Contain(const std::string& work, const std::function<Status()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return OutputError(work + ": out of memory");
  } catch (const std::exception& error) {
    return OutputError(work + ": " + error.what());
  }
}

}  // namespace batchlight
