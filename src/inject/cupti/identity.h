// Facts about the GPU software of this process: versions of CUPTI, driver, cuDNN and NCCL, and what
// of the GPUs only the driver knows.
#pragma once

#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

void SayCuptiVersion(const Library& library);

// What writing down one record cost on CUPTI's thread, so far.
void SayDecodeCost(uint64_t records, uint64_t ns);

// Called every second once a context exists: libraries may be loaded late.
class Identity {
 public:
  void Tell(const Library& library);

 private:
  void TellDriver();
  void TellDevices();
  void TellLibraries();

  bool told_driver_ = false;
  bool told_cudnn_ = false;
  bool told_nccl_ = false;
};

}  // namespace batchlight::inject::cupti
