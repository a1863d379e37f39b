// The binary interface between NVTX v3 (header-only, in the program) and an injected tool: numbers
// and layouts only, so that the library builds without NVIDIA's headers. nvtx_abi_test.cpp compares
// all of it with the real headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::nvtx {

// --- attaching ----------------------------------------------------------------------------------
// A copy of the header calls InitializeInjectionNvtx2(GetExportTable). Export table 1 hands out,
// per module, an array of pointers to the header's function pointers, indexed by callback number;
// the tool stores its functions there. What it leaves becomes a no-op.
using GetExportTable = const void*(uint32_t table_id);
using Function = void (*)();

inline constexpr uint32_t kCallbacksTable = 1;
inline constexpr uint32_t kVersionTable = 3;

struct CallbacksTable {
  size_t struct_size;
  int (*get_module_functions)(int module, Function*** functions, unsigned* count);
};
struct VersionTable {
  size_t struct_size;
  uint32_t version;
  uint32_t reserved;
  void (*set_injection_version)(uint32_t version);
};

enum Module { kCore = 1, kCuda = 2, kOpenCl = 3, kCudaRt = 4, kCore2 = 5, kSync = 6 };

enum CoreCallback {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
};
enum Core2Callback {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
};
// Names of CUDA and OpenCL objects: for each kind of object an A and a W function, in this order
// from 1 (CUDA: device, context, stream, event; CUDART: device, stream, event; OpenCL: device,
// context, command queue, memory object, sampler, program, event).
enum SyncCallback {
  kSyncUserCreate = 1,
  kSyncUserDestroy,
  kSyncUserAcquireStart,
  kSyncUserAcquireFailed,
  kSyncUserAcquireSuccess,
  kSyncUserReleasing,
};

// --- events -------------------------------------------------------------------------------------
enum MessageType : int32_t { kNoMessage = 0, kAscii = 1, kUnicode = 2, kRegistered = 3 };
enum ColorType : int32_t { kNoColor = 0, kArgb = 1 };
enum PayloadType : int32_t {
  kNoPayload = 0,
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat = 6,
  kExtPayload =
      static_cast<int32_t>(0xDFBD0009),  // `payload` points to `payload_count` PayloadData
};
inline constexpr int kNoPushPopTracking = -2;

struct EventAttributes {  // nvtxEventAttributes_v2
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t payload_count;  // "reserved0"
  uint64_t payload;
  int32_t message_type;
  int32_t padding;
  const void* message;
};
static_assert(sizeof(EventAttributes) == 48);

struct ResourceAttributes {
  uint16_t version;
  uint16_t size;
  int32_t identifier_type;
  uint64_t identifier;
  int32_t message_type;
  int32_t padding;
  const void* message;
};
static_assert(sizeof(ResourceAttributes) == 32);

struct SyncUserAttributes {
  uint16_t version;
  uint16_t size;
  int32_t message_type;
  const void* message;
};
static_assert(sizeof(SyncUserAttributes) == 16);

// Resource types: class << 16 | index.
constexpr uint32_t ResourceType(uint32_t resource_class, uint32_t index) {
  return resource_class << 16 | index;
}
inline constexpr uint32_t kClassSyncUser = 0x7fff;  // ours: nvtxDomainSyncUserCreate
inline constexpr uint32_t kClassCuda = 4, kClassCudaRt = 5, kClassOpenCl = 6;
inline constexpr uint32_t kThreadNative = ResourceType(1, 3);

// --- extensions ---------------------------------------------------------------------------------
// An extension's header calls InitializeInjectionNvtxExtension(module) and calls through the slots
// that the tool filled.
struct ExtensionSegment {
  size_t id;
  size_t slot_count;
  intptr_t* slots;
};
struct ExtensionModule {
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t module_id;
  uint16_t compat_id;
  size_t segment_count;
  ExtensionSegment* segments;
  void* get_export_function;
  const void* extension_info;
};
inline constexpr uint16_t kMemoryModule = 1;
inline constexpr uint16_t kPayloadModule = 2;
inline constexpr uint16_t kCountersModule = 4;

enum PayloadCallback {
  kSchemaRegister = 0,
  kEnumRegister = 1,
  kMarkPayload = 2,
  kRangePushPayload = 3,
  kRangePopPayload = 4,
  kRangeStartPayload = 5,
  kRangeEndPayload = 6,
  kDomainIsEnabled = 7,
  kTimestampGet = 8,
  kScopeRegister = 12,
  kEventSubmit = 16,
  kEventBatchSubmit = 17,
};

struct PayloadData {
  uint64_t schema_id;
  size_t size;  // kUnknownSize: from the schema
  const void* payload;
};
inline constexpr size_t kUnknownSize = ~size_t{0};

struct SchemaEntry {
  uint64_t flags;
  uint64_t type;
  const char* name;
  const char* description;
  uint64_t array_or_union_detail;
  uint64_t offset;
  const void* semantics;
  const void* reserved;
};
struct SchemaAttributes {
  uint64_t field_mask;
  const char* name;
  uint64_t type;
  uint64_t flags;
  const SchemaEntry* entries;
  size_t entry_count;
  size_t static_size;
  size_t pack_align;
  uint64_t schema_id;
  void* extension;
};
enum SchemaField : uint64_t {
  kSchemaName = 1 << 1,
  kSchemaType = 1 << 2,
  kSchemaFlags = 1 << 3,
  kSchemaEntries = 1 << 4,
  kSchemaEntryCount = 1 << 5,
  kSchemaStaticSize = 1 << 6,
  kSchemaAlignment = 1 << 7,
  kSchemaId = 1 << 8,
};
struct EnumEntry {
  const char* name;
  uint64_t value;
  int8_t is_flag;
};
struct EnumAttributes {
  uint64_t field_mask;
  const char* name;
  const EnumEntry* entries;
  size_t entry_count;
  size_t enum_size;
  uint64_t schema_id;
  void* extension;
};
enum EnumField : uint64_t {
  kEnumName = 1 << 1,
  kEnumEntries = 1 << 2,
  kEnumEntryCount = 1 << 3,
  kEnumSize = 1 << 4,
  kEnumId = 1 << 5,
};

enum EntryFlag : uint64_t {
  kEntryPointer = 1 << 1,
  kEntryArrayMask = 7 << 4,
  kEntryArrayFixed = 1 << 4,
  kEntryEventMessage = 1 << 10,
};
enum EntryType : uint64_t {
  kTypeChar = 1,
  kTypeAddress = 23,
  kTypeLastBasic = 27,
  kTypeCString = 75,
  kTypeCStringUtf8 = 76,
  kTypeRegisteredString = 80,
};
inline constexpr uint64_t kStaticSchemaStart = uint64_t{1} << 24;
inline constexpr uint64_t kDynamicSchemaStart = uint64_t{1} << 32;

}  // namespace batchlight::inject::nvtx
