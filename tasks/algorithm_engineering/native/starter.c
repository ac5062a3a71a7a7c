/* starter CPU_S PRELOAD PROGRAM ARGUMENT...: become a contest program under the contest's limits.
 *
 * What is set here cannot be shed by the program: resource limits, and a filter on system calls
 * that lets it have neither children nor threads. PRELOAD is a library, or empty. These limits back
 * those that the harness enforces from outside (CPU_S, whole seconds, is above its own limit); what
 * fails here is left to it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB (1UL << 20)

static void limit(int resource, rlim_t wanted) {
    struct rlimit now;
    if (getrlimit(resource, &now))
        return;
    rlim_t value = wanted < now.rlim_max ? wanted : now.rlim_max;
    setrlimit(resource, &(struct rlimit){value, value});
}

static void set_limits(rlim_t cpu_s) {
    limit(RLIMIT_CPU, cpu_s);
    limit(RLIMIT_FSIZE, 16 * MIB);
    limit(RLIMIT_STACK, 1024 * MIB);
    limit(RLIMIT_NOFILE, 64);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 1); /* binds everybody but root; the filter binds root, too */
}

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#define FAIL_IF(call, error)                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

static void forbid_processes(void) {
#ifdef MACHINE
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* the calls of x32 */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        FAIL_IF(SYS_fork, EAGAIN),
        FAIL_IF(SYS_vfork, EAGAIN),
#endif
        FAIL_IF(SYS_clone, EAGAIN),
        FAIL_IF(SYS_clone3, ENOSYS), /* libc then tries clone and reports its error */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#endif
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 125;
    char preload[4096] = "";
    char *environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL, NULL};
    if (*argv[2]) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[2]);
        environment[2] = preload;
    }
    set_limits(strtoul(argv[1], NULL, 10));
    forbid_processes();
    execve(argv[3], argv + 3, environment);
    perror(argv[3]);
    return 126;
}
