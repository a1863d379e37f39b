// A program whose threads do known things, for the tests of CPU samples and context switches:
//
//   cpu_program shares SECONDS   three functions burn 6 : 3 : 1 of the processor time
//   cpu_program waits            a thread sleeps, waits for a lock, reads a pipe: 300 ms each
//   cpu_program deep SECONDS     burns below a recursion deeper than what a sample copies
//   cpu_program kill SECONDS     as shares, then ends itself with SIGKILL
//   cpu_program fork SECONDS     a child that executes nothing burns, then one that executes this
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static double CpuSeconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static volatile uint64_t sink;

// Of the thread's own processor time, so that a busy machine changes no share.
static inline __attribute__((always_inline)) void Burn(double seconds) {
  const double until = CpuSeconds() + seconds;
  uint64_t value = 1;
  do {
    for (int i = 0; i < 20000; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  } while (CpuSeconds() < until);
  sink += value;
}

NOINLINE void BurnSix(double seconds) { Burn(seconds); }
NOINLINE void BurnThree(double seconds) { Burn(seconds); }
NOINLINE void BurnOne(double seconds) { Burn(seconds); }

NOINLINE void BurnShares(double seconds) {
  for (int round = 0; round < 10; ++round) {
    BurnSix(seconds * 0.06);
    BurnThree(seconds * 0.03);
    BurnOne(seconds * 0.01);
  }
}

NOINLINE int Descend(int depth, double seconds) {
  volatile char room[256];
  room[depth % 256] = 1;
  if (depth == 0) {
    BurnOne(seconds);
    return room[0];
  }
  return Descend(depth - 1, seconds) + room[depth % 256];
}

static void SleepMs(int ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_ends[2];

static void* Wait(void* unused) {
  char byte;
  pthread_setname_np(pthread_self(), "waiter");
  SleepMs(300);
  pthread_mutex_lock(&lock);  // held for 300 ms from here on
  pthread_mutex_unlock(&lock);
  if (read(pipe_ends[0], &byte, 1) != 1) abort();  // written 300 ms later
  return unused;
}

static int Waits(void) {
  pthread_t thread;
  if (pipe(pipe_ends) != 0) return 1;
  pthread_mutex_lock(&lock);
  pthread_create(&thread, NULL, Wait, NULL);
  SleepMs(600);
  pthread_mutex_unlock(&lock);
  SleepMs(300);
  if (write(pipe_ends[1], "x", 1) != 1) return 1;
  pthread_join(thread, NULL);
  return 0;
}

static int Forks(const char* self, const char* seconds) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    BurnThree(atof(seconds));
    _exit(0);
  }
  waitpid(child, &status, 0);
  child = fork();
  if (child == 0) {
    execl(self, self, "shares", seconds, (char*)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  return status != 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  if (strcmp(what, "shares") == 0) BurnShares(seconds);
  if (strcmp(what, "waits") == 0) return Waits();
  if (strcmp(what, "deep") == 0) Descend(200, seconds);
  if (strcmp(what, "fork") == 0) return Forks(argv[0], argv[2]);
  if (strcmp(what, "kill") == 0) {
    BurnShares(seconds);
    kill(getpid(), SIGKILL);
  }
  return 0;
}
