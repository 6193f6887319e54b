/* What the programs of the scheduling study share: presets, parameters on the command line, and the check of the answer.
 * Their loops have schedule(runtime): OMP_SCHEDULE decides. */
#ifndef SCHEDULING_STUDY_PARAMETERS_H
#define SCHEDULING_STUDY_PARAMETERS_H

#include "../common.h"

enum preset { preset_published, preset_small, presets };
enum check { check_serial, check_recorded, check_none, checks };

struct parameter {
  const char* name;
  double value[presets];
  double most; /* of whole numbers from 1 on; 0: any number */
};

struct study_program {
  const char* name;
  struct parameter* parameters;
  int count;
  double recorded[presets]; /* the serial answer of each preset, for checks that cost no time */
  enum preset preset;
  enum check check;
  int is_changed; /* a parameter differs from the preset */
};

static inline void study_usage(const struct study_program* program, const char* argument) {
  fprintf(stderr,
          "%s: unexpected argument or value at '%s'\nusage: %s [--preset published|small] [--check serial|recorded|none]",
          program->name, argument, program->name);
  for (int i = 0; i < program->count; ++i) fprintf(stderr, " [--%s N]", program->parameters[i].name);
  fprintf(stderr, "\n       published:");
  for (int i = 0; i < program->count; ++i)
    fprintf(stderr, " --%s %g", program->parameters[i].name, program->parameters[i].value[preset_published]);
  fprintf(stderr, "\n       small:");
  for (int i = 0; i < program->count; ++i)
    fprintf(stderr, " --%s %g", program->parameters[i].name, program->parameters[i].value[preset_small]);
  fprintf(stderr, "\n");
  exit(2);
}

static inline int word_among(const char* word, const char* const* words, int count) {
  for (int i = 0; i < count; ++i)
    if (strcmp(word, words[i]) == 0) return i;
  return -1;
}

static inline int set_parameter(struct study_program* program, const char* name, const char* text) {
  for (int i = 0; i < program->count; ++i) {
    struct parameter* const parameter = &program->parameters[i];
    if (strcmp(name, parameter->name) != 0) continue;
    char* end;
    const double number = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(fabs(number) <= 1e9)) return 0;
    if (parameter->most > 0 && (number < 1 || number > parameter->most || number != floor(number))) return 0;
    program->is_changed |= number != parameter->value[program->preset];
    parameter->value[program->preset] = number;
    return 1;
  }
  return 0;
}

/* --preset is read first, wherever it stands: other parameters change the values of the preset. */
static inline void read_parameters(struct study_program* program, int argc, char** argv) {
  static const char* const preset_names[] = {"published", "small"};
  static const char* const check_names[] = {"serial", "recorded", "none"};
  program->preset = preset_small;
  program->check = check_serial;
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 1; i < argc; i += 2) {
      if (strncmp(argv[i], "--", 2) != 0 || i + 1 >= argc) study_usage(program, argv[i]);
      if (strcmp(argv[i], "--preset") == 0) {
        const int chosen = word_among(argv[i + 1], preset_names, presets);
        if (chosen < 0) study_usage(program, argv[i + 1]);
        program->preset = (enum preset)chosen;
      } else if (strcmp(argv[i], "--check") == 0) {
        const int chosen = word_among(argv[i + 1], check_names, checks);
        if (chosen < 0) study_usage(program, argv[i + 1]);
        program->check = (enum check)chosen;
      } else if (pass == 1 && !set_parameter(program, argv[i] + 2, argv[i + 1])) {
        study_usage(program, argv[i]);
      }
    }
  if (program->check == check_recorded && program->is_changed) {
    fprintf(stderr, "%s: --check recorded: there is a recorded answer for the values of a preset only\n", program->name);
    exit(2);
  }
}

static inline double parameter_value(const struct study_program* program, int number) {
  return program->parameters[number].value[program->preset];
}

static inline int whole_parameter(const struct study_program* program, int number) {
  return (int)parameter_value(program, number);
}

static inline void* memory_for(size_t count, size_t size) {
  void* const memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "out of memory: %zu bytes\n", count * size);
    exit(2);
  }
  return memory;
}

/* Numbers in [0, 1) that depend on `index` only, so that any loop can make them in any order. */
static inline double random_share(unsigned index) {
  unsigned mixed = index * 2654435769u + 974711u;
  mixed = (mixed ^ (mixed >> 15)) * 2246822519u;
  mixed = (mixed ^ (mixed >> 13)) * 3266489917u;
  return (double)((mixed ^ (mixed >> 16)) >> 8) / (1 << 24);
}

/* `serial` is the serial answer if the check is serial; otherwise it is not read. */
static inline int conclude_study(const struct study_program* program, double answer, double serial, double took_s) {
  const double expected = program->check == check_recorded ? program->recorded[program->preset] : serial;
  printf("time_s=%.6f\n", took_s);
  return conclude(program->name, answer, expected, program->check != check_none, took_s);
}

#endif
