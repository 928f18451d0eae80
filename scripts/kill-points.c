// Counts the changes that a program makes to the files below some folders, and kills it before one of them. The tests
// that kill processes (Tests/TestSupport/KillPoints.swift) preload it into a process on Linux.
//
//   APUS_KILL_FOLDERS  the absolute paths of the folders, separated by colons
//   APUS_KILL_AT       the number of the change before which the process dies, from 1; it lives without it
//   APUS_KILL_REPORT   a file outside the folders, to which each change adds a line: the function and the path. The last
//                      line of a process that was killed is the change that it did not make
//
// A call that changes nothing does not count, such as the removal of a file that does not exist: killing the process
// before it leaves the same files as killing it before the next call. Flushes count, although a process's death loses
// nothing that was written. Writes through the streams of stdio and through mapped memory are not seen.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folders;
static unsigned long limit;
static int report = -1;
static atomic_ulong count;

__attribute__((constructor)) static void start(void) {
  const char *at = getenv("APUS_KILL_AT"), *path = getenv("APUS_KILL_REPORT");
  if (at) limit = strtoul(at, NULL, 10);
  // System calls, since the functions are those below.
  if (path) report = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  folders = getenv("APUS_KILL_FOLDERS");
}

static bool is_below(const char *path) {
  if (!folders) return false;
  for (const char *folder = folders; *folder;) {
    size_t length = strcspn(folder, ":");
    if (length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length])) return true;
    folder += length + (folder[length] == ':');
  }
  return false;
}

// A change is about to be made to this path.
static void change(const char *function, const char *path) {
  if (!is_below(path)) return;
  int error = errno;
  unsigned long number = atomic_fetch_add(&count, 1) + 1;
  if (!limit || number <= limit) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %s\n", function, path);
    if (report >= 0 && length > 0) syscall(SYS_write, report, line, (size_t)length);
  }
  if (limit && number >= limit) {
    if (number == limit) kill(getpid(), SIGKILL);
    // Another thread is about to kill the process.
    for (;;) pause();
  }
  errno = error;
}

// Whether the descriptor is that of a regular file or a folder; finds its path.
static bool find(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0 || path[0] != '/') return false;
  path[length] = 0;
  return true;
}

static void change_file(const char *function, int descriptor) {
  int error = errno;
  char path[PATH_MAX];
  if (folders && find(descriptor, path)) change(function, path);
  errno = error;
}

static bool resolve(int folder, const char *name, char *path) {
  if (name[0] == '/') return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
  char start[PATH_MAX];
  if (folder == AT_FDCWD) {
    if (!getcwd(start, sizeof start)) return false;
  } else if (!find(folder, start)) {
    return false;
  }
  return snprintf(path, PATH_MAX, "%s/%s", start, name) < PATH_MAX;
}

// A call that needs the name to exist, or not to.
static void change_name(const char *function, int folder, const char *name, bool exists) {
  int error = errno;
  char path[PATH_MAX];
  struct stat status;
  if (folders && resolve(folder, name, path) && (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) == exists)
    change(function, path);
  errno = error;
}

static void change_opened(const char *function, int folder, const char *name, int flags) {
  int error = errno;
  struct stat status;
  bool exists = fstatat(folder, name, &status, 0) == 0;
  if (flags & O_CREAT && !exists) change_name(function, folder, name, false);
  else if (flags & O_TRUNC && exists && status.st_size > 0) change_name(function, folder, name, true);
  errno = error;
}

// The library's function.
#define NEXT(name) \
  static _Atomic(void *) found; \
  if (!atomic_load(&found)) atomic_store(&found, dlsym(RTLD_NEXT, #name)); \
  __typeof__(&name) next = (__typeof__(&name))atomic_load(&found)

#define MODE(last) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, last); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    NEXT(name); \
    MODE(flags) \
    change_opened(#name, AT_FDCWD, path, flags); \
    return next(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    NEXT(name); \
    MODE(flags) \
    change_opened(#name, folder, path, flags); \
    return next(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

// A function with the result, the parameters in parentheses, the arguments in parentheses, and what it changes.
#define WRAP(result, name, parameters, arguments, changes) \
  result name parameters { \
    NEXT(name); \
    changes; \
    return next arguments; \
  }
#define WRAP_FILE(result, name, parameters, arguments) \
  WRAP(result, name, parameters, arguments, change_file(#name, file))

// Declared by no header: calls that the headers' checks make in place of the others.
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
WRAP(int, __open_2, (const char *path, int flags), (path, flags), change_opened("open", AT_FDCWD, path, flags))
WRAP(int, __open64_2, (const char *path, int flags), (path, flags), change_opened("open", AT_FDCWD, path, flags))
WRAP(int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags),
     change_opened("openat", folder, path, flags))
WRAP(int, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags),
     change_opened("openat", folder, path, flags))
WRAP(int, creat, (const char *path, mode_t mode), (path, mode),
     change_opened("creat", AT_FDCWD, path, O_CREAT | O_TRUNC))
WRAP(int, creat64, (const char *path, mode_t mode), (path, mode),
     change_opened("creat", AT_FDCWD, path, O_CREAT | O_TRUNC))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode),
     change_opened("fopen", AT_FDCWD, path, mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'w' ? O_TRUNC : 0)))
WRAP(FILE *, fopen64, (const char *path, const char *mode), (path, mode),
     change_opened("fopen", AT_FDCWD, path, mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'w' ? O_TRUNC : 0)))
WRAP(int, mkstemp, (char *path), (path), change_name("mkstemp", AT_FDCWD, path, false))
WRAP(int, mkstemp64, (char *path), (path), change_name("mkstemp", AT_FDCWD, path, false))
WRAP(int, mkostemp, (char *path, int flags), (path, flags), change_name("mkostemp", AT_FDCWD, path, false))
WRAP(char *, mkdtemp, (char *path), (path), change_name("mkdtemp", AT_FDCWD, path, false))

// Content.
WRAP_FILE(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
WRAP_FILE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
WRAP_FILE(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at))
WRAP_FILE(ssize_t, writev, (int file, const struct iovec *pieces, int size), (file, pieces, size))
WRAP_FILE(ssize_t, pwritev, (int file, const struct iovec *pieces, int size, off_t at), (file, pieces, size, at))
WRAP_FILE(ssize_t, pwritev64, (int file, const struct iovec *pieces, int size, off64_t at), (file, pieces, size, at))
WRAP_FILE(int, ftruncate, (int file, off_t size), (file, size))
WRAP_FILE(int, ftruncate64, (int file, off64_t size), (file, size))
WRAP(int, truncate, (const char *path, off_t size), (path, size), change_name("truncate", AT_FDCWD, path, true))
WRAP(int, truncate64, (const char *path, off64_t size), (path, size), change_name("truncate", AT_FDCWD, path, true))
WRAP_FILE(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size))
WRAP_FILE(int, fallocate64, (int file, int mode, off64_t at, off64_t size), (file, mode, at, size))
WRAP_FILE(int, posix_fallocate, (int file, off_t at, off_t size), (file, at, size))
WRAP_FILE(int, posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size))
WRAP_FILE(ssize_t, copy_file_range,
          (int from, off64_t *start, int file, off64_t *at, size_t size, unsigned int flags),
          (from, start, file, at, size, flags))
ssize_t sendfile(int file, int from, off_t *start, size_t size);
ssize_t sendfile64(int file, int from, off64_t *start, size_t size);
WRAP_FILE(ssize_t, sendfile, (int file, int from, off_t *start, size_t size), (file, from, start, size))
WRAP_FILE(ssize_t, sendfile64, (int file, int from, off64_t *start, size_t size), (file, from, start, size))
WRAP_FILE(int, fsync, (int file), (file))
WRAP_FILE(int, fdatasync, (int file), (file))
WRAP_FILE(int, syncfs, (int file), (file))

// Names.
WRAP(int, rename, (const char *from, const char *to), (from, to), change_name("rename", AT_FDCWD, from, true))
WRAP(int, renameat, (int folder, const char *from, int other, const char *to), (folder, from, other, to),
     change_name("renameat", folder, from, true))
WRAP(int, renameat2, (int folder, const char *from, int other, const char *to, unsigned int flags),
     (folder, from, other, to, flags), change_name("renameat2", folder, from, true))
WRAP(int, link, (const char *from, const char *to), (from, to), change_name("link", AT_FDCWD, to, false))
WRAP(int, linkat, (int folder, const char *from, int other, const char *to, int flags),
     (folder, from, other, to, flags), change_name("linkat", other, to, false))
WRAP(int, symlink, (const char *target, const char *path), (target, path),
     change_name("symlink", AT_FDCWD, path, false))
WRAP(int, symlinkat, (const char *target, int folder, const char *path), (target, folder, path),
     change_name("symlinkat", folder, path, false))
WRAP(int, unlink, (const char *path), (path), change_name("unlink", AT_FDCWD, path, true))
WRAP(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags),
     change_name("unlinkat", folder, path, true))
WRAP(int, remove, (const char *path), (path), change_name("remove", AT_FDCWD, path, true))
WRAP(int, rmdir, (const char *path), (path), change_name("rmdir", AT_FDCWD, path, true))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), change_name("mkdir", AT_FDCWD, path, false))
WRAP(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode),
     change_name("mkdirat", folder, path, false))
WRAP(int, mkfifo, (const char *path, mode_t mode), (path, mode), change_name("mkfifo", AT_FDCWD, path, false))

// Properties.
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode), change_name("chmod", AT_FDCWD, path, true))
WRAP_FILE(int, fchmod, (int file, mode_t mode), (file, mode))
WRAP(int, fchmodat, (int folder, const char *path, mode_t mode, int flags), (folder, path, mode, flags),
     change_name("fchmodat", folder, path, true))
int setxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int fsetxattr(int file, const char *name, const void *value, size_t size, int flags);
WRAP(int, setxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
     (path, name, value, size, flags), change_name("setxattr", AT_FDCWD, path, true))
WRAP(int, lsetxattr, (const char *path, const char *name, const void *value, size_t size, int flags),
     (path, name, value, size, flags), change_name("lsetxattr", AT_FDCWD, path, true))
WRAP_FILE(int, fsetxattr, (int file, const char *name, const void *value, size_t size, int flags),
          (file, name, value, size, flags))
WRAP_FILE(int, futimens, (int file, const struct timespec times[2]), (file, times))
WRAP(int, utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
     (folder, path, times, flags), change_name("utimensat", folder, path, true))
