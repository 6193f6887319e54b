#include "tracing_files.hpp"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstring>

#include "trimtab/base/read_file.hpp"

namespace trimtab::kernel {

namespace {

constexpr const char* usual_place = "/sys/kernel/tracing";
constexpr const char* earlier_place = "/sys/kernel/debug/tracing";

// 0, or what errno calls the mistake.
int read_format(const std::string& folder, const char* name, std::string& into) {
  char text[8192];
  const long bytes = base::read_file((folder + "/events/sched/" + name + "/format").c_str(), text, sizeof text);
  if (bytes < 0) return static_cast<int>(-bytes);
  into.assign(text, static_cast<std::size_t>(bytes));
  return 0;
}

int read_from(const std::string& folder, tracing_formats& into) {
  const struct {
    const char* name;
    std::string& text;
  } all[] = {{"sched_switch", into.sched_switch},
             {"sched_wakeup", into.sched_wakeup},
             {"sched_wakeup_new", into.sched_wakeup_new},
             {"sched_migrate_task", into.sched_migrate_task},
             {"sched_process_fork", into.sched_process_fork}};
  for (const auto& needed : all)
    if (const int problem = read_format(folder, needed.name, needed.text); problem != 0) return problem;
  read_format(folder, "sched_stat_runtime", into.sched_stat_runtime);
  return 0;
}

// Nobody else sees this: the process gets a view of the file system of its own first.
bool mount_for_this_process() noexcept {
  return unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tracefs", usual_place, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, nullptr) == 0;
}

}  // namespace

record_decoder::formats tracing_formats::texts() const {
  return {sched_switch, sched_wakeup, sched_wakeup_new, sched_migrate_task, sched_process_fork, sched_stat_runtime};
}

tracing_formats read_tracing_formats(const std::string& root) {
  tracing_formats formats;
  int problem = read_from(root + usual_place, formats);
  if (problem != 0 && read_from(root + earlier_place, formats) == 0) return formats;
  if (problem == ENOENT && root.empty() && mount_for_this_process()) problem = read_from(usual_place, formats);
  if (problem != 0) formats.problem = std::string(usual_place) + "/events/sched cannot be read: " + std::strerror(problem);
  return formats;
}

}  // namespace trimtab::kernel
