// Installs a filter of system calls that ends the process at any call that a program that only computes does not make.
// HOW: prctl, syscall: by which call; refused: one that the kernel refuses; asked: only asks whether the kernel knows it.
// BEFORE, AFTER: rounds of work before and after it.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile double sink;

static void work(int rounds) {
  for (int r = 0; r < rounds; r++) {
#pragma omp parallel for schedule(dynamic, 4) num_threads(2)
    for (int i = 0; i < 2000; i++) sink = sin(i);
  }
}

static long install(const char* how) {
  static const int allowed[] = {SYS_write, SYS_exit_group, SYS_exit, SYS_futex, SYS_sched_yield, SYS_clone, SYS_clone3, SYS_mmap,
                                SYS_munmap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_set_robust_list, SYS_rseq,
                                SYS_rt_sigprocmask, SYS_gettid, SYS_getpid, SYS_sched_getaffinity, SYS_sched_setaffinity,
                                SYS_rt_sigaction};
  const unsigned count = sizeof allowed / sizeof *allowed;
  struct sock_filter code[64];
  unsigned c = 0;
  code[c++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < count; i++)
    code[c++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], (unsigned char)(count - i), 0);
  code[c++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[c++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)c, code};
  if (strcmp(how, "refused") == 0) {
    program.len = 0;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == -1 && errno == EINVAL ? 0 : 1;
  }
  if (strcmp(how, "asked") == 0)
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 && errno == EFAULT ? 0 : 1;
  if (strcmp(how, "prctl") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

int main(int n, char** v) {
  if (n != 4) return 5;
  work(atoi(v[2]));
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 3;
  if (install(v[1]) != 0) return 4;
  work(atoi(v[3]));
  static const char done[] = "done\n";
  _exit(write(1, done, sizeof done - 1) != sizeof done - 1);
}
