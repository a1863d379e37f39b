// Names in the recording that resemble one that is missing, or else its most frequent names.
#pragma once

#include <string>

#include "store/store.h"

namespace batchlight {

// "; did you mean a or b?", or the most frequent names if none is similar. Ends a sentence.
std::string NamesLike(const Store& store, const std::string& key);

}  // namespace batchlight
