#include "inject/counting/counting.h"

#include "inject/counting/capture_watch.h"
#include "inject/counting/loop_context.h"
#include "inject/counting/stall_sampler.h"
#include "inject/counting/step_counters.h"
#include "inject/cupti/follower.h"

namespace batchlight::inject::cupti {

void FollowCollector() {
  static constexpr Follower kFollower = {
      .starts =
          [](const Library& library, void* subscriber) {
            const bool counts = PrepareStepCounters(library, subscriber);
            const bool samples = PrepareStallSampler(library, subscriber);
            if (counts || samples) WatchCaptures(library, subscriber);
          },
      .on_module = OnModule,
      .on_driver_call =
          [](uint32_t cbid, const CallbackData& call) {
            OnCaptureCall(cbid, call);
            OnLaunchCall(cbid, call);
          },
      .on_graph_node = NoteGraphNode,
      .replayed_ns = ReplayedNs,
      .ends =
          [] {
            FinishStepCounters();
            FinishStallSampler();
          },
      .forgets =
          [] {
            ForgetStepCounters();
            ForgetStallSampler();
          }};
  g_follower = &kFollower;
}

}  // namespace batchlight::inject::cupti
