#include "cli/reference/completion.h"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// brew tea [--kind green|black] [--newest [N]] [--hot] SIZE
CommandEntry Brew() {
  CommandEntry tea = {.path = "brew tea", .description = "Brew tea, don't spill"};
  tea.options = {
      {.names = {"-k", "--kind"}, .value = "TEXT", .choices = {"green", "black"}, .description = "of tea"},
      {.names = {"--newest"}, .value = "N", .may_lack_value = true},
      {.names = {"--hot"}}};
  tea.positionals = {
      {.names = {"size"}, .value = "TEXT", .choices = {"small", "large"}, .description = "of the cup"}};
  return {.path = "brew", .description = "Brews.", .commands = {tea}};
}

TEST(Completion, CallsOfValuesAreThoseOfOptionsThatAlwaysTakeOne) {
  EXPECT_THAT(CommandCalls(Brew()), ElementsAre("brew tea"));
  EXPECT_THAT(ValueCalls(Brew()), ElementsAre("brew tea -k", "brew tea --kind"));
}

TEST(Completion, WordsAreCommandsAndChoicesOfPositionals) {
  const CommandEntry root = Brew();
  EXPECT_THAT(WordsOf(root), ElementsAre(Pair("tea", "Brew tea, don't spill")));
  EXPECT_THAT(WordsOf(root.commands[0]),
              ElementsAre(Pair("small", "of the cup"), Pair("large", "of the cup")));
}

TEST(Completion, EachShellQuotesDescriptionsInItsOwnWay) {
  EXPECT_THAT(ZshCompletion(Brew()), HasSubstr("'tea:Brew tea, don'\\''t spill'"));
  EXPECT_THAT(FishCompletion(Brew()), HasSubstr("-a tea -d 'Brew tea, don\\'t spill'"));
  EXPECT_THAT(BashCompletion(Brew()), Not(HasSubstr("spill")));  // bash shows none
}

TEST(Completion, FishWantsAValueOnlyWhereOneIsNeeded) {
  const std::string script = FishCompletion(Brew());
  EXPECT_THAT(script, HasSubstr("-s k -l kind -x -a 'green black' -d 'of tea'"));
  EXPECT_THAT(script, HasSubstr("-l newest -d ''"));
  EXPECT_THAT(script, HasSubstr("-l hot -d ''"));
}

TEST(Completion, RefusesShellsThatItDoesNotKnow) {
  const absl::StatusOr<std::string> script = CompletionFor("tcsh", Brew());
  EXPECT_EQ(script.status(),
            absl::InvalidArgumentError("the shell must be one of bash, zsh, fish, but is 'tcsh'"));
  for (const std::string& shell : CompletionShells()) EXPECT_TRUE(CompletionFor(shell, Brew()).ok()) << shell;
}

}  // namespace
}  // namespace sonde
