#include "cli/reference/command_tree.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CommandTree, ReadsNamesChoicesAndFallbacksOfOptions) {
  CLI::App app("Brews.", "brew");
  std::string kind = "green";
  int cups = 0;
  bool hot = false;
  app.add_option("-k,--kind", kind, "of tea")
      ->check(CLI::IsMember({"green", "black"}))
      ->capture_default_str();
  app.add_option("--cups", cups, "how many")->required();
  app.add_flag("--hot", hot, "not cold");
  const CommandEntry root = ReadCommandLine(app);
  ASSERT_EQ(root.options.size(), 4);  // with --help
  EXPECT_THAT(root.options[0].names, ElementsAre("-h", "--help"));
  EXPECT_EQ(root.options[0].value, "");
  EXPECT_THAT(root.options[1].names, ElementsAre("-k", "--kind"));
  EXPECT_EQ(root.options[1].value, "TEXT");
  EXPECT_THAT(root.options[1].choices, ElementsAre("green", "black"));
  EXPECT_EQ(root.options[1].fallback, "green");
  EXPECT_FALSE(root.options[1].is_required);
  EXPECT_EQ(root.options[2].value, "INT");
  EXPECT_TRUE(root.options[2].is_required);
  EXPECT_EQ(root.options[3].value, "");
}

TEST(CommandTree, KnowsOptionsThatMayLackTheirValueAndThoseThatRepeat) {
  CLI::App app("Brews.", "brew");
  int newest = 1;
  std::vector<std::string> leaves;
  app.add_option("--newest", newest, "only these")->expected(0, 1);
  app.add_option("--leaf", leaves, "to brew");
  const CommandEntry root = ReadCommandLine(app);
  EXPECT_TRUE(root.options[1].may_lack_value);
  EXPECT_FALSE(root.options[1].may_repeat);
  EXPECT_FALSE(root.options[2].may_lack_value);
  EXPECT_TRUE(root.options[2].may_repeat);
}

TEST(CommandTree, PositionalsAreNoOptions) {
  CLI::App app("Brews.", "brew");
  std::string file;
  app.add_option("file", file, "the recipe");
  const CommandEntry root = ReadCommandLine(app);
  EXPECT_EQ(root.options.size(), 1);
  ASSERT_EQ(root.positionals.size(), 1);
  EXPECT_THAT(root.positionals[0].names, ElementsAre("file"));
}

TEST(CommandTree, CommandsHaveThePathOfTheirCallAndHiddenOnesAreLeftOut) {
  CLI::App app("Brews.", "brew");
  CLI::App* tea = app.add_subcommand("tea", "Brew tea");
  tea->add_subcommand("green", "Brew green tea")->footer("Not too hot.");
  app.add_subcommand("secret", "Nobody sees this")->group("");
  const CommandEntry root = ReadCommandLine(app);
  std::vector<std::string> paths;
  for (const CommandEntry* command : AllCommands(root)) paths.push_back(command->path);
  EXPECT_THAT(paths, ElementsAre("brew", "brew tea", "brew tea green"));
  EXPECT_EQ(root.commands[0].commands[0].footer, "Not too hot.");
  EXPECT_EQ(LastWord(root.commands[0].commands[0]), "green");
  EXPECT_EQ(LastWord(root), "brew");
  EXPECT_THAT(root.commands[0].positionals, IsEmpty());
}

}  // namespace
}  // namespace sonde
