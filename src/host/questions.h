// What host_query can be asked. Each prints its answer as lines key=value.
#pragma once

namespace batchlight::host {

// Exit codes.
enum Answer : int { kAnswered = 0, kUnknown = 1, kBadQuestion = 2 };

// driver=0 or 1 (libcuda loads); cuda_error=, cuda_version=, gpu=INDEX: NAME for each; cupti=.
int PrintGpus();

// uid=, gid=, name=, home=, shell=, group= for each; kUnknown if there is no such name or number.
int PrintUser(const char* user);

// Of LIBRARY_FOLDER or "-", then one of
//   chips                              chip= for each that CUPTI knows
//   metrics range|pm CHIP              metric=NAME\tcounter|ratio|throughput\tUNIT\tWHAT for each
//   plan range|pm CHIP NAME...         pass=NAME,NAME,... for each, missing=NAME, several=NAME;
//                                      +NAME is wanted in every pass
// Before: cupti=, chip=. CHIP "-" is this machine's GPU: no_gpu=1 if there is none. why=: it
// failed.
int PrintCounters(int count, char** words);

// LIBRARY_FOLDER or "-", all or a list of devices, ns from sample to sample, metrics: samples until
// standard input ends and writes frames (sample_stream.h), no lines. Without metrics only what NVML
// has.
int SampleGpus(int count, char** words);

}  // namespace batchlight::host
