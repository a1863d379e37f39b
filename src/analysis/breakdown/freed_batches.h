// What freeing a batch takes: the line that copied it to the GPU goes on running when the copy is
// through, since the tensor that it replaces lies in memory that a DataLoader's worker shared and
// that is unmapped page by page.
#pragma once

#include <vector>

#include "analysis/lines/code_samples.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Of `gaps`, in which the loop's thread is in no operator and no phase: those behind a copy of a
// batch from pageable memory in which samples find the line that copied, ns in all. What else that
// line may do is left out: where it copies again before the loop goes on (reading the next picture
// of a batch), and what takes longer than freeing so many bytes can. 0 where no worker shares
// memory.
int64_t FreeingNs(const Store& store, const ProcessSteps& main, const CodeSamples& samples,
                  const std::vector<TimeSpan>& gaps);

}  // namespace batchlight
