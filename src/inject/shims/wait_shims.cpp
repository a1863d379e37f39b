// Waiting for descriptors and for the clock; sockets.
#include <sys/socket.h>

#include "inject/shims/shim.h"

using namespace batchlight::inject::shims;

SHIM(int, poll, void* descriptors, unsigned long count, int timeout_ms) {
  return Timed<OsCall::k_poll, int>(descriptors, count, timeout_ms);
}
SHIM(int, ppoll, void* descriptors, unsigned long count, const void* timeout, const void* signals) {
  return Timed<OsCall::k_ppoll, int>(descriptors, count, timeout, signals);
}
SHIM(int, select, int count, void* reads, void* writes, void* errors, void* timeout) {
  return Timed<OsCall::k_select, int>(count, reads, writes, errors, timeout);
}
SHIM(int, pselect, int count, void* reads, void* writes, void* errors, const void* timeout,
     const void* signals) {
  return Timed<OsCall::k_pselect, int>(count, reads, writes, errors, timeout, signals);
}
SHIM(int, epoll_wait, int fd, void* events, int most, int timeout_ms) {
  return OfDescriptor<OsCall::k_epoll_wait, int>(fd, fd, events, most, timeout_ms);
}
SHIM(int, epoll_pwait, int fd, void* events, int most, int timeout_ms, const void* signals) {
  return OfDescriptor<OsCall::k_epoll_pwait, int>(fd, fd, events, most, timeout_ms, signals);
}
SHIM(int, accept, int fd, void* address, socklen_t* bytes) {
  return OfDescriptor<OsCall::k_accept, int>(fd, fd, address, bytes);
}
SHIM(int, accept4, int fd, void* address, socklen_t* bytes, int flags) {
  return OfDescriptor<OsCall::k_accept4, int>(fd, fd, address, bytes, flags);
}
SHIM(int, connect, int fd, const void* address, socklen_t bytes) {
  return OfDescriptor<OsCall::k_connect, int>(fd, fd, address, bytes);
}
SHIM(ssize_t, recv, int fd, void* to, size_t bytes, int flags) {
  return Moves<OsCall::k_recv, ssize_t>(fd, fd, to, bytes, flags);
}
SHIM(ssize_t, recvfrom, int fd, void* to, size_t bytes, int flags, void* address,
     socklen_t* address_bytes) {
  return Moves<OsCall::k_recvfrom, ssize_t>(fd, fd, to, bytes, flags, address, address_bytes);
}
SHIM(ssize_t, recvmsg, int fd, void* message, int flags) {
  return Moves<OsCall::k_recvmsg, ssize_t>(fd, fd, message, flags);
}
SHIM(ssize_t, send, int fd, const void* from, size_t bytes, int flags) {
  return Moves<OsCall::k_send, ssize_t>(fd, fd, from, bytes, flags);
}
SHIM(ssize_t, sendto, int fd, const void* from, size_t bytes, int flags, const void* address,
     socklen_t address_bytes) {
  return Moves<OsCall::k_sendto, ssize_t>(fd, fd, from, bytes, flags, address, address_bytes);
}
SHIM(ssize_t, sendmsg, int fd, const void* message, int flags) {
  return Moves<OsCall::k_sendmsg, ssize_t>(fd, fd, message, flags);
}

SHIM(unsigned, sleep, unsigned seconds) { return Timed<OsCall::k_sleep, unsigned>(seconds); }
SHIM(int, usleep, unsigned microseconds) { return Timed<OsCall::k_usleep, int>(microseconds); }
SHIM(int, nanosleep, const void* time, void* left) {
  return Timed<OsCall::k_nanosleep, int>(time, left);
}
SHIM(int, clock_nanosleep, int clock, int flags, const void* time, void* left) {
  return Timed<OsCall::k_clock_nanosleep, int>(clock, flags, time, left);
}
SHIM(int, sched_yield) { return Timed<OsCall::k_sched_yield, int>(); }
