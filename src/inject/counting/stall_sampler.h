// Stalls by instruction (--stalls): in some iterations of the training loop the GPU's instructions
// are sampled, one iteration a window (docs/design/0023-counters.md). Lines of ControlPage::extra:
//
//   stalls.windows=N    how many; 0: as many as the share allows
//   stalls.first=N      the first iteration that may be one, from 1
//   stalls.share=N      what windows may cost, in parts per million of the run; 0: they follow each
//                       other
//   stalls.continuous=1 kernels may overlap; else they run one after the other
//   stalls.rank=N       only in the process of this rank, where a launcher says it
#pragma once

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// Instructions are sampled in this process if the session asks for it. Whatever prevents it is a
// Reason. Before the first module is loaded.
bool PrepareStallSampler(const Library& library, void* subscriber);

// CUPTI's resource callbacks of modules.
void OnModule(uint32_t cbid, const ModuleData& module);

// The process ends: what was sampled gets into the recording.
void FinishStallSampler();

// In a forked child CUDA does not work.
void ForgetStallSampler();

}  // namespace batchlight::inject::cupti
