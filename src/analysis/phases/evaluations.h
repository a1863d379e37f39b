// Finds validation and rollouts by themselves: calls of modules that nothing learns from, between
// optimizer steps, as whole stretches with the loading between the calls.
//
// A call that ran in eval mode or with gradients off, and that no backward belongs to, is one of an
// evaluation; so is each of a row of calls that autograd followed and no backward came back to
// (unlearned_calls.h). Most training loops have some in every iteration that are no validation: a
// GAN's generator while the critic learns, a teacher, a target network. So what counts is also the
// module (is it the one that is trained?), how often such calls come, and whether they stand before
// updates only: then, many at a time and without a DataLoader, they are the rollouts of
// reinforcement learning. Recordings that do not know modes have what a stretch has beyond the
// calls of the usual iteration.
#pragma once

#include <vector>

#include "analysis/phases/phase_marks.h"

namespace batchlight {

// Implied marks of the kinds kValidation and kRollout. `marks`: ordered, `spans` of them by thread.
std::vector<PhaseMark> FindEvaluations(const Store& store, const std::vector<PhaseMark>& marks,
                                       const ThreadSpans& spans);

}  // namespace batchlight
