// Names of the recording that are like one that is not there, else those it has most of.
#pragma once

#include <string>

#include "store/store.h"

namespace batchlight {

// "; did you mean a or b?", or the most frequent names if none is similar. Ends a sentence.
std::string NamesLike(const Store& store, const std::string& key);

}  // namespace batchlight
