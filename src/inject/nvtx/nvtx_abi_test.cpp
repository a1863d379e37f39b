// Our own statement of NVTX's binary interface against NVIDIA's headers, where they are installed.
// All of it happens while compiling.
#include "inject/nvtx/nvtx_abi.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtMem.h>
#endif
#if __has_include(<cuda_runtime_api.h>)
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#endif

namespace batchlight::inject::nvtx {
namespace {

// NOLINTBEGIN(bugprone-sizeof-expression): layouts of structs that hold pointers

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))
#define SAME_PLACE(ours, our_field, theirs, their_field)                     \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field))

SAME_SIZE(EventAttributes, nvtxEventAttributes_t);
SAME_PLACE(EventAttributes, category, nvtxEventAttributes_t, category);
SAME_PLACE(EventAttributes, color_type, nvtxEventAttributes_t, colorType);
SAME_PLACE(EventAttributes, color, nvtxEventAttributes_t, color);
SAME_PLACE(EventAttributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_PLACE(EventAttributes, payload_count, nvtxEventAttributes_t, reserved0);
SAME_PLACE(EventAttributes, payload, nvtxEventAttributes_t, payload);
SAME_PLACE(EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME_PLACE(EventAttributes, message, nvtxEventAttributes_t, message);

SAME_SIZE(ResourceAttributes, nvtxResourceAttributes_t);
SAME_PLACE(ResourceAttributes, identifier_type, nvtxResourceAttributes_t, identifierType);
SAME_PLACE(ResourceAttributes, identifier, nvtxResourceAttributes_t, identifier);
SAME_PLACE(ResourceAttributes, message_type, nvtxResourceAttributes_t, messageType);
SAME_PLACE(ResourceAttributes, message, nvtxResourceAttributes_t, message);

SAME_SIZE(SyncUserAttributes, nvtxSyncUserAttributes_t);
SAME_PLACE(SyncUserAttributes, message_type, nvtxSyncUserAttributes_t, messageType);
SAME_PLACE(SyncUserAttributes, message, nvtxSyncUserAttributes_t, message);

SAME_SIZE(CallbacksTable, NvtxExportTableCallbacks);
SAME_PLACE(CallbacksTable, get_module_functions, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME_SIZE(ExtensionModule, nvtxExtModuleInfo_t);
SAME_PLACE(ExtensionModule, module_id, nvtxExtModuleInfo_t, moduleId);
SAME_PLACE(ExtensionModule, segment_count, nvtxExtModuleInfo_t, segmentsCount);
SAME_PLACE(ExtensionModule, segments, nvtxExtModuleInfo_t, segments);
SAME_SIZE(ExtensionSegment, nvtxExtModuleSegment_t);
SAME_PLACE(ExtensionSegment, slots, nvtxExtModuleSegment_t, functionSlots);

SAME_SIZE(PayloadData, nvtxPayloadData_t);
SAME_PLACE(PayloadData, size, nvtxPayloadData_t, size);
SAME_PLACE(PayloadData, payload, nvtxPayloadData_t, payload);
SAME_SIZE(SchemaEntry, nvtxPayloadSchemaEntry_t);
SAME_PLACE(SchemaEntry, array_or_union_detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME_PLACE(SchemaEntry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_SIZE(SchemaAttributes, nvtxPayloadSchemaAttr_t);
SAME_PLACE(SchemaAttributes, entry_count, nvtxPayloadSchemaAttr_t, numEntries);
SAME_PLACE(SchemaAttributes, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_PLACE(SchemaAttributes, schema_id, nvtxPayloadSchemaAttr_t, schemaId);
SAME_SIZE(EnumEntry, nvtxPayloadEnum_t);
SAME_PLACE(EnumEntry, is_flag, nvtxPayloadEnum_t, isFlag);
SAME_SIZE(EnumAttributes, nvtxPayloadEnumAttr_t);
SAME_PLACE(EnumAttributes, enum_size, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME_PLACE(EnumAttributes, schema_id, nvtxPayloadEnumAttr_t, schemaId);

#define SAME(ours, theirs) static_assert(static_cast<int64_t>(ours) == static_cast<int64_t>(theirs))

SAME(kCallbacksTable, NVTX_ETID_CALLBACKS);
SAME(kCore, NVTX_CB_MODULE_CORE);
SAME(kCore2, NVTX_CB_MODULE_CORE2);
SAME(kCuda, NVTX_CB_MODULE_CUDA);
SAME(kCudaRt, NVTX_CB_MODULE_CUDART);
SAME(kOpenCl, NVTX_CB_MODULE_OPENCL);
SAME(kSync, NVTX_CB_MODULE_SYNC);
SAME(kMarkEx, NVTX_CBID_CORE_MarkEx);
SAME(kRangeStartEx, NVTX_CBID_CORE_RangeStartEx);
SAME(kRangeEnd, NVTX_CBID_CORE_RangeEnd);
SAME(kRangePushA, NVTX_CBID_CORE_RangePushA);
SAME(kRangePop, NVTX_CBID_CORE_RangePop);
SAME(kNameOsThreadW, NVTX_CBID_CORE_NameOsThreadW);
SAME(kNameOsThreadW + 1, NVTX_CBID_CORE_SIZE);
SAME(kDomainMarkEx, NVTX_CBID_CORE2_DomainMarkEx);
SAME(kDomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
SAME(kDomainResourceDestroy, NVTX_CBID_CORE2_DomainResourceDestroy);
SAME(kDomainRegisterStringW, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(kInitialize, NVTX_CBID_CORE2_Initialize);
SAME(kInitialize + 1, NVTX_CBID_CORE2_SIZE);
SAME(kSyncUserCreate, NVTX_CBID_SYNC_DomainSyncUserCreate);
SAME(kSyncUserReleasing, NVTX_CBID_SYNC_DomainSyncUserReleasing);
SAME(7, NVTX_CBID_CUDA_NameCuEventA);
SAME(5, NVTX_CBID_CUDART_NameCudaEventA);
SAME(13, NVTX_CBID_OPENCL_NameClEventA);
SAME(15, NVTX_CBID_OPENCL_SIZE);
SAME(kAscii, NVTX_MESSAGE_TYPE_ASCII);
SAME(kUnicode, NVTX_MESSAGE_TYPE_UNICODE);
SAME(kRegistered, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(kFloat, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(kUint32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(kArgb, NVTX_COLOR_ARGB);
SAME(kNoPushPopTracking, NVTX_NO_PUSH_POP_TRACKING);
SAME(kThreadNative, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
#if __has_include(<cuda_runtime_api.h>)
SAME(ResourceType(kClassCuda, 3), NVTX_RESOURCE_TYPE_CUDA_STREAM);
SAME(ResourceType(kClassCudaRt, 1), NVTX_RESOURCE_TYPE_CUDART_STREAM);
#endif
SAME(kExtPayload, NVTX_PAYLOAD_TYPE_EXT);
SAME(kPayloadModule, NVTX_EXT_PAYLOAD_MODULEID);
#ifdef NVTX_EXT_COUNTERS_MODULEID
SAME(kCountersModule, NVTX_EXT_COUNTERS_MODULEID);
SAME(kMemoryModule, NVTX_EXT_MODULEID_MEM);
#endif
SAME(kSchemaRegister, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(kEnumRegister, NVTX3EXT_CBID_nvtxPayloadEnumRegister);
SAME(kMarkPayload, NVTX3EXT_CBID_nvtxMarkPayload);
SAME(kRangePushPayload, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(kRangePopPayload, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(kRangeStartPayload, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(kRangeEndPayload, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(kDomainIsEnabled, NVTX3EXT_CBID_nvtxDomainIsEnabled);
SAME(kEventSubmit, NVTX3EXT_CBID_nvtxEventSubmit);
SAME(kEventBatchSubmit, NVTX3EXT_CBID_nvtxEventBatchSubmit);
SAME(kSchemaStaticSize, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(kSchemaId, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
SAME(kEnumSize, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE);
SAME(kEnumId, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);
SAME(kEntryPointer, NVTX_PAYLOAD_ENTRY_FLAG_POINTER);
SAME(kEntryArrayFixed, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
SAME(kEntryEventMessage, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
SAME(kTypeAddress, NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS);
SAME(kTypeLastBasic, NVTX_PAYLOAD_ENTRY_TYPE_CHAR32);
SAME(kTypeCString, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
SAME(kTypeCStringUtf8, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8);
SAME(kTypeRegisteredString, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE);
SAME(kStaticSchemaStart, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(kDynamicSchemaStart, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);

// NOLINTEND(bugprone-sizeof-expression)

}  // namespace
}  // namespace batchlight::inject::nvtx
