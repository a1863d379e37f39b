// CUPTI's callbacks on the driver's launches, which are enabled while these are counted alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/call_stacks.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/driver_launches.h"
#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// `calls`: kKernelLaunches or kGraphLaunches. Those that stacks of calls want stay enabled.
template <size_t kCount>
void EnableLaunches(const Library& library, void* subscriber, const uint16_t (&calls)[kCount],
                    bool on) {
  for (const uint16_t cbid : calls) {
    if (!on && WantsCallStack(g_collector.options, kDriverApi, cbid)) continue;
    library.cuptiEnableCallback(on ? 1 : 0, subscriber, kDriverApi, cbid);
  }
}

}  // namespace batchlight::inject::cupti
