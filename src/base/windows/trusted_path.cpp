// Access lists say there who may do what; what is given here is the one user that the C library
// knows.
#include "base/trusted_path.h"

namespace batchlight {

std::string WhyNotTrusted(const std::string&) { return ""; }

bool IsReadableTo(uid_t, int, const Folder&) { return true; }

}  // namespace batchlight
