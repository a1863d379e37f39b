// Facts about the GPU software of this process: versions of CUPTI, driver, cuDNN and NCCL, and what
// only the driver knows about the GPUs.
#pragma once

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

void SayCuptiVersion(const Library& library);

// Called every second once a context exists: libraries may be loaded late.
class Identity {
 public:
  void Tell();

 private:
  void TellDriver();
  void TellDevices();
  void TellLibraries();

  bool told_driver_ = false;
  bool told_cudnn_ = false;
  bool told_nccl_ = false;
};

}  // namespace batchlight::inject::cupti
