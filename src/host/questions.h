// What host_query can be asked. Each prints its answer as lines key=value.
#pragma once

namespace batchlight::host {

// Exit codes.
enum Answer : int { kAnswered = 0, kUnknown = 1, kBadQuestion = 2 };

// driver=0 or 1 (libcuda loads); cuda_error=, cuda_version=, gpu=INDEX: NAME for each; cupti=.
int PrintGpus();

// uid=, gid=, name=, home=, shell=, group= for each; kUnknown if there is no such name or number.
int PrintUser(const char* user);

}  // namespace batchlight::host
