// Prints how far nice values differ from that of the launcher: "primary 0, member 5, ...". Waits up to argv[1] seconds for
// members' values to change.
#include <omp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int own_nice(void) { return getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid)); }

static int members_nice(void) {
  int most = -100;
#pragma omp parallel reduction(max : most)
  if (omp_get_thread_num() > 0) most = own_nice();
  return most;
}
static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) - 40;  // exit codes are not negative
}
static int forked(void) {
  const pid_t child = fork();
  if (child == 0) _exit(own_nice() + 40);
  return status_of(child);
}
static int spawned(const char* self) {
  char* arguments[] = {(char*)self, (char*)"child", NULL};
  pid_t child;
  return posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0 ? status_of(child) : -100;
}
static void* thread_nice(void* result) {
  *(int*)result = own_nice();
  return NULL;
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "child") == 0) return own_nice() + 40;
  const double end = omp_get_wtime() + (count > 1 ? atof(words[1]) : 1);
  const int usual = own_nice();
  int member = usual;
  while (member == usual && omp_get_wtime() < end) member = members_nice();
  int of_thread = -100, of_members_child = -100;
  pthread_t made;
  pthread_create(&made, NULL, thread_nice, &of_thread);
  pthread_join(made, NULL);
#pragma omp parallel
  if (omp_get_thread_num() == 1) of_members_child = forked();
  char self[4096] = {0};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  char command[5000];
  snprintf(command, sizeof command, "exec '%s' child", self);
  const int of_system = WEXITSTATUS(system(command)) - 40;
  printf("primary %d, thread %d, forked %d, spawned %d, system %d, member %d, forked by member %d\n", own_nice() - usual,
         of_thread - usual, forked() - usual, spawned(self) - usual, of_system - usual, member - usual,
         of_members_child - usual);
  return 0;
}
