/* What the NVTX v3 header does, as far as the tests call it: load the tool named by
 * NVTX_INJECTION64_PATH at the first call, hand it the table of function pointers, and call through
 * what it left there. Lets the tests run where NVIDIA's headers are not installed; where they are,
 * the same test program is built with them as well. */
#ifndef BATCHLIGHT_MINI_NVTX_H_
#define BATCHLIGHT_MINI_NVTX_H_

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef struct nvtxDomainRegistration_st* nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st* nvtxStringHandle_t;
typedef struct nvtxResourceHandle* nvtxResourceHandle_t;
typedef struct nvtxSyncUser* nvtxSyncUser_t;
typedef uint64_t nvtxRangeId_t;

typedef struct {
  uint16_t version, size;
  uint32_t category;
  int32_t colorType;
  uint32_t color;
  int32_t payloadType, reserved0;
  union {
    uint64_t ullValue;
    int64_t llValue;
    double dValue;
    uint32_t uiValue;
    int32_t iValue;
    float fValue;
  } payload;
  int32_t messageType;
  union {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
  } message;
} nvtxEventAttributes_t;

typedef struct {
  uint16_t version, size;
  int32_t identifierType;
  union {
    const void* pValue;
    uint64_t ullValue;
  } identifier;
  int32_t messageType;
  union {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
  } message;
} nvtxResourceAttributes_t;

typedef struct {
  uint16_t version, size;
  int32_t messageType;
  union {
    const char* ascii;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
  } message;
} nvtxSyncUserAttributes_t;

typedef struct {
  uint64_t schemaId;
  size_t size;
  const void* payload;
} nvtxPayloadData_t;

typedef struct {
  uint64_t flags, type;
  const char *name, *description;
  uint64_t arrayOrUnionDetail, offset;
  const void *semantics, *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
  uint64_t fieldMask;
  const char* name;
  uint64_t type, flags;
  const nvtxPayloadSchemaEntry_t* entries;
  size_t numEntries, payloadStaticSize, packAlign;
  uint64_t schemaId;
  void* extension;
} nvtxPayloadSchemaAttr_t;

typedef struct {
  const char* name;
  uint64_t value;
  int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct {
  uint64_t fieldMask;
  const char* name;
  const nvtxPayloadEnum_t* entries;
  size_t numEntries, sizeOfEnum;
  uint64_t schemaId;
  void* extension;
} nvtxPayloadEnumAttr_t;

enum {
  NVTX_VERSION = 3,
  NVTX_COLOR_ARGB = 1,
  NVTX_MESSAGE_TYPE_ASCII = 1,
  NVTX_MESSAGE_TYPE_UNICODE,
  NVTX_MESSAGE_TYPE_REGISTERED,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64,
  NVTX_PAYLOAD_TYPE_DOUBLE,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
  NVTX_PAYLOAD_TYPE_INT32,
  NVTX_PAYLOAD_TYPE_FLOAT,
};
#define NVTX_NO_PUSH_POP_TRACKING (-2)
#define NVTX_PAYLOAD_TYPE_EXT ((int32_t)0xDFBD0009)
#define NVTX_RESOURCE_TYPE_GENERIC_POINTER (1 << 16 | 1)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE sizeof(nvtxEventAttributes_t)
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE sizeof(nvtxResourceAttributes_t)
#define NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE sizeof(nvtxSyncUserAttributes_t)
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC 1
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME (1 << 1)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE (1 << 2)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES (1 << 4)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES (1 << 5)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE (1 << 6)
#define NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID (1 << 8)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME (1 << 1)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES (1 << 2)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES (1 << 3)
#define NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE (1 << 4)
#define NVTX_PAYLOAD_ENTRY_TYPE_INT 5
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT64 18
#define NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE 20
#define NVTX_PAYLOAD_ENTRY_TYPE_CSTRING 75
#define NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE (1 << 10)

typedef void (*MiniFunction)(void);
static MiniFunction mini_core[16], mini_core2[16], mini_cudart[7], mini_sync[7];
static intptr_t mini_payload[64];

static int MiniTable(int module, MiniFunction*** table, unsigned* count) {
  static MiniFunction* slots[7][16];
  MiniFunction* functions[7] = {0, mini_core, 0, 0, mini_cudart, mini_core2, mini_sync};
  const unsigned counts[7] = {0, 16, 0, 0, 7, 16, 7};
  if (module < 1 || module > 6 || functions[module] == 0) return 0;
  for (unsigned i = 1; i < counts[module]; ++i) slots[module][i] = &functions[module][i];
  *table = slots[module];
  *count = counts[module];
  return 1;
}

static const void* MiniExportTable(uint32_t id) {
  static const struct {
    size_t size;
    int (*get)(int, MiniFunction***, unsigned*);
  } callbacks = {sizeof callbacks, MiniTable};
  return id == 1 ? &callbacks : NULL;
}

/* Not thread-safe, unlike the real one: the tests call NVTX before they start threads. */
static void MiniLoad(void) {
  static int tried = 0;
  if (tried) return;
  tried = 1;
  const char* path = getenv("NVTX_INJECTION64_PATH");
  /* "": the library is part of the program (sanitizer builds). */
  void* library = path ? dlopen(*path ? path : NULL, RTLD_LAZY) : NULL;
  if (!library) return;
  const char* entry = getenv("MINI_NVTX_ENTRY"); /* NVTX 2 asks for another name */
  int (*init)(const void* (*)(uint32_t)) = (int (*)(const void* (*)(uint32_t)))dlsym(
      library, entry ? entry : "InitializeInjectionNvtx2");
  if (!init || !init(MiniExportTable)) return;
  struct {
    size_t id, count;
    intptr_t* slots;
  } segment = {0, 63, mini_payload};
  struct {
    uint16_t version, size, module, compat;
    size_t segments;
    void *segment, *export_function;
    const void* info;
  } module = {3, sizeof module, 2, 0x0104, 1, &segment, NULL, NULL};
  int (*extend)(void*) = (int (*)(void*))dlsym(library, "InitializeInjectionNvtxExtension");
  if (extend) extend(&module);
}

#define MINI(result, name, table, index, parameters, arguments, none)                   \
  static inline result name parameters {                                                \
    MiniLoad();                                                                         \
    return table[index] ? ((result(*) parameters)table[index])arguments : (result)none; \
  }
#define MINI_VOID(name, table, index, parameters, arguments)        \
  static inline void name parameters {                              \
    MiniLoad();                                                     \
    if (table[index]) ((void(*) parameters)table[index]) arguments; \
  }

MINI_VOID(nvtxMarkEx, mini_core, 1, (const nvtxEventAttributes_t* a), (a))
MINI_VOID(nvtxMarkA, mini_core, 2, (const char* m), (m))
MINI_VOID(nvtxMarkW, mini_core, 3, (const wchar_t* m), (m))
MINI(nvtxRangeId_t, nvtxRangeStartEx, mini_core, 4, (const nvtxEventAttributes_t* a), (a), 0)
MINI(nvtxRangeId_t, nvtxRangeStartA, mini_core, 5, (const char* m), (m), 0)
MINI(nvtxRangeId_t, nvtxRangeStartW, mini_core, 6, (const wchar_t* m), (m), 0)
MINI_VOID(nvtxRangeEnd, mini_core, 7, (nvtxRangeId_t id), (id))
MINI(int, nvtxRangePushEx, mini_core, 8, (const nvtxEventAttributes_t* a), (a), -2)
MINI(int, nvtxRangePushA, mini_core, 9, (const char* m), (m), -2)
MINI(int, nvtxRangePushW, mini_core, 10, (const wchar_t* m), (m), -2)
MINI(int, nvtxRangePop, mini_core, 11, (void), (), -2)
MINI_VOID(nvtxNameCategoryA, mini_core, 12, (uint32_t c, const char* n), (c, n))
MINI_VOID(nvtxNameCategoryW, mini_core, 13, (uint32_t c, const wchar_t* n), (c, n))
MINI_VOID(nvtxNameOsThreadA, mini_core, 14, (uint32_t t, const char* n), (t, n))
MINI_VOID(nvtxNameOsThreadW, mini_core, 15, (uint32_t t, const wchar_t* n), (t, n))
MINI_VOID(nvtxDomainMarkEx, mini_core2, 1, (nvtxDomainHandle_t d, const nvtxEventAttributes_t* a),
          (d, a))
MINI(nvtxRangeId_t, nvtxDomainRangeStartEx, mini_core2, 2,
     (nvtxDomainHandle_t d, const nvtxEventAttributes_t* a), (d, a), 0)
MINI_VOID(nvtxDomainRangeEnd, mini_core2, 3, (nvtxDomainHandle_t d, nvtxRangeId_t id), (d, id))
MINI(int, nvtxDomainRangePushEx, mini_core2, 4,
     (nvtxDomainHandle_t d, const nvtxEventAttributes_t* a), (d, a), -2)
MINI(int, nvtxDomainRangePop, mini_core2, 5, (nvtxDomainHandle_t d), (d), -2)
MINI(nvtxResourceHandle_t, nvtxDomainResourceCreate, mini_core2, 6,
     (nvtxDomainHandle_t d, nvtxResourceAttributes_t* a), (d, a), 0)
MINI_VOID(nvtxDomainResourceDestroy, mini_core2, 7, (nvtxResourceHandle_t r), (r))
MINI_VOID(nvtxDomainNameCategoryA, mini_core2, 8, (nvtxDomainHandle_t d, uint32_t c, const char* n),
          (d, c, n))
MINI(nvtxStringHandle_t, nvtxDomainRegisterStringA, mini_core2, 10,
     (nvtxDomainHandle_t d, const char* s), (d, s), 0)
MINI(nvtxStringHandle_t, nvtxDomainRegisterStringW, mini_core2, 11,
     (nvtxDomainHandle_t d, const wchar_t* s), (d, s), 0)
MINI(nvtxDomainHandle_t, nvtxDomainCreateA, mini_core2, 12, (const char* n), (n), 0)
MINI(nvtxDomainHandle_t, nvtxDomainCreateW, mini_core2, 13, (const wchar_t* n), (n), 0)
MINI_VOID(nvtxDomainDestroy, mini_core2, 14, (nvtxDomainHandle_t d), (d))
MINI_VOID(nvtxInitialize, mini_core2, 15, (const void* r), (r))
MINI_VOID(nvtxNameCudaDeviceA, mini_cudart, 1, (int d, const char* n), (d, n))
MINI(nvtxSyncUser_t, nvtxDomainSyncUserCreate, mini_sync, 1,
     (nvtxDomainHandle_t d, const nvtxSyncUserAttributes_t* a), (d, a), 0)
MINI_VOID(nvtxDomainSyncUserDestroy, mini_sync, 2, (nvtxSyncUser_t s), (s))
MINI_VOID(nvtxDomainSyncUserAcquireStart, mini_sync, 3, (nvtxSyncUser_t s), (s))
MINI_VOID(nvtxDomainSyncUserAcquireFailed, mini_sync, 4, (nvtxSyncUser_t s), (s))
MINI_VOID(nvtxDomainSyncUserAcquireSuccess, mini_sync, 5, (nvtxSyncUser_t s), (s))
MINI_VOID(nvtxDomainSyncUserReleasing, mini_sync, 6, (nvtxSyncUser_t s), (s))
MINI(uint64_t, nvtxPayloadSchemaRegister, mini_payload, 0,
     (nvtxDomainHandle_t d, const nvtxPayloadSchemaAttr_t* a), (d, a), 0)
MINI(uint64_t, nvtxPayloadEnumRegister, mini_payload, 1,
     (nvtxDomainHandle_t d, const nvtxPayloadEnumAttr_t* a), (d, a), 0)
MINI_VOID(nvtxMarkPayload, mini_payload, 2,
          (nvtxDomainHandle_t d, const nvtxPayloadData_t* p, size_t n), (d, p, n))
MINI(int, nvtxRangePushPayload, mini_payload, 3,
     (nvtxDomainHandle_t d, const nvtxPayloadData_t* p, size_t n), (d, p, n), -2)
MINI(int, nvtxRangePopPayload, mini_payload, 4,
     (nvtxDomainHandle_t d, const nvtxPayloadData_t* p, size_t n), (d, p, n), -2)
MINI(nvtxRangeId_t, nvtxRangeStartPayload, mini_payload, 5,
     (nvtxDomainHandle_t d, const nvtxPayloadData_t* p, size_t n), (d, p, n), 0)
MINI_VOID(nvtxRangeEndPayload, mini_payload, 6,
          (nvtxDomainHandle_t d, nvtxRangeId_t id, const nvtxPayloadData_t* p, size_t n),
          (d, id, p, n))
MINI(uint8_t, nvtxDomainIsEnabled, mini_payload, 7, (nvtxDomainHandle_t d), (d), 1)

#endif /* BATCHLIGHT_MINI_NVTX_H_ */
