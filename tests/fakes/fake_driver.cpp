// A stand-in for libcuda.so.1 with two GPUs, for `batchlight doctor` and for those who read
// counters. FAKE_DRIVER=error: it finds none; crash: it takes its process with it; "no context":
// none is current; "lost device": waiting for it fails.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNoDevice = 100;  // CUDA_ERROR_NO_DEVICE

bool Wanted(const char* what) {
  const char* const wanted = std::getenv("FAKE_DRIVER");
  return wanted != nullptr && std::strcmp(wanted, what) == 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (Wanted("crash")) std::abort();
  return Wanted("error") ? kNoDevice : 0;
}

int cuDriverGetVersion(int* version) {
  *version = Wanted("old") ? 11080 : 13010;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

int cuCtxGetCurrent(void** context) {
  static int the_context;
  *context = Wanted("no context") ? nullptr : &the_context;
  return 0;
}

int cuCtxSynchronize() { return Wanted("lost device") ? 700 : 0; }

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (unsigned char byte = 0; byte < 15; ++byte) uuid[byte] = byte;
  uuid[15] = static_cast<unsigned char>(device);
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  std::snprintf(name, static_cast<size_t>(length), "Stand-in GPU %d", device);
  return 0;
}
}
