// The row types of the store's tables.
#pragma once

#include "base/id.h"

namespace batchlight {

using StringId = Id<struct StringTag>;  // row of the StringPool; None = no string
using ProcessId = Id<struct ProcessTag>;
using ThreadId = Id<struct ThreadTag>;
using NvtxDomainId = Id<struct NvtxDomainTag>;  // None = the default domain
using NvtxAttributesId = Id<struct NvtxAttributesTag>;
using NvtxRangeId = Id<struct NvtxRangeTag>;
using ModuleCallId = Id<struct ModuleCallTag>;
using PhaseCallId = Id<struct PhaseCallTag>;
using OperatorCallId = Id<struct OperatorCallTag>;
using GpuId = Id<struct GpuTag>;
using GpuContextId = Id<struct GpuContextTag>;
using GpuStreamId = Id<struct GpuStreamTag>;
using ApiCallId = Id<struct ApiCallTag>;
using KernelId = Id<struct KernelTag>;

}  // namespace batchlight
