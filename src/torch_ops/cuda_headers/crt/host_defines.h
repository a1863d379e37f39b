#pragma once

// What CUDA's headers for host code take from crt/host_defines.h, as a host compiler other than
// nvcc needs it: nothing runs on the GPU here, so that the words for it mean nothing, and types
// keep their alignment. For the packages of CUDA 13 that PyTorch's wheels need: crt/ is in another
// package (nvidia-cuda-crt), which they do not bring. Behind all other folders of headers, so that
// the real one is taken where it exists.
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)
#define __cluster_dims__(...)
#define __constant__
#define __cudart_builtin__
#define __device__
#define __device_builtin__
#define __device_builtin_surface_type__
#define __device_builtin_texture_type__
#define __forceinline__ inline __attribute__((always_inline))
#define __global__
#define __grid_constant__
#define __host__
#define __launch_bounds__(...)
#define __managed__
#define __no_return__ __attribute__((noreturn))
#define __shared__
