#include "trimtab/storage/path_group.hpp"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace trimtab::storage {

namespace {

using observe::storage_class;
using std::string_view;

bool is_system(string_view path) noexcept {
  return path.starts_with("/proc/") || path.starts_with("/sys/") || path.starts_with("/dev/");
}

bool is_code(string_view path, string_view name) noexcept {
  return name.ends_with(".jar") || name.ends_with(".class") || name.ends_with(".jsa") || name.ends_with(".so") ||
         name.find(".so.") != string_view::npos || path.ends_with("/lib/modules");
}

// The end of a text is what tells folders apart.
void copy_end(string_view text, char* to, std::size_t room) noexcept {
  const std::size_t length = text.size() < room ? text.size() : room - 1;
  std::memcpy(to, text.data() + (text.size() - length), length);
  to[length] = '\0';
}

// Of "shuffle_3_17_0.data": shuffle 3, data. The map output's number differs in each file. What is written under another
// name until it is complete ("shuffle_3_17_0.data.UUID") is the same kind of file.
bool read_shuffle(string_view name, path_group& group) noexcept {
  int shuffle = 0;
  if (std::sscanf(name.data(), "shuffle_%d_", &shuffle) != 1) return false;
  const string_view kind = name.find(".checksum") != string_view::npos ? "checksum"
                           : name.find(".index") != string_view::npos  ? "index"
                                                                       : "data";
  std::snprintf(group.text, sizeof group.text, "shuffle %d %.*s", shuffle, static_cast<int>(kind.size()), kind.data());
  return true;
}

storage_class class_by_use(string_view path, string_view name, open_manner manner) noexcept {
  if (is_system(path)) return storage_class::system;
  if (is_code(path, name)) return storage_class::code;
  if (!manner.is_task) return storage_class::other;
  return manner.is_writing ? storage_class::output : storage_class::input;
}

struct fixed_name {
  string_view beginning;
  storage_class file_class;
  const char* text;
};
constexpr fixed_name fixed_names[] = {
    {"temp_shuffle_", storage_class::shuffle_write, "temporary shuffle files"},
    {"temp_local_", storage_class::spill, "spill files"},
    {"rdd_", storage_class::cache, "kept partitions"},
    {"broadcast_", storage_class::broadcast, "broadcast variables"},
};

}  // namespace

path_group group_of(const char* path, open_manner manner) noexcept {
  path_group group;
  const string_view whole(path);
  const std::size_t slash = whole.rfind('/');
  const string_view name = slash == string_view::npos ? whole : whole.substr(slash + 1);
  if (name.starts_with("shuffle_") && read_shuffle(name, group)) {
    group.file_class = manner.is_writing ? storage_class::shuffle_write : storage_class::shuffle_read;
    return group;
  }
  for (const auto& fixed : fixed_names) {
    if (!name.starts_with(fixed.beginning)) continue;
    group.file_class = fixed.file_class;
    copy_end(fixed.text, group.text, sizeof group.text);
    return group;
  }
  group.file_class = class_by_use(whole, name, manner);
  if (group.file_class == storage_class::system) {
    copy_end(whole.substr(0, whole.find('/', 1)), group.text, sizeof group.text);
  } else {
    copy_end(slash == string_view::npos ? string_view(".") : whole.substr(0, slash == 0 ? 1 : slash), group.text,
             sizeof group.text);
  }
  return group;
}

}  // namespace trimtab::storage
