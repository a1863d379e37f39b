// Those who do something else with CUPTI in this process than record activity: they live above the
// collector (inject/counting), which calls them.
#pragma once

#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

struct Follower {
  void (*starts)(const Library& library, void* subscriber);    // before the first module is loaded
  void (*on_module)(uint32_t cbid, const ModuleData& module);  // if it has enabled that
  void (*on_driver_call)(uint32_t cbid,
                         const CallbackData& call);  // that it has enabled, or others
  void (*on_graph_node)();                           // a node was made, on any thread
  // When, on CUPTI's clock, a launch began that it ran several times; 0: it is none.
  uint64_t (*replayed_ns)(uint32_t correlation);
  void (*ends)();     // the process does; what is being worked out gets into the recording
  void (*forgets)();  // in a forked child, where CUDA does not work
};

// Set before the collector starts; nullptr: there are none.
extern const Follower* g_follower;

}  // namespace batchlight::inject::cupti
