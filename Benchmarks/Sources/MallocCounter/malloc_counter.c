// Interposes the C library's allocator to count allocations. Linked only into benchmarks.
#include "malloc_counter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef __linux__

#include <malloc.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic unsigned long long count;

static void tick(void) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }

void *malloc(size_t size) {
  tick();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  tick();
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  tick();
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  tick();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  tick();
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

unsigned long long malloc_counter_count(void) {
  return atomic_load_explicit(&count, memory_order_relaxed);
}

unsigned long long malloc_counter_bytes(void) {
  // All arenas, and large blocks that were mapped separately.
  struct mallinfo2 info = mallinfo2();
  return (unsigned long long)info.uordblks + (unsigned long long)info.hblkhd;
}

#else

unsigned long long malloc_counter_count(void) { return 0; }
unsigned long long malloc_counter_bytes(void) { return 0; }

#endif
