// The tables in nsys's file that are not CUDA's or NVTX's: OS runtime and system calls, MPI, the
// profiler's own overhead, network counters.
#pragma once

#include "nsys/cpu_tables.h"
#include "nsys/table.h"
#include "store/store.h"

namespace batchlight::nsys {

inline constexpr Table kOsRuntime{
    "OSRT_API",
    PartOf("os_calls"),
    Start{"start!"},
    End{"end!", true},
    Field<&OsCallsRow::event_class>{"eventClass!", Number(EventClass::kOsRuntime)},
    Field<&OsCallsRow::thread>{"globalTid"},
    Field<&OsCallsRow::name>{"nameId!"},
    Field<&OsCallsRow::result>{"returnValue!?"},
    WriteOnly{Field<&CallChain::nesting>{"nestingLevel"}},
    Field<&CallChain::id>{"callchainId!?"},
    Constant{"argumentsId!", 0}};

inline constexpr Table kSystemCalls{
    "SYSCALL",
    PartOf("os_calls"),
    Start{"start!"},
    End{"end!", true},
    Field<&OsCallsRow::event_class>{"eventClass!", Number(EventClass::kSystemCall)},
    Field<&OsCallsRow::thread>{"globalTid"},
    Field<&OsCallsRow::name>{"nameId!"},
    ReadOnly{Field<&OsCallsRow::result>{"returnValue?"}},
    Constant{"callchainId!", 0}};

struct MpiRank {
  int64_t thread = 0;  // globalTid
  int64_t rank = 0;
};
inline constexpr Table kMpiRanks{"MPI_RANKS", kNothing, Field<&MpiRank::thread>{"globalTid!"},
                                 Field<&MpiRank::rank>{"rank!"}};

// For files that name calls by a registered string.
struct MpiOtherName {
  StringId name;
};

// Of a kind of MPI calls: the columns that all have, and those of the kind.
template <typename... Columns>
constexpr auto MpiCalls(std::string_view name, Columns... columns) {
  return Table{name,
               Holds{"mpi_events"},
               Start{"start!"},
               End{"end!", true},
               Field<&MpiEventsRow::thread>{"globalTid"},
               Field<&MpiEventsRow::name>{"textId"},
               columns...,
               ReadOnly{Field<&MpiOtherName::name>{"nameId?"}}};
}
inline constexpr auto kMpiPointToPoint = MpiCalls(
    "MPI_P2P_EVENTS", Unused{"commHandle"}, NullField<&MpiEventsRow::tag>{"tag?", kNoMpiValue},
    NullField<&MpiEventsRow::peer_rank>{"remoteRank?", kNoMpiValue},
    NullField<&MpiEventsRow::bytes>{"size?", -1}, Unused{"requestHandle"});
inline constexpr auto kMpiCollectives =
    MpiCalls("MPI_COLLECTIVES_EVENTS", Unused{"commHandle"},
             NullField<&MpiEventsRow::root_rank>{"rootRank?", kNoMpiValue},
             NullField<&MpiEventsRow::send_bytes>{"size?", -1},
             NullField<&MpiEventsRow::receive_bytes>{"recvSize?", -1});
inline constexpr auto kMpiStartWait = MpiCalls("MPI_START_WAIT_EVENTS", Unused{"requestHandle"});
inline constexpr auto kMpiOther = MpiCalls("MPI_OTHER_EVENTS");

inline constexpr Table kProfilerOverhead{"PROFILER_OVERHEAD",
                                         Holds{"profiler_overheads"},
                                         Start{"start!"},
                                         End{"end!", true},
                                         Field<&ProfilerOverheadsRow::thread>{"globalTid"},
                                         Field<&ProfilerOverheadsRow::name>{"nameId!"},
                                         Constant{"overheadType!", 0}};

// Network counters are only read; we export them in a table of our own.
struct NetworkMetric {
  int64_t nic = 0;
  int64_t list = 0;
  int64_t metric = 0;
};
constexpr auto NetworkSamples(std::string_view name) {
  return Table{name,
               PartOf("network_samples"),
               Start{"start!"},
               End{"end!"},
               Field<&NetworkMetric::nic>{"globalId"},
               Field<&NetworkMetric::list>{"metricsListId"},
               Field<&NetworkMetric::metric>{"metricsIdx"},
               Field<&NetworkSamplesRow::value>{"value"}};
}
inline constexpr auto kNicMetrics = NetworkSamples("NET_NIC_METRIC");
inline constexpr auto kSwitchMetrics = NetworkSamples("NET_IB_SWITCH_METRIC");

struct NetworkMetricName {
  int64_t list = 0;
  int64_t metric = 0;
  StringId name;
};
inline constexpr Table kNetworkMetricNames{
    "TARGET_INFO_NETWORK_METRICS", kNothing, Field<&NetworkMetricName::list>{"metricsListId"},
    Field<&NetworkMetricName::metric>{"metricsIdx"}, TextField<&NetworkMetricName::name>{"name"}};

struct Nic {
  uint64_t guid = 0;
  StringId name;
  int64_t nic = 0;
  std::optional<int64_t> global;
};
inline constexpr Table kNics{"TARGET_INFO_NIC_INFO",        kNothing,
                             Field<&Nic::guid>{"GUID"},     TextField<&Nic::name>{"name"},
                             Field<&Nic::nic>{"nicId", -1}, Field<&Nic::global>{"globalId"}};
inline constexpr Table kNicIds{"NIC_ID_MAP", kNothing, Field<&Nic::nic>{"nicId"},
                               Field<&Nic::global>{"globalId"}};

}  // namespace batchlight::nsys
