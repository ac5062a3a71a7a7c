/* The clock that a contest program sees under clock=cpu: time passes as it uses CPU time.
 *
 * Preloaded into the program. Each clock shows its real time at the start plus the CPU time that
 * the process has used since, so a program that stops "after 1.9 s" has worked for 1.9 s however
 * busy the machine is. It is a service to the program and nothing more: limits are enforced by the
 * harness, from its own account.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define TRUST_NS 100000LL /* between two looks at the CPU clock, real time is added instead */

typedef int (*clock_reader)(clockid_t, struct timespec *);

static const clockid_t CLOCKS[] = {
    CLOCK_REALTIME,        CLOCK_MONOTONIC,     CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
    CLOCK_MONOTONIC_COARSE, CLOCK_BOOTTIME,
};
enum { CLOCK_COUNT = sizeof CLOCKS / sizeof *CLOCKS };

static clock_reader real_reader;
static int64_t at_start[CLOCK_COUNT];
static int64_t looked_at_real, looked_at_cpu, last_shown;

static int64_t nanoseconds(struct timespec t) { return t.tv_sec * NS_PER_S + t.tv_nsec; }

static int64_t real_ns(clockid_t clock) {
    struct timespec t = {0, 0};
    if (real_reader)
        real_reader(clock, &t); /* libc's, which needs no system call */
    else
        syscall(SYS_clock_gettime, clock, &t);
    return nanoseconds(t);
}

static int64_t cpu_ns(void) {
    struct timespec t = {0, 0};
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
    return nanoseconds(t);
}

static void start(void) {
    real_reader = (clock_reader)dlsym(RTLD_NEXT, "clock_gettime");
    for (int i = 0; i < CLOCK_COUNT; i++)
        at_start[i] = real_ns(CLOCKS[i]);
    looked_at_real = real_ns(CLOCK_MONOTONIC);
    looked_at_cpu = cpu_ns();
}

__attribute__((constructor)) static void start_once(void) {
    if (!at_start[0])
        start();
}

/* CPU time of the process since it started. A look at it is a system call, so within TRUST_NS of
 * one we take it that the process has been running all the time. Never goes back. */
static int64_t elapsed_ns(void) {
    start_once(); /* other constructors may come first */
    int64_t now = real_ns(CLOCK_MONOTONIC);
    int64_t since_look = now - looked_at_real;
    if (since_look > TRUST_NS || since_look < 0) {
        looked_at_cpu = cpu_ns();
        looked_at_real = now;
        since_look = 0;
    }
    if (looked_at_cpu + since_look > last_shown)
        last_shown = looked_at_cpu + since_look;
    return last_shown;
}

static struct timespec show(int index) {
    int64_t shown = at_start[index] + elapsed_ns();
    return (struct timespec){shown / NS_PER_S, shown % NS_PER_S};
}

int clock_gettime(clockid_t clock, struct timespec *result) {
    for (int i = 0; i < CLOCK_COUNT; i++)
        if (CLOCKS[i] == clock) {
            start_once();
            *result = show(i);
            return 0;
        }
    return (int)syscall(SYS_clock_gettime, clock, result); /* CPU clocks are true already */
}

int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    start_once();
    struct timespec t = show(0);
    *result = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *result) {
    start_once();
    struct timespec t = show(0);
    if (result)
        *result = t.tv_sec;
    return t.tv_sec;
}

int timespec_get(struct timespec *result, int base) {
    if (base != TIME_UTC)
        return 0;
    start_once();
    *result = show(0);
    return base;
}
