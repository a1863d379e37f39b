// A stand-in for the CUDA driver and libcupti: libcupti.so.13 of this folder. A test program calls
// these functions where a CUDA program would call CUDA's, from any number of threads; what CUPTI
// would record of it is handed out through CUPTI's own interface. No GPU: work "runs" at once and
// takes the duration it is given.
//
// Faults, from the environment: FAKE_CUPTI_VERSION (default 130001; older ones have the smaller
// records of their time), FAKE_CUPTI_SUBSCRIBE (result of cuptiSubscribe, 39 = another tool is
// there), FAKE_CUPTI_ENABLE (result of cuptiActivityEnable), FAKE_CUPTI_REFUSES (a kind that it
// does not have), FAKE_CUPTI_PAGE_FAULTS (result of their configuration), FAKE_CUPTI_FLUSH_HANGS=1,
// FAKE_CUPTI_FLUSH_MS (how long a flush goes on after it has delivered).
#pragma once

#include <cstdint>

extern "C" {

// cuInit: loads the library that CUDA_INJECTION64_PATH names, as the driver does.
void fake_cuda_init(void);

struct fake_launch {
  const char* name;  // mangled; must live on
  int32_t grid[3];
  int32_t block[3];
  uint32_t stream;
  uint32_t duration_ns;
  uint64_t graph_node;      // 0 = none
  uint32_t through_driver;  // 0 = cudaLaunchKernel, 1 = cuLaunchKernelEx, else the driver's call
};
// All return the correlation id, 0 if no kind is enabled that has one.
uint32_t fake_cuda_launch(const struct fake_launch* launch);
// The driver says that the launch is invalid.
void fake_cuda_refused_launch(const char* name);
// `kind` as CUpti_ActivityMemcpyKind: 1 host to device, 2 device to host, 8 device to device, 10
// peer.
uint32_t fake_cuda_memcpy_async(uint32_t kind, uint64_t bytes, uint32_t stream,
                                uint32_t duration_ns);
// From memory of the program's, which the call is given.
uint32_t fake_cuda_copy_from(const void* from, uint64_t bytes);
uint32_t fake_cuda_memset_async(uint32_t value, uint64_t bytes, uint32_t stream,
                                uint32_t duration_ns);
uint32_t fake_cuda_stream_synchronize(uint32_t stream, uint32_t duration_ns);
// Stream 0 is the default one, of the thread in the driver's call (it is the _ptsz variant); 1 and
// 2 are cudaStreamLegacy and cudaStreamPerThread.
uint32_t fake_cuda_stream_wait_event(uint32_t stream, uint32_t event, uint32_t result);
uint32_t fake_cuda_driver_stream_wait_event(uint32_t stream, uint32_t event);
uint32_t fake_cuda_event_synchronize(uint32_t event);
uint32_t fake_cuda_device_synchronize(void);
uint32_t fake_cuda_event_record(uint32_t event, uint32_t stream);
uint32_t fake_cuda_graph_launch(uint32_t graph, uint32_t stream, uint32_t duration_ns);
uint32_t fake_cuda_malloc(uint64_t address, uint64_t bytes);
uint32_t fake_cuda_free(uint64_t address, uint64_t bytes);
// A call that is recorded with --cuda-trace-all-apis only.
uint32_t fake_cuda_get_device(void);
// A page fault of unified memory.
void fake_cuda_cpu_page_fault(uint64_t address);
// From begin to end the stream is in a capture, which asking for the stream's id breaks, and any
// call of the sampler's, and a launch while it samples. 0, or cudaErrorStreamCaptureInvalidated.
void fake_cuda_begin_capture(uint32_t stream);
uint32_t fake_cuda_end_capture(void);
// Stream capture adds a node; instantiation clones it.
void fake_cuda_graph_node(uint64_t node, uint64_t clone);
// Code for the GPU (a cubin) is loaded, or unloaded; kernels launched then are its functions.
void fake_cuda_load_module(const void* image, uint64_t bytes);
void fake_cuda_unload_module(void);
void fake_cuda_profiler_start(void);
void fake_cuda_profiler_stop(void);
// cudaDeviceReset and cuCtxDestroy: the context is about to go.
void fake_cuda_device_reset(void);
void fake_cuda_new_context(void);
// cudaMalloc that finds no memory.
uint32_t fake_cuda_out_of_memory(void);

// What the fake saw of its user.
uint64_t fake_cupti_records_dropped(void);  // all so far
uint64_t fake_cupti_records_read(void);     // by its user, all so far
uint32_t fake_cupti_kind_enabled(uint32_t kind);
uint32_t fake_cupti_launch_callbacks(void);  // enabled, of the driver's calls that launch
uint64_t fake_cupti_buffers_handed_out(void);
int fake_counters_enabled(void);          // profilers that nobody has disabled
uint64_t fake_cupti_dirty_buffers(void);  // handed out though not zeroed

}  // extern "C"
