/* Report subjects, tasks and counters of your own to Trimtab. Plain C, header only, nothing to link beyond
 * libdl on old systems. A program that does not run under `trimtab run` pays one load and one branch a call.
 *
 *   static uint32_t solve;                                   // a subject: a named kind of work
 *   if (!solve) solve = trimtab_subject("solve");
 *   trimtab_begin(solve);  ...  trimtab_end(solve);          // nest properly, on one thread
 *
 *   uint32_t residual = trimtab_counter("residual", "1");
 *   trimtab_set(residual, 1e-6);
 *
 * C++: trimtab::subject and trimtab::scope do the same by RAII.
 * Every function may be called from any thread, never fails and never prints. Subject 0 is "none".
 */
#ifndef TRIMTAB_H
#define TRIMTAB_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the library inside a watched process offers. Grows at the end only; `bytes` says how far it goes. */
typedef struct trimtab_api {
  uint32_t bytes;
  uint32_t (*subject)(const char* name, const char* file, uint32_t line);
  void (*begin)(uint32_t subject);
  void (*end)(uint32_t subject);
  void (*mark)(uint32_t subject);
  uint32_t (*counter)(const char* name, const char* unit);
  void (*set)(uint32_t counter, double value);
  uint64_t (*task_created)(uint32_t subject);
  void (*task_begin)(uint32_t subject, uint64_t task);
  void (*task_end)(uint32_t subject, uint64_t task);
  void (*edge)(uint64_t before, uint64_t after);
} trimtab_api;


/* One pointer a program; NULL while not watched. Set by the first call that makes a subject or counter. */
#ifdef __cplusplus
inline const trimtab_api* trimtab_attached_api = NULL;
#else
__attribute__((weak)) const trimtab_api* trimtab_attached_api;
#endif

static inline const trimtab_api* trimtab_attach(void) {
  if (trimtab_attached_api == NULL) {
    void* const program = dlopen(NULL, RTLD_LAZY);
    const trimtab_api* (*get)(uint32_t) = NULL;
    if (program != NULL) {
      *(void**)(&get) = dlsym(program, "trimtab_get_api");
      dlclose(program);
    }
    if (get != NULL) trimtab_attached_api = get(1);
  }
  return trimtab_attached_api;
}

/* A named kind of work. Call once and keep the number; the same name and place give the same subject. */
static inline uint32_t trimtab_subject_at(const char* name, const char* file, uint32_t line) {
  const trimtab_api* const api = trimtab_attach();
  return api != NULL ? api->subject(name, file, line) : 0;
}
#define trimtab_subject(name) trimtab_subject_at((name), __FILE__, (uint32_t)__LINE__)

static inline void trimtab_begin(uint32_t subject) {
  if (subject != 0) trimtab_attached_api->begin(subject);
}
static inline void trimtab_end(uint32_t subject) {
  if (subject != 0) trimtab_attached_api->end(subject);
}
/* A point in time. */
static inline void trimtab_mark(uint32_t subject) {
  if (subject != 0) trimtab_attached_api->mark(subject);
}

/* A figure over time, with its unit. */
static inline uint32_t trimtab_counter(const char* name, const char* unit) {
  const trimtab_api* const api = trimtab_attach();
  return api != NULL ? api->counter(name, unit) : 0;
}
static inline void trimtab_set(uint32_t counter, double value) {
  if (counter != 0) trimtab_attached_api->set(counter, value);
}

/* Tasks have an identity of their own, since they may begin on one thread and end on another. 0: not watched. */
static inline uint64_t trimtab_task_created(uint32_t subject) {
  return subject != 0 ? trimtab_attached_api->task_created(subject) : 0;
}
static inline void trimtab_task_begin(uint32_t subject, uint64_t task) {
  if (subject != 0) trimtab_attached_api->task_begin(subject, task);
}
static inline void trimtab_task_end(uint32_t subject, uint64_t task) {
  if (subject != 0) trimtab_attached_api->task_end(subject, task);
}
/* Task `after` could not start before task `before` had ended. */
static inline void trimtab_edge(uint64_t before, uint64_t after) {
  if (before != 0 && after != 0) trimtab_attached_api->edge(before, after);
}

#ifdef __cplusplus
} /* extern "C" */

namespace trimtab {

/* A named kind of work, made once: `static const trimtab::subject solve("solve");` */
class subject {
 public:
  explicit subject(const char* name, const char* file = __builtin_FILE(),
                   uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept
      : m_id(trimtab_subject_at(name, file, line)) {}
  uint32_t id() const noexcept { return m_id; }

 private:
  uint32_t m_id;
};

/* Time from construction to destruction, on one thread. */
class scope {
 public:
  explicit scope(const subject& of) noexcept : m_id(of.id()) { trimtab_begin(m_id); }
  ~scope() { trimtab_end(m_id); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

 private:
  uint32_t m_id;
};

class counter {
 public:
  counter(const char* name, const char* unit) noexcept : m_id(trimtab_counter(name, unit)) {}
  void set(double value) const noexcept { trimtab_set(m_id, value); }

 private:
  uint32_t m_id;
};

}  // namespace trimtab
#endif

#endif /* TRIMTAB_H */
