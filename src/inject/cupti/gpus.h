// The GPUs as the driver describes them, for when CUPTI does not: it tells of a GPU when its
// context is made, and a capture may begin later.
#pragma once

namespace batchlight::inject::cupti {

// Writes a GpuDevice for each. Not inside cuInit.
void TellGpusOfDriver();

}  // namespace batchlight::inject::cupti
