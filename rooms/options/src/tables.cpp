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

std::string json_object(const option& option_row) {
  const values& allowed = option_row.allowed;
  std::string all = "{\"variable\": " + json_text(option_row.variable);
  if (option_row.argument[0] != '\0') all += field("argument", json_text(option_row.argument));
  all += field("default", json_text(option_row.standard));
  all += field("kind", json_text(kind_names[static_cast<std::size_t>(allowed.kind)]));
  if (allowed.kind == value_kind::number)
    all += field("least", std::to_string(allowed.least)) + field("most", std::to_string(allowed.most));
  if (allowed.words != nullptr) all += field("words", json_words(allowed));
  if (!allowed.file_ending.empty()) all += field("file_ending", json_text(allowed.file_ending));
  if (allowed.has_tunables != nullptr) all += field("has_tunables", "true");
  return all + field("help", json_text(option_row.help)) + "}";
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string text_out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') text_out += '\\';
    text_out += letter;
  }
  return text_out + '"';
}

std::string help_line(const option& option_row) {
  char name[64];
  std::snprintf(name, sizeof name, "--trimtab:%-24s ", option_row.argument);
  const std::string standard = option_row.standard[0] == '\0' ? "" : std::string("; default ") + option_row.standard;
  return name + std::string(option_row.help) + " (" + summary(option_row.allowed) + standard + ")";
}

std::string markdown_table(const std::vector<option>& table) {
  const bool has_arguments = !table.empty() && table.front().argument[0] != '\0';
  std::string text_out = has_arguments ? "| option | variable | default | values | meaning |\n|---|---|---|---|---|\n"
                                       : "| variable | default | values | meaning |\n|---|---|---|---|\n";
  for (const option& option_row : table) {
    if (has_arguments) text_out.append("| `").append(option_row.argument).append("` ");
    text_out.append("| `").append(option_row.variable).append("` | ").append(option_row.standard);
    text_out.append(option_row.standard[0] == '\0' ? "| " : " | ").append(summary(option_row.allowed)).append(" | ");
    text_out.append(option_row.help).append(" |\n");
  }
  return text_out;
}

std::string json_array(const std::vector<option>& table) {
  std::string all;
  for (const option& option_row : table) all.append(all.empty() ? "\n  " : ",\n  ").append(json_object(option_row));
  return "[" + all + "\n ]";
}

}  // namespace trimtab::options
