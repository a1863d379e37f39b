// Nanoseconds of one call of the C library, the fastest of many batches: bench/os_calls_bench.py
// runs it with and without -t osrt.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace {

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <class Call>
void Measure(const char* name, const Call& call) {
  constexpr int kBatches = 300, kCalls = 200;
  double best = 1e18;
  for (int batch = 0; batch < kBatches; ++batch) {
    const double begin = Now();
    for (int i = 0; i < kCalls; ++i) call();
    best = std::min(best, (Now() - begin) / kCalls);
  }
  std::printf("%s %.1f\n", name, best);
}

}  // namespace

int main() {
  const int zero = open("/dev/zero", O_RDONLY);
  char byte = 0;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  Measure("read", [&] { (void)!read(zero, &byte, 1); });
  Measure("close", [] { close(-1); });
  Measure("sched_yield", [] { sched_yield(); });
  Measure("lock+unlock", [&] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  Measure("post+wait", [&] {
    sem_post(&semaphore);
    sem_wait(&semaphore);
  });
  Measure("syscall", [] { syscall(SYS_getppid); });
  return 0;
}
