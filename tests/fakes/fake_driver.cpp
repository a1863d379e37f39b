// A stand-in for libcuda.so.1: what the injected library asks the driver itself. One GPU.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "fakes/fake_cuda.h"

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = 13000;
  fake_cuda_driver_get_version();
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

int cuDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<size_t>(bytes), "Fake H200");
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = 150'000'000'000;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 16:
      *value = 132;
      return 0;
    case 36:
      *value = 3'201'000;
      return 0;
    case 37:
      *value = 6144;
      return 0;
    case 75:
      *value = 9;
      return 0;
    default:
      *value = 0;
      return 0;
  }
}

int cuDeviceGetUuid_v2(char* uuid, int) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<char>(i);
  return 0;
}

}  // extern "C"
