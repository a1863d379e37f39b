// What recording costs, measured in the program itself, so that a report can say what share of a
// step is ours.
#pragma once

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// Times a driver call that does nothing (cuDriverGetVersion) with and without a record of it, on
// the calling thread, in about a millisecond. Its records are not written (DecodeBuffer).
void MeasureCallCost(const Library& library);

}  // namespace batchlight::inject::cupti
