// Hardware counters and samples of instructions, beside the records of CUPTI's activity.
#pragma once

namespace batchlight::inject::cupti {

// Before the collector starts. What the session does not ask for costs nothing.
void FollowCollector();

}  // namespace batchlight::inject::cupti
