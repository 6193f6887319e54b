#include "trimtab/options/tables.hpp"

#include <cstdio>

namespace trimtab::options {

namespace {

constexpr const char* kind_names[] = {"text", "path", "flag", "number", "word", "words", "selection"};

std::string field(const char* name, const std::string& json) { return ", \"" + std::string(name) + "\": " + json; }

std::string json_words(const values& allowed) {
  std::string all;
  for (std::size_t index = 0; !allowed.words(index).empty(); ++index)
    all.append(index == 0 ? "" : ", ").append(json_text(allowed.words(index)));
  return "[" + all + "]";
}

std::string json_object(const option& of) {
  const values& allowed = of.allowed;
  std::string all = "{\"variable\": " + json_text(of.variable);
  if (of.argument[0] != '\0') all += field("argument", json_text(of.argument));
  all += field("default", json_text(of.standard));
  all += field("kind", json_text(kind_names[static_cast<std::size_t>(allowed.kind)]));
  if (allowed.kind == value_kind::number)
    all += field("least", std::to_string(allowed.least)) + field("most", std::to_string(allowed.most));
  if (allowed.words != nullptr) all += field("words", json_words(allowed));
  if (!allowed.file_ending.empty()) all += field("file_ending", json_text(allowed.file_ending));
  if (allowed.has_tunables != nullptr) all += field("has_tunables", "true");
  return all + field("help", json_text(of.help)) + "}";
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string made = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') made += '\\';
    made += each;
  }
  return made + '"';
}

std::string help_line(const option& of) {
  char name[64];
  std::snprintf(name, sizeof name, "--trimtab:%-24s ", of.argument);
  const std::string standard = of.standard[0] == '\0' ? "" : std::string("; default ") + of.standard;
  return name + std::string(of.help) + " (" + summary(of.allowed) + standard + ")";
}

std::string markdown_table(const std::vector<option>& table) {
  const bool has_arguments = !table.empty() && table.front().argument[0] != '\0';
  std::string made = has_arguments ? "| option | variable | default | values | meaning |\n|---|---|---|---|---|\n"
                                   : "| variable | default | values | meaning |\n|---|---|---|---|\n";
  for (const option& each : table) {
    if (has_arguments) made.append("| `").append(each.argument).append("` ");
    made.append("| `").append(each.variable).append("` | ").append(each.standard);
    made.append(each.standard[0] == '\0' ? "| " : " | ").append(summary(each.allowed)).append(" | ");
    made.append(each.help).append(" |\n");
  }
  return made;
}

std::string json_array(const std::vector<option>& table) {
  std::string all;
  for (const option& each : table) all.append(all.empty() ? "\n  " : ",\n  ").append(json_object(each));
  return "[" + all + "\n ]";
}

}  // namespace trimtab::options
