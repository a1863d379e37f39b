/* A program that uses NVTX and ends in many ways. One source, built three times: with the header of
 * our own (C), and, where they are installed, with NVIDIA's headers as C and as C++.
 *
 *   nvtx_client SCENARIO [number]
 *
 * Prints one line per result that a test wants to see. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#ifdef REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif
#else
#include "mini_nvtx.h"
#endif

static nvtxEventAttributes_t Attributes(const char* message) {
  nvtxEventAttributes_t a;
  memset(&a, 0, sizeof a);
  a.version = NVTX_VERSION;
  a.size = (uint16_t)NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  if (message != NULL) {
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = message;
  }
  return a;
}

static void Basics(void) {
  printf("push %d\n", nvtxRangePushA("outer"));
  printf("push %d\n", nvtxRangePushW(L"w\u00efde \u4e2d \U0001f600"));
  printf("pop %d\n", nvtxRangePop());
  printf("pop %d\n", nvtxRangePop());
  printf("pop %d\n", nvtxRangePop());
  nvtxMarkA("mark");
  nvtxMarkW(L"wide mark");
  const nvtxRangeId_t a = nvtxRangeStartA("first");
  const nvtxRangeId_t b = nvtxRangeStartW(L"second");
  printf("distinct %d\n", a != b && a != 0 && b != 0);
  nvtxRangeEnd(a);
  nvtxRangeEnd(b);
  nvtxRangePushA("");
  nvtxRangePop();
  nvtxNameCategoryA(7, "loading");
  nvtxNameCategoryW(8, L"computing");
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main loop");
  nvtxInitialize(NULL);
}

static void Payloads(void) {
  nvtxEventAttributes_t a = Attributes("payload");
  a.category = 7;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = 0xff8800ff;
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  a.payload.ullValue = UINT64_MAX;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = -5;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  a.payload.dValue = 0.5;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  a.payload.ullValue = 0xdddddddd00000003; /* the upper half is rubbish */
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  a.payload.iValue = -7;
  nvtxMarkEx(&a);
  a.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  a.payload.fValue = 1.5f;
  nvtxMarkEx(&a);
  a.payloadType = 99; /* unknown */
  nvtxMarkEx(&a);
  nvtxEventAttributes_t old = Attributes("beyond the size");
  old.category = 9;
  old.size = 8; /* version, size, category: the message does not count */
  nvtxMarkEx(&old);
  nvtxMarkEx(NULL);
}

static void Domains(void) {
  nvtxDomainHandle_t d = nvtxDomainCreateA("io.test");
  printf("shared %d\n", nvtxDomainCreateA("io.test") == d);
  printf("apart %d\n", nvtxDomainCreateW(L"io.other") != d);
  nvtxStringHandle_t s = nvtxDomainRegisterStringA(d, "registered");
  printf("same string %d\n", nvtxDomainRegisterStringW(d, L"registered") == s);
  nvtxEventAttributes_t a = Attributes(NULL);
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = s;
  printf("domain push %d\n", nvtxDomainRangePushEx(d, &a));
  printf("default push %d\n", nvtxRangePushEx(&a));
  printf("domain push %d\n", nvtxDomainRangePushEx(d, &a));
  printf("domain pop %d\n", nvtxDomainRangePop(d));
  printf("default pop %d\n", nvtxRangePop());
  printf("domain pop %d\n", nvtxDomainRangePop(d));
  printf("domain pop %d\n", nvtxDomainRangePop(d));
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(d, &a);
  nvtxDomainRangeEnd(d, id);
  nvtxDomainMarkEx(d, &a);
  nvtxDomainNameCategoryA(d, 3, "in domain");
  nvtxResourceAttributes_t r;
  memset(&r, 0, sizeof r);
  r.version = NVTX_VERSION;
  r.size = (uint16_t)NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  r.identifier.ullValue = 0x1234;
  r.messageType = NVTX_MESSAGE_TYPE_ASCII;
  r.message.ascii = "my resource";
  nvtxResourceHandle_t resource = nvtxDomainResourceCreate(d, &r);
  nvtxDomainResourceDestroy(resource);
  nvtxSyncUserAttributes_t u;
  memset(&u, 0, sizeof u);
  u.version = NVTX_VERSION;
  u.size = (uint16_t)NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  u.messageType = NVTX_MESSAGE_TYPE_ASCII;
  u.message.ascii = "spinlock";
  nvtxSyncUser_t sync = nvtxDomainSyncUserCreate(d, &u);
  nvtxDomainSyncUserAcquireStart(sync);
  nvtxDomainSyncUserAcquireSuccess(sync);
  nvtxDomainSyncUserReleasing(sync);
  nvtxDomainSyncUserDestroy(sync);
  nvtxDomainDestroy(d);
  printf("still there %d\n", nvtxDomainRangePushEx(d, &a));
  nvtxDomainRangePop(d);
}

typedef struct {
  int32_t rank;
  uint64_t bytes;
  const char* op;
} Collective; /* like NCCL's */

/* What is not recorded must be said, and the program must not notice. */
static void NotRecorded(void) {
#ifdef NVTX_EXT_COUNTERS_MODULEID
  nvtxDomainHandle_t d = nvtxDomainCreateA("late");
  struct {
    int64_t begin, end;
  } event = {nvtxTimestampGet(), nvtxTimestampGet()};
  nvtxPayloadData_t data = {(1 << 24) + 9, sizeof event, &event};
  nvtxEventSubmit(d, &data, 1);
  nvtxEventBatch_t batch;
  memset(&batch, 0, sizeof batch);
  batch.eventSchemaId = data.schemaId;
  batch.events = &event;
  batch.size = sizeof event;
  nvtxEventBatchSubmit(d, &batch);
  nvtxCounterAttr_t counter;
  memset(&counter, 0, sizeof counter);
  counter.structSize = sizeof counter;
  counter.name = "queue";
  nvtxCounterSampleInt64(d, nvtxCounterRegister(d, &counter), 7);
  nvtxRangePushA("recorded");
  nvtxRangePop();
  printf("done\n");
#else
  printf("headers without\n");
#endif
}

static void Extension(void) {
  nvtxDomainHandle_t d = nvtxDomainCreateA("NCCL");
  static const nvtxPayloadEnum_t kOps[] = {{"Sum", 0, 0}, {"Prod", 1, 0}};
  nvtxPayloadEnumAttr_t e;
  memset(&e, 0, sizeof e);
  e.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  e.name = "ncclRedOp";
  e.entries = kOps;
  e.numEntries = 2;
  e.sizeOfEnum = 4;
  printf("enum %d\n", nvtxPayloadEnumRegister(d, &e) >= (1ull << 32));
  nvtxPayloadSchemaEntry_t entries[3];
  memset(entries, 0, sizeof entries);
  entries[0].type = NVTX_PAYLOAD_ENTRY_TYPE_INT;
  entries[0].name = "rank";
  entries[1].type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64;
  entries[1].name = "bytes";
  entries[1].description = "Message size";
  entries[1].offset = offsetof(Collective, bytes);
  entries[2].type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
  entries[2].flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE;
  entries[2].name = "op";
  nvtxPayloadSchemaAttr_t s;
  memset(&s, 0, sizeof s);
  s.fieldMask =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  s.name = "AllReduce";
  s.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  s.entries = entries;
  s.numEntries = 3;
  s.payloadStaticSize = sizeof(Collective);
  s.schemaId = (1 << 24) + 5;
  printf("schema %d\n", nvtxPayloadSchemaRegister(d, &s) == s.schemaId);
  printf("again %d\n", nvtxPayloadSchemaRegister(d, &s) == s.schemaId);
  Collective c = {3, 4096, "Sum"};
  nvtxPayloadData_t data = {s.schemaId, sizeof c, &c};
  nvtxEventAttributes_t a = Attributes("ncclAllReduce");
  a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  a.reserved0 = 1;
  a.payload.ullValue = (uint64_t)(uintptr_t)&data;
  nvtxDomainRangePushEx(d, &a);
  nvtxDomainRangePop(d);
  printf("push payload %d\n", nvtxRangePushPayload(d, &data, 1));
  data.size = SIZE_MAX; /* from the schema */
  printf("pop payload %d\n", nvtxRangePopPayload(d, &data, 1));
  const nvtxRangeId_t id = nvtxRangeStartPayload(d, &data, 1);
  nvtxRangeEndPayload(d, id, &data, 1);
  nvtxMarkPayload(d, &data, 1);
  printf("enabled %d\n", nvtxDomainIsEnabled(d));
}

static void* ShortThread(void* number) {
  char name[32];
  snprintf(name, sizeof name, "worker-%ld", (long)number);
  nvtxRangePushA(name);
  nvtxRangePop();
  pthread_setname_np(pthread_self(), name);
  return NULL;
}

static void Threads(long count) {
  nvtxRangePushA("threads");
  for (long i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, ShortThread, (void*)i) == 0) pthread_join(thread, NULL);
  }
  nvtxRangePop();
}

static pthread_barrier_t g_barrier;
static void* WaitingThread(void* number) {
  nvtxRangePushA("waiting");
  pthread_barrier_wait(&g_barrier); /* all are alive at once */
  nvtxRangePop();
  return number;
}

static void ManyThreads(long count) {
  pthread_t* threads = (pthread_t*)calloc((size_t)count, sizeof *threads);
  nvtxMarkA("many");
  pthread_barrier_init(&g_barrier, NULL, (unsigned)count + 1);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (long i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], &attributes, WaitingThread, NULL) != 0) exit(2);
  }
  pthread_barrier_wait(&g_barrier);
  for (long i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  free(threads);
}

static void* BusyThread(void* count) {
  for (long i = 0; i < (long)count; ++i) {
    nvtxRangePushA("busy");
    nvtxRangePop();
  }
  return NULL;
}

static void Fork(int raw) {
  nvtxDomainHandle_t d = nvtxDomainCreateA("inherited");
  nvtxDomainNameCategoryA(d, 1, "from the parent");
  nvtxRangePushA("parent");
  const pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    exit(5);
  }
  for (int i = 0; i < 1000; ++i) {
    nvtxRangePushA("beside");
    nvtxRangePop();
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  nvtxRangePop();
}

static void Children(long count) {
  nvtxMarkA("children");
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nvtxMarkA("in child");
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}

static void Vfork(void) {
  nvtxMarkA("before");
  const pid_t child = vfork();
  if (child == 0) {
    execl("/nowhere/at/all", "all", (char*)NULL);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  nvtxMarkA("after");
}

static void Exec(const char* self) {
  char* nothing[] = {(char*)"nothing", NULL};
  nvtxMarkA("before");
  printf("failed %d\n", execv("/nowhere", nothing));
  nvtxMarkA("still here");
  fflush(stdout);
  char* again[] = {(char*)self, (char*)"basics", NULL};
  execv(self, again);
}

static void OnSignal(int number) {
  nvtxMarkA("in handler");
  (void)number;
}

static void Signals(void) {
  signal(SIGALRM, OnSignal);
  ualarm(100, 100);
  for (int i = 0; i < 100000; ++i) {
    nvtxRangePushA("interrupted");
    nvtxRangePop();
  }
  ualarm(0, 0);
}

static void LongNames(void) {
  const size_t bytes = 10u << 20;
  char* name = (char*)malloc(bytes + 1);
  memset(name, 'x', bytes);
  name[bytes] = 0;
  nvtxRangePushA(name);
  nvtxRangePop();
  nvtxRangePushA("\xff\xfe not UTF-8 \xc3");
  nvtxRangePop();
  for (int i = 0; i < 3000; ++i) {
    char text[400];
    snprintf(text, sizeof text, "step %d %0*d", i, i % 300, 0);
    nvtxMarkA(text);
  }
  free(name);
}

static void CloseDescriptors(void) {
  nvtxMarkA("before");
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  FILE* own = tmpfile();
  for (int i = 0; i < 200000; ++i) nvtxMarkA("after"); /* needs further chunks */
  fseek(own, 0, SEEK_END);
  printf("own file %ld\n", ftell(own));
}

static void FileLimit(void) {
  struct rlimit limit = {32 << 10, 32 << 10};
  setrlimit(RLIMIT_FSIZE, &limit); /* growing beyond it would raise SIGXFSZ */
  for (int i = 0; i < 200000; ++i) nvtxMarkA("mark");
  printf("alive\n");
}

static void Capture(void) {
  nvtxDomainHandle_t d = nvtxDomainCreateA("app");
  nvtxDomainNameCategoryA(d, 4, "said before");
  nvtxEventAttributes_t a = Attributes(NULL);
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = nvtxDomainRegisterStringA(d, "profile me");
  for (int i = 0; i < 4; ++i) {
    nvtxMarkA("outside");
    nvtxRangePushA("profile me"); /* neither registered nor in the domain */
    nvtxRangePop();
    nvtxRangePushA("around");
    nvtxDomainRangePushEx(d, &a);
    nvtxDomainRangePushEx(d, &a);
    nvtxMarkA("inside");
    nvtxDomainRangePop(d);
    nvtxDomainRangePop(d);
    nvtxRangePop();
  }
}

int main(int argc, char** argv) {
  const char* scenario = argc > 1 ? argv[1] : "basics";
  const long number = argc > 2 ? atol(argv[2]) : 0;
  if (strcmp(scenario, "basics") == 0) Basics();
  if (strcmp(scenario, "payloads") == 0) Payloads();
  if (strcmp(scenario, "domains") == 0) Domains();
  if (strcmp(scenario, "extension") == 0) Extension();
  if (strcmp(scenario, "not_recorded") == 0) NotRecorded();
  if (strcmp(scenario, "threads") == 0) Threads(number);
  if (strcmp(scenario, "many_threads") == 0) ManyThreads(number);
  if (strcmp(scenario, "busy") == 0) {
    nvtxMarkA("start");
    pthread_t thread;
    pthread_create(&thread, NULL, BusyThread, (void*)number);
    BusyThread((void*)number);
    pthread_join(thread, NULL);
  }
  if (strcmp(scenario, "fork") == 0) Fork(0);
  if (strcmp(scenario, "raw_fork") == 0) Fork(1);
  if (strcmp(scenario, "children") == 0) Children(number);
  if (strcmp(scenario, "vfork") == 0) Vfork();
  if (strcmp(scenario, "exec") == 0) Exec(argv[0]);
  if (strcmp(scenario, "signals") == 0) Signals();
  if (strcmp(scenario, "long_names") == 0) LongNames();
  if (strcmp(scenario, "close_descriptors") == 0) CloseDescriptors();
  if (strcmp(scenario, "file_limit") == 0) FileLimit();
  if (strcmp(scenario, "capture") == 0) Capture();
  if (strcmp(scenario, "_exit") == 0) {
    nvtxMarkA("last");
    _exit((int)number);
  }
  if (strcmp(scenario, "abort") == 0) {
    nvtxRangePushA("open");
    abort();
  }
  if (strcmp(scenario, "forever") == 0) {
    for (;;) {
      nvtxRangePushA("endless");
      nvtxRangePop();
    }
  }
  fflush(stdout);
  return (int)(strcmp(scenario, "basics") == 0 ? 0 : number & 0x7f);
}
