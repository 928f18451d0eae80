// Interposes the C library's functions that write to sockets, to count their calls. Linked only into benchmarks.
#define _GNU_SOURCE
#include "write_counter.h"

#include <stdatomic.h>

#ifdef __linux__

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic unsigned long long count;

static void tick(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

ssize_t write(int file, const void *bytes, size_t length) {
  tick();
  return syscall(SYS_write, file, bytes, length);
}

ssize_t writev(int file, const struct iovec *vectors, int number) {
  tick();
  return syscall(SYS_writev, file, vectors, number);
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  tick();
  return syscall(SYS_sendmsg, file, message, flags);
}

ssize_t sendto(int file, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
  tick();
  return syscall(SYS_sendto, file, bytes, length, flags, to, size);
}

ssize_t send(int file, const void *bytes, size_t length, int flags) { return sendto(file, bytes, length, flags, 0, 0); }

unsigned long long write_counter_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

#else

unsigned long long write_counter_count(void) { return 0; }

#endif
