// Reports the operations of Swift's Mutex on Linux to the thread sanitizer; scripts/tsan preloads it into the tests.
//
// A free `Synchronization.Mutex` is locked in the caller's code, which the sanitizer sees. A contended mutex is
// locked by the kernel (a PI futex) through the library, which is not instrumented, so that the sanitizer reports
// races in correct code: eight threads that add to one `Mutex<Int>` are enough. Suppressions would hide real races in
// the same functions; this file reports the missing acquire and release instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Defined by the sanitizer; absent in programs that are not instrumented.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void unlock(SELF) __asm__(UNLOCK);

// The library's function, looked up once: each look-up takes the loader's lock while another lock is being taken.
static void *library(const char *name, _Atomic(void *) *found) {
  void *function = atomic_load(found);
  if (!function) atomic_store(found, function = dlsym(RTLD_NEXT, name));
  return function;
}

SWIFT void lock(uint32_t thread, SELF) {
  static _Atomic(void *) found;
  SWIFT void (*original)(uint32_t, SELF) = library(LOCK, &found);
  original(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock(SELF) {
  static _Atomic(void *) found;
  SWIFT bool (*original)(SELF) = library(TRY_LOCK, &found);
  bool locked = original(mutex);
  if (locked && __tsan_acquire) __tsan_acquire(mutex);
  return locked;
}

SWIFT void unlock(SELF) {
  static _Atomic(void *) found;
  SWIFT void (*original)(SELF) = library(UNLOCK, &found);
  if (__tsan_release) __tsan_release(mutex);
  original(mutex);
}
