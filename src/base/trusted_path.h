// Whether code may be loaded from a place.
#pragma once

#include <string>

namespace batchlight {

// Why somebody else could change what lies at `path` (followed to its end): it, or a folder on the
// way to it, belongs neither to this user nor to root, or others may write it. "": nobody could. In
// a folder like /tmp, with the sticky bit, nobody can exchange what is another's.
std::string WhyNotTrusted(const std::string& path);

}  // namespace batchlight
