/*
 * Preloaded into a run (LD_PRELOAD): counts the calls of the run and its children that change something below one folder, and
 * does at one of them what a kill or a disk may do. Told by the environment:
 *   STRIKE_UNDER  the folder; what a session spills does not count
 *   STRIKE_STATE  a file of 64 bytes that the processes of the run share
 *   STRIKE_LOG    where each counted call is written as a line; may be missing
 *   STRIKE_AT     the number of the call, from 1; 0 strikes none
 *   STRIKE_HOW    kill: the run is killed before it. torn: killed amid it, where it writes more than a page.
 *                 once: it fails with EIO. full: it and all later ones that need room fail with ENOSPC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct state {
  _Atomic long count;
  _Atomic int run;
};

enum { NONE, KILL, TORN, ONCE, FULL };
enum { NEEDS_NONE, NEEDS_ROOM };
/* What `point` says beside an errno. */
enum { GO_ON = 0, TEAR = -1 };

static struct state *state;
static const char *under;
static size_t length;
static long at;
static int how;
static int out = -1;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("STRIKE_STATE");
  under = getenv("STRIKE_UNDER");
  if (file == NULL || under == NULL) return;
  length = strlen(under);
  at = atol(getenv("STRIKE_AT") ? getenv("STRIKE_AT") : "0");
  const char *name = getenv("STRIKE_HOW") ? getenv("STRIKE_HOW") : "";
  how = !strcmp(name, "kill") ? KILL : !strcmp(name, "torn") ? TORN : !strcmp(name, "once") ? ONCE : !strcmp(name, "full") ? FULL : NONE;
  const char *log = getenv("STRIKE_LOG");
  if (log != NULL) out = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (mapped == MAP_FAILED) return;
  state = mapped;
  int none = 0;
  atomic_compare_exchange_strong(&state->run, &none, getpid());
}

static void die(void) {
  kill(state->run, SIGKILL);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int point(const char *call, const char *path, int needs) {
  if (state == NULL || strncmp(path, under, length) != 0 || strstr(path, "/spill-") != NULL) return GO_ON;
  long number = atomic_fetch_add(&state->count, 1) + 1;
  if (out >= 0) {
    char line[PATH_MAX + 64];
    int size = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path + length);
    syscall(SYS_write, out, line, (size_t)size);
  }
  if (at == 0 || number < at) return GO_ON;
  if (how == FULL) return needs == NEEDS_ROOM ? ENOSPC : GO_ON;
  if (number != at) return GO_ON;
  if (how == KILL) die();
  return how == TORN ? TEAR : how == ONCE ? EIO : GO_ON;
}

static const char *named(int folder, const char *path, char *into) {
  if (path[0] == '/') return path;
  char link[64];
  if (folder == AT_FDCWD) strcpy(link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  ssize_t size = readlink(link, into, PATH_MAX - 2);
  if (size < 0) return path;
  into[size] = '/';
  strncpy(into + size + 1, path, (size_t)(PATH_MAX - size - 2));
  into[PATH_MAX - 1] = 0;
  return into;
}

static const char *opened(int fd, char *into) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, into, PATH_MAX - 1);
  into[size < 0 ? 0 : size] = 0;
  return into;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_OR_GO_ON(verdict) \
  if ((verdict) > 0) { errno = (verdict); return -1; }

static size_t half(size_t size) {
  return size <= 4096 ? size : size / 2 & ~(size_t)4095;
}

#define OPEN(name)                                                              \
  int name(const char *path, int flags, ...) {                                  \
    va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list); \
    char full[PATH_MAX];                                                        \
    int verdict = flags & (O_CREAT | O_TRUNC) ? point("open", named(AT_FDCWD, path, full), NEEDS_ROOM) : GO_ON; \
    FAIL_OR_GO_ON(verdict)                                                      \
    return REAL(name)(path, flags, mode);                                       \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                            \
  int name(int folder, const char *path, int flags, ...) {                      \
    va_list list; va_start(list, flags); mode_t mode = va_arg(list, mode_t); va_end(list); \
    char full[PATH_MAX];                                                        \
    int verdict = flags & (O_CREAT | O_TRUNC) ? point("open", named(folder, path, full), NEEDS_ROOM) : GO_ON; \
    FAIL_OR_GO_ON(verdict)                                                      \
    return REAL(name)(folder, path, flags, mode);                               \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t size) {
  char path[PATH_MAX];
  int verdict = state == NULL ? GO_ON : point("write", opened(fd, path), NEEDS_ROOM);
  FAIL_OR_GO_ON(verdict)
  ssize_t done = REAL(write)(fd, data, verdict == TEAR ? half(size) : size);
  if (verdict == TEAR) die();
  return done;
}

#define PWRITE(name, offset_type)                                               \
  ssize_t name(int fd, const void *data, size_t size, offset_type offset) {     \
    char path[PATH_MAX];                                                        \
    int verdict = state == NULL ? GO_ON : point("pwrite", opened(fd, path), NEEDS_ROOM); \
    FAIL_OR_GO_ON(verdict)                                                      \
    ssize_t done = REAL(name)(fd, data, verdict == TEAR ? half(size) : size, offset); \
    if (verdict == TEAR) die();                                                 \
    return done;                                                                \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  int verdict = state == NULL ? GO_ON : point("writev", opened(fd, path), NEEDS_ROOM);
  FAIL_OR_GO_ON(verdict)
  ssize_t done = REAL(writev)(fd, parts, verdict == TEAR && count > 1 ? count / 2 : count);
  if (verdict == TEAR) die();
  return done;
}

#define ON_FD(name, call, needs, parameters, ...)                               \
  int name parameters {                                                         \
    char path[PATH_MAX];                                                        \
    int verdict = state == NULL ? GO_ON : point(call, opened(fd, path), needs); \
    FAIL_OR_GO_ON(verdict)                                                      \
    return REAL(name)(__VA_ARGS__);                                             \
  }
ON_FD(fsync, "fsync", NEEDS_NONE, (int fd), fd)
ON_FD(fdatasync, "fdatasync", NEEDS_NONE, (int fd), fd)
ON_FD(ftruncate, "ftruncate", NEEDS_NONE, (int fd, off_t size), fd, size)
ON_FD(ftruncate64, "ftruncate", NEEDS_NONE, (int fd, off64_t size), fd, size)
ON_FD(fchmod, "fchmod", NEEDS_NONE, (int fd, mode_t mode), fd, mode)
ON_FD(fallocate, "fallocate", NEEDS_ROOM, (int fd, int mode, off_t offset, off_t size), fd, mode, offset, size)

ssize_t copy_file_range(int from, off64_t *start, int fd, off64_t *offset, size_t size, unsigned flags) {
  char path[PATH_MAX];
  int verdict = state == NULL ? GO_ON : point("copy_file_range", opened(fd, path), NEEDS_ROOM);
  FAIL_OR_GO_ON(verdict)
  ssize_t done = REAL(copy_file_range)(from, start, fd, offset, verdict == TEAR ? half(size) : size, flags);
  if (verdict == TEAR) die();
  return done;
}

/* The last of a call's paths is the one that it changes. */
#define ON_PATH(name, call, needs, folder, parameters, ...)                     \
  int name parameters {                                                         \
    char full[PATH_MAX];                                                        \
    int verdict = state == NULL ? GO_ON : point(call, named(folder, path, full), needs); \
    FAIL_OR_GO_ON(verdict)                                                      \
    return REAL(name)(__VA_ARGS__);                                             \
  }
ON_PATH(mkdir, "mkdir", NEEDS_ROOM, AT_FDCWD, (const char *path, mode_t mode), path, mode)
ON_PATH(rmdir, "rmdir", NEEDS_NONE, AT_FDCWD, (const char *path), path)
ON_PATH(unlink, "unlink", NEEDS_NONE, AT_FDCWD, (const char *path), path)
ON_PATH(unlinkat, "unlink", NEEDS_NONE, folder, (int folder, const char *path, int flags), folder, path, flags)
ON_PATH(remove, "unlink", NEEDS_NONE, AT_FDCWD, (const char *path), path)
ON_PATH(chmod, "chmod", NEEDS_NONE, AT_FDCWD, (const char *path, mode_t mode), path, mode)
ON_PATH(rename, "rename", NEEDS_NONE, AT_FDCWD, (const char *from, const char *path), from, path)
ON_PATH(link, "link", NEEDS_ROOM, AT_FDCWD, (const char *from, const char *path), from, path)
ON_PATH(symlink, "symlink", NEEDS_ROOM, AT_FDCWD, (const char *target, const char *path), target, path)
