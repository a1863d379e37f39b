// A program that does what timers and their signal could disturb, for the tests of samples that are
// taken by them. Each mode prints what it saw, which must be what it sees alone:
//
// calls SECONDS: burns between blocking calls, and counts those that were interrupted
//
// threads COUNT: threads one after the other, which burn 10 ms each and end in three ways
//
// many COUNT: threads at the same time
//
// small: a thread with the smallest stack burns
//
// own HOW: handles SIGURG (set by HOW), and sends it to itself ten times
//
// views: asks for and sets what SIGURG does, without handling it
//
// sigwait: blocks all signals, burns, and waits for the one that a child sends
//
// signalfd: the same by a descriptor
//
// prof: samples itself by SIGPROF
//
// spawn PROGRAM: by vfork, posix_spawn and fork, from threads that burn
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define NOINLINE __attribute__((noinline, noclone))

static __thread volatile uint64_t sink;

NOINLINE void Burn(double seconds) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const double until = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 + seconds;
  do {
    for (int i = 0; i < 2000; ++i) sink = sink * 6364136223846793005u + 1442695040888963407u;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < until);
}

static int interrupted;
static void Note(int result) { interrupted += result < 0 && errno == EINTR; }

static int Calls(double seconds) {
  const int epoll = epoll_create1(0);
  const time_t end = time(NULL) + (time_t)seconds;
  int rounds = 0;
  for (; time(NULL) < end; ++rounds) {
    struct timespec time = {.tv_nsec = 200000};
    struct timeval value = {.tv_usec = 200};
    struct epoll_event event;
    Burn(0.0004);
    Note(nanosleep(&time, NULL));
    Burn(0.0004);
    Note(poll(NULL, 0, 1));
    Burn(0.0004);
    Note(epoll_wait(epoll, &event, 1, 1));
    Burn(0.0004);
    Note(select(0, NULL, NULL, NULL, &value));
    Burn(0.0004);
    Note(-clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) < 0 ? (errno = EINTR, -1) : 0);
    Burn(0.0004);
    Note(usleep(200));
  }
  printf("%s, %d interrupted\n", rounds > 10 ? "many rounds" : "few rounds", interrupted);
  return 0;
}

static void* BurnALittle(void* how) {
  Burn(0.01);
  if (how == (void*)1) pthread_exit(NULL);
  if (how == (void*)2) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
  }
  return how;
}

static int Threads(int count) {
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, BurnALittle, (void*)(intptr_t)(i % 3)) != 0) {
      ++failed;
    } else {
      pthread_join(thread, NULL);
    }
  }
  printf("%d threads, %d failed\n", count, failed);
  return 0;
}

static pthread_barrier_t all_there;
static void* BurnWithAll(void* unused) {
  pthread_barrier_wait(&all_there);
  Burn(0.002);
  return unused;
}

static int Many(int count) {
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  pthread_barrier_init(&all_there, NULL, (unsigned)count);
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], &attributes, BurnWithAll, NULL) != 0) return 1;
  }
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  free(threads);
  printf("%d threads\n", count);
  return 0;
}

static void* BurnSmall(void* unused) {
  Burn(0.2);
  return unused;
}

static int Small(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
  if (pthread_create(&thread, &attributes, BurnSmall, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  puts("a small stack is enough");
  return 0;
}

static volatile sig_atomic_t handled;
static void Handle(int number) { handled += number != 0; }

int __sigaction(int number, const struct sigaction* action, struct sigaction* before);
sighandler_t __sysv_signal(int number, sighandler_t handler);
sighandler_t bsd_signal(int number, sighandler_t handler);

static sighandler_t SetHandlerBy(const char* how) {
  struct sigaction before = {.sa_handler = SIG_ERR};
  struct sigaction action = {.sa_handler = Handle};
  if (strcmp(how, "signal") == 0) return signal(SIGURG, Handle);
  if (strcmp(how, "sysv_signal") == 0) return sysv_signal(SIGURG, Handle);
  if (strcmp(how, "__sysv_signal") == 0) return __sysv_signal(SIGURG, Handle);
  if (strcmp(how, "bsd_signal") == 0) return bsd_signal(SIGURG, Handle);
  if (strcmp(how, "ssignal") == 0) return ssignal(SIGURG, Handle);
  if (strcmp(how, "sigset") == 0) return sigset(SIGURG, Handle);
  (strcmp(how, "__sigaction") == 0 ? __sigaction : sigaction)(SIGURG, &action, &before);
  return before.sa_handler;
}

static int Own(const char* how) {
  Burn(0.05);
  const sighandler_t before = SetHandlerBy(how);
  for (int i = 0; i < 10; ++i) {
    Burn(0.02);
    raise(SIGURG);
  }
  printf("%d handled, default before: %d\n", (int)handled, before == SIG_DFL);
  return 0;
}

static int Views(void) {
  struct sigaction action;
  Burn(0.02);
  sigaction(SIGURG, NULL, &action);
  printf("default: %d\n", action.sa_handler == SIG_DFL);
  printf("before: %d\n", signal(SIGURG, SIG_IGN) == SIG_DFL);
  for (int number = 1; number < SIGRTMIN; ++number) {
    if (number != SIGKILL && number != SIGSTOP && number != SIGCHLD) signal(number, SIG_DFL);
  }
  raise(SIGURG);
  Burn(0.3);
  sigaction(SIGURG, NULL, &action);
  printf("default: %d\n", action.sa_handler == SIG_DFL);
  return 0;
}

// A child that sends SIGUSR1 a while later.
static void AskForSignal(void) {
  const pid_t parent = getpid();
  if (fork() == 0) {
    usleep(100000);
    kill(parent, SIGUSR1);
    _exit(0);
  }
}

static int Sigwait(void) {
  sigset_t all;
  int number = 0;
  sigfillset(&all);
  sigdelset(&all, SIGCHLD);
  sigprocmask(SIG_BLOCK, &all, NULL);
  AskForSignal();
  Burn(0.05);
  sigwait(&all, &number);
  printf("%s\n", strsignal(number));
  return 0;
}

static int Signalfd(void) {
  sigset_t all;
  struct signalfd_siginfo info;
  sigfillset(&all);
  sigdelset(&all, SIGCHLD);
  sigprocmask(SIG_BLOCK, &all, NULL);
  AskForSignal();
  Burn(0.05);
  const int descriptor = signalfd(-1, &all, 0);
  if (read(descriptor, &info, sizeof info) != sizeof info) return 1;
  printf("%s\n", strsignal((int)info.ssi_signo));
  return 0;
}

static int Prof(void) {
  struct itimerval times = {{0, 10000}, {0, 10000}};
  signal(SIGPROF, Handle);
  setitimer(ITIMER_PROF, &times, NULL);
  Burn(0.5);
  printf("its own samples: %s\n", handled > 20 && handled < 60 ? "as many as alone" : "others");
  return 0;
}

static const char* spawned;
static int ExitCode(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static void* Spawn(void* failures) {
  char* const words[] = {(char*)spawned, (char*)"small", NULL};
  for (int i = 0; i < 5; ++i) {
    Burn(0.02);
    pid_t child = vfork();
    if (child == 0) {
      execv(spawned, words);
      _exit(1);
    }
    const int first = ExitCode(child);
    const int made = posix_spawn(&child, spawned, NULL, NULL, words, environ);
    const int second = made == 0 ? ExitCode(child) : -3;
    child = fork();
    if (child == 0) {
      Burn(0.02);
      _exit(7);
    }
    const int third = ExitCode(child);
    if (first != 0 || second != 0 || third != 7)
      __atomic_fetch_add((int*)failures, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static int Spawns(void) {
  pthread_t threads[2];
  int failures = 0;
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, Spawn, &failures);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("%d failures\n", failures);
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* word = argc > 2 ? argv[2] : "1";
  if (strcmp(what, "calls") == 0) return Calls(atof(word));
  if (strcmp(what, "threads") == 0) return Threads(atoi(word));
  if (strcmp(what, "many") == 0) return Many(atoi(word));
  if (strcmp(what, "small") == 0) return Small();
  if (strcmp(what, "own") == 0) return Own(word);
  if (strcmp(what, "views") == 0) return Views();
  if (strcmp(what, "sigwait") == 0) return Sigwait();
  if (strcmp(what, "signalfd") == 0) return Signalfd();
  if (strcmp(what, "prof") == 0) return Prof();
  spawned = word;
  return strcmp(what, "spawn") == 0 ? Spawns() : 1;
}
