// Shows the variables of programs that this one starts, in each way that the C library has, and its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

// Prints what is set of the variables that follow, then its end.
static char script[] =
    "for name in OMP_PLACES OMP_PROC_BIND OMP_NUM_THREADS GLIBC_TUNABLES TRIMTAB_USERS_VALUES; do "
    "eval \"value=\\${$name-unset}\"; printf '%s ' \"$name=$value\"; done; echo";
static char* arguments[] = {"sh", "-c", script, NULL};

static void started(const char* way, int (*start)(void), pid_t (*fork_in_this_way)(void)) {
  printf("%s: ", way);
  fflush(stdout);
  const pid_t child = fork_in_this_way();
  if (child == 0) _exit(start());
  waitpid(child, NULL, 0);
}

static int by_execv(void) { return execv("/bin/sh", arguments); }
static int by_execve(void) { return execve("/bin/sh", arguments, environ); }
static int by_execvp(void) { return execvp("sh", arguments); }
static int by_execvpe(void) { return execvpe("sh", arguments, environ); }
static int by_execl(void) { return execl("/bin/sh", "sh", "-c", script, (char*)NULL); }
static int by_execlp(void) { return execlp("sh", "sh", "-c", script, (char*)NULL); }
static int by_execle(void) { return execle("/bin/sh", "sh", "-c", script, (char*)NULL, environ); }
static int by_fexecve(void) { return fexecve(open("/bin/sh", O_RDONLY), arguments, environ); }

int main(int count, char** words) {
  // Into itself: still the program, which keeps what it was started with.
  if (count > 1 && strcmp(words[1], "again") == 0) execl(words[0], words[0], (char*)NULL);
  if (count > 1 && strcmp(words[1], "own") == 0) setenv("OMP_PLACES", "sockets", 1);
  printf("itself: OMP_PLACES=%s\n", getenv("OMP_PLACES") ? getenv("OMP_PLACES") : "unset");
  started("execv", by_execv, fork);
  started("execve", by_execve, fork);
  started("execve after vfork", by_execve, vfork);
  started("execvp", by_execvp, fork);
  started("execvpe", by_execvpe, fork);
  started("execl", by_execl, fork);
  started("execlp", by_execlp, fork);
  started("execle", by_execle, fork);
  started("fexecve", by_fexecve, fork);
  pid_t child;
  printf("posix_spawn: "), fflush(stdout);
  if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0) waitpid(child, NULL, 0);
  printf("posix_spawnp: "), fflush(stdout);
  if (posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0) waitpid(child, NULL, 0);
  printf("system: "), fflush(stdout);
  const int code = system(script);
  printf("popen: "), fflush(stdout);
  FILE* const stream = popen(script, "r");
  for (int letter; (letter = fgetc(stream)) != EOF;) putchar(letter);
  printf("codes: %d %d %d %d\n", code, pclose(stream), WEXITSTATUS(system("exit 7")), system(NULL) != 0);
  return 0;
}
