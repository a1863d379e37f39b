// Counters of the set `roofline` for the run that sample_report makes, with figures as an H200's.
#pragma once

#include "store/store.h"

namespace batchlight {

// Of the kernels of one stretch, which were measured one by one, or of a step as a whole. Kernels
// of each operator are a case of their own: near its peak, far from it, held by DRAM or L2, a copy,
// one without bytes of DRAM, one whose operations were not counted.
void AddSampleRoofline(Store& store);
void AddSampleStepRoofline(Store& store);

}  // namespace batchlight
