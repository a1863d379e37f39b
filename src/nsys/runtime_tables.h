// Calls and phases of OpenMP, OpenACC, cuDNN and cuBLAS in nsys's file: many tables, one of ours.
#pragma once

#include <array>

#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

// What a row has instead of a name, or beside it.
struct RuntimeConstruct {
  int64_t label = -1;  // of the ENUM_* table of its source
  StringId file;       // of OpenACC: the source file of the construct
  int64_t line = 0;
};

constexpr auto LibraryCalls(std::string_view name, EventClass event_class) {
  return Table{name,
               PartOf("runtime_events"),
               Start{"start!"},
               End{"end!", true},
               Constant{"eventClass!", Number(event_class)},
               Field<&RuntimeEventsRow::thread>{"globalTid"},
               Field<&RuntimeEventsRow::name>{"nameId!?"}};
}
inline constexpr auto kCudnn = LibraryCalls("CUDNN_EVENTS", EventClass::kCudnn);
inline constexpr auto kCublas = LibraryCalls("CUBLAS_EVENTS", EventClass::kCublas);

// These are only read; we export them in a table of our own.
constexpr auto RuntimeEvents(std::string_view name) {
  return Table{name,
               PartOf("runtime_events"),
               Start{"start!"},
               End{"end!", true},
               Field<&RuntimeEventsRow::thread>{"globalTid"},
               Field<&RuntimeEventsRow::name>{"nameId?"},
               Field<&RuntimeConstruct::label>{"eventKind?", -1},
               Field<&RuntimeConstruct::file>{"srcFile?"},
               Field<&RuntimeConstruct::line>{"lineNo?"}};
}

struct RuntimeSource {
  std::string_view table;
  RuntimeFamily family;
  std::string_view labels;    // ENUM_* table of column eventKind
  std::string_view fallback;  // name of an event that has neither name nor label
};

constexpr RuntimeSource OpenMp(std::string_view table, std::string_view fallback) {
  return {table, RuntimeFamily::kOpenMp, "ENUM_OPENMP_EVENT_KIND", fallback};
}
constexpr RuntimeSource OpenAcc(std::string_view table, std::string_view fallback) {
  return {table, RuntimeFamily::kOpenAcc, "ENUM_OPENACC_EVENT_KIND", fallback};
}

inline constexpr auto kRuntimeSources = std::to_array<RuntimeSource>({
    OpenAcc("CUPTI_ACTIVITY_KIND_OPENACC_DATA", "OpenACC data"),
    OpenAcc("CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "OpenACC launch"),
    OpenAcc("CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "OpenACC"),
    OpenMp("OPENMP_EVENT_KIND_THREAD", "OpenMP thread"),
    OpenMp("OPENMP_EVENT_KIND_PARALLEL", "OpenMP parallel"),
    OpenMp("OPENMP_EVENT_KIND_SYNC_REGION_WAIT", "OpenMP sync region wait"),
    OpenMp("OPENMP_EVENT_KIND_SYNC_REGION", "OpenMP sync region"),
    OpenMp("OPENMP_EVENT_KIND_TASK", "OpenMP task"),
    OpenMp("OPENMP_EVENT_KIND_MASTER", "OpenMP master"),
    OpenMp("OPENMP_EVENT_KIND_REDUCTION", "OpenMP reduction"),
    OpenMp("OPENMP_EVENT_KIND_TASK_CREATE", "OpenMP task create"),
    OpenMp("OPENMP_EVENT_KIND_TASK_SCHEDULE", "OpenMP task schedule"),
    OpenMp("OPENMP_EVENT_KIND_CANCEL", "OpenMP cancel"),
    OpenMp("OPENMP_EVENT_KIND_MUTEX_WAIT", "OpenMP mutex wait"),
    OpenMp("OPENMP_EVENT_KIND_CRITICAL_SECTION", "OpenMP critical section"),
    OpenMp("OPENMP_EVENT_KIND_MUTEX_RELEASED", "OpenMP mutex released"),
    OpenMp("OPENMP_EVENT_KIND_LOCK_INIT", "OpenMP lock init"),
    OpenMp("OPENMP_EVENT_KIND_LOCK_DESTROY", "OpenMP lock destroy"),
    OpenMp("OPENMP_EVENT_KIND_WORKSHARE", "OpenMP workshare"),
    OpenMp("OPENMP_EVENT_KIND_DISPATCH", "OpenMP dispatch"),
    OpenMp("OPENMP_EVENT_KIND_FLUSH", "OpenMP flush"),
});

}  // namespace batchlight::nsys
