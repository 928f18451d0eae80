/// The key management calls of the Linux kernel. The C library has no functions for them, and Swift cannot call the
/// variadic `syscall`.

#ifndef APUS_KEYRING_SHIM_H
#define APUS_KEYRING_SHIM_H

#if defined(__linux__)

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

extern long syscall(long number, ...);

/// Adds a key of the type `user`, or replaces the content of the key with that description.
///
/// Returns the key's number, or a negative error number.
static inline long apus_keyring_add(const char *description, const void *content, size_t length, int keyring) {
  long result = syscall(__NR_add_key, "user", description, content, length, (long)keyring);
  return result < 0 ? -(long)errno : result;
}

/// Links the keys of a keyring to the calling thread, which then possesses them. Returns 0, or a negative error number.
static inline long apus_keyring_possess(int keyring) {
  long result = syscall(__NR_keyctl, 8L, (long)keyring, -1L, 0L, 0L);
  return result < 0 ? -(long)errno : result;
}

/// Searches for a key of the type `user`. Returns the key's number, or a negative error number.
static inline long apus_keyring_search(int keyring, const char *description) {
  long result = syscall(__NR_keyctl, 10L, (long)keyring, "user", description, 0L);
  return result < 0 ? -(long)errno : result;
}

/// Reads a key. Returns the length of its content, which may be more than fits, or a negative error number.
static inline long apus_keyring_read(int key, void *content, size_t length) {
  long result = syscall(__NR_keyctl, 11L, (long)key, content, length, 0L);
  return result < 0 ? -(long)errno : result;
}

/// Sets the permissions of a key. Returns 0, or a negative error number.
static inline long apus_keyring_set_permissions(int key, unsigned int permissions) {
  long result = syscall(__NR_keyctl, 5L, (long)key, (long)permissions, 0L, 0L);
  return result < 0 ? -(long)errno : result;
}

/// Sets the time in seconds after which a key expires. Returns 0, or a negative error number.
static inline long apus_keyring_set_timeout(int key, unsigned int seconds) {
  long result = syscall(__NR_keyctl, 15L, (long)key, (long)seconds, 0L, 0L);
  return result < 0 ? -(long)errno : result;
}

#endif

#endif
