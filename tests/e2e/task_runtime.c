/* Plays a task runtime of two workers by hand, with trimtab.h alone: what was done is known, so what is reported can be
 * checked. CPU time of each thread is what it spins by, so that a loaded machine changes nothing but the wall time.
 *
 *   together  both workers run 100 tasks of 1 ms
 *   long      worker 0 runs one task of 100 ms; worker 1 looks for 20 ms, then is parked
 *   nothing   both are parked for 100 ms
 *   waiting   worker 0 begins a task, which waits for one that worker 1 runs for 50 ms, and goes on on worker 1
 *   small     both workers run 100,000 tasks of nothing, told of in batches (profile) */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trimtab.h>
#include <unistd.h>

enum { tasks_together = 100, small_tasks = 100000, batch_of = 100 };

static const trimtab_api* api;
static pthread_barrier_t phase;
static uint32_t runtime, part, critical, waiter, giver, tiny;
static uint64_t waiting_task, giving_task;
static uint64_t suspended_at;

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void spin(double seconds) {
  const double end = cpu_s() + seconds;
  while (cpu_s() < end) {
  }
}

static int traces(void) { return api->level() == TRIMTAB_TRACE; }

/* One task of its own, at either level. */
static void run(uint32_t subject, double seconds) {
  if (traces()) {
    const uint64_t task = api->task_made(subject, 0);
    api->task_ready(subject, task, 0);
    api->task_begin(subject, task);
    spin(seconds);
    api->task_end(subject, task);
    return;
  }
  const uint64_t begin = api->now();
  spin(seconds);
  const uint64_t took = api->now() - begin;
  const trimtab_batch one = {sizeof one, subject, 1, 1, 0, &took, 1, 0};
  api->tasks_ran(&one);
}

static void together(void) {
  for (int i = 0; i < tasks_together; ++i) run(part, 1e-3);
}

static void one_long(int number) {
  if (number == 0) {
    run(critical, 0.1);
    return;
  }
  api->worker_state(TRIMTAB_WORKER_LOOKS);
  spin(0.02);
  api->worker_state(TRIMTAB_WORKER_IDLE);
}

static void waiting(int number) {
  if (number == 0) {
    waiting_task = traces() ? api->task_made(waiter, 0) : 0;
    giving_task = traces() ? api->task_made(giver, waiting_task) : 0;
    if (traces()) api->task_begin(waiter, waiting_task);
    spin(0.01);
    if (traces()) api->task_suspended(waiter, waiting_task, TRIMTAB_CAUSE_MUTEX, giving_task);
    suspended_at = api->now();
    api->worker_state(TRIMTAB_WORKER_IDLE);
  }
  pthread_barrier_wait(&phase);
  if (number == 0) return;
  api->worker_state(TRIMTAB_WORKER_RUNS);
  if (traces()) api->task_begin(giver, giving_task);
  spin(0.05);
  if (traces()) {
    api->task_edge(giving_task, waiting_task, TRIMTAB_CAUSE_MUTEX);
    api->task_ready(waiter, waiting_task, giving_task);
    api->task_end(giver, giving_task);
  }
  api->task_resumed(waiter, waiting_task, TRIMTAB_CAUSE_MUTEX, api->now() - suspended_at);
  spin(0.01);
  if (traces()) api->task_end(waiter, waiting_task);
  if (!traces()) {
    const trimtab_batch waited = {sizeof waited, waiter, 1, 1, 1, NULL, 0, 0};
    const trimtab_batch gave = {sizeof gave, giver, 1, 1, 0, NULL, 0, 0};
    api->tasks_ran(&waited);
    api->tasks_ran(&gave);
  }
}

static void small(int number) {
  for (int i = 0; i < small_tasks; i += batch_of) {
    const uint64_t begin = api->now();
    const uint64_t took = api->now() - begin;
    const trimtab_batch many = {sizeof many, tiny, number == 0 ? 2 * batch_of : 0, batch_of, 0, &took, 1, 0};
    api->tasks_ran(&many);
  }
}

static void* worker(void* which) {
  const int number = (int)(intptr_t)which;
  char name[40];
  snprintf(name, sizeof name, "played 1, worker %d", number);
  api->name_lane(name);
  api->worker_begins(runtime, (uint32_t)number);
  together();
  api->worker_state(TRIMTAB_WORKER_NONE);
  pthread_barrier_wait(&phase);
  api->worker_begins(runtime, (uint32_t)number);
  one_long(number);
  if (number == 0) api->worker_state(TRIMTAB_WORKER_IDLE);
  pthread_barrier_wait(&phase);
  usleep(100000);
  pthread_barrier_wait(&phase);
  if (number == 0) api->worker_state(TRIMTAB_WORKER_RUNS);
  waiting(number);
  pthread_barrier_wait(&phase);
  api->worker_state(TRIMTAB_WORKER_RUNS);
  small(number);
  api->worker_state(TRIMTAB_WORKER_NONE);
  return NULL;
}

static void task_without_a_name(void) {}

int main(int count, char** arguments) {
  api = trimtab_tasks_api();
  if (api == NULL) {
    puts("not watched");
    return 0;
  }
  runtime = api->runtime("played 1");
  part = api->task_subject("part", __FILE__, __LINE__);
  critical = api->task_subject("critical", __FILE__, __LINE__);
  waiter = api->task_subject("waiter", __FILE__, __LINE__);
  giver = api->task_subject("giver", __FILE__, __LINE__);
  tiny = api->code_subject((const void*)(intptr_t)task_without_a_name);
  pthread_barrier_init(&phase, NULL, 2);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, worker, (void*)(intptr_t)i);
  const uint32_t load = api->path_counter("/threads{locality#0/total}/count/cumulative", "1", 1);
  for (int i = 0; i < 5; ++i) api->set(load, i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  if (count > 1 && strcmp(arguments[1], "kill") == 0) abort();
  return 0;
}
