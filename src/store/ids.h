// The row types of the store's tables.
#pragma once

#include <cstdint>

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
using PythonFunctionId = Id<struct PythonFunctionTag>;
using ApiCallId = Id<struct ApiCallTag>;
using KernelLaunchId = Id<struct KernelLaunchTag>;
using PythonFrameId = Id<struct PythonFrameTag>;
using PythonStackId = Id<struct PythonStackTag>;
using NativeModuleId = Id<struct NativeModuleTag>;
using NativeFrameId = Id<struct NativeFrameTag>;
using NativeStackId = Id<struct NativeStackTag>;
using MemcpyId = Id<struct MemcpyTag>;

// No row, where a row is a bare number: any table's.
inline constexpr uint32_t kNoRow = UINT32_MAX;

}  // namespace batchlight
