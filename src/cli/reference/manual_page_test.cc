#include "cli/reference/manual_page.h"

#include <gmock/gmock.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(ManualPage, EscapesWhatRoffWouldTakeForItsOwn) {
  EXPECT_EQ(RoffEscaped("a-b \\n"), "a\\-b \\en");
  EXPECT_EQ(RoffEscaped(".SH\n'quoted'"), "\\&.SH\n\\&\\(aqquoted\\(aq");
  EXPECT_EQ(RoffEscaped("5.5 \"x\" ~/y"), "5.5 \\(dqx\\(dq \\(ti/y");
}

TEST(ManualPage, EveryCommandHasASectionWithItsOptions) {
  CommandEntry tea = {
      .path = "brew tea", .description = "Brew tea", .footer = "Example:\n  brew tea --hot\n"};
  tea.options = {{.names = {"-k", "--kind"},
                  .value = "TEXT",
                  .choices = {"green", "black"},
                  .fallback = "green",
                  .description = "of tea"},
                 {.names = {"--newest"}, .value = "N", .description = "only these", .may_lack_value = true}};
  tea.positionals = {{.names = {"cup"}, .value = "TEXT", .description = "to fill", .is_required = true}};
  const std::string page = ManualPage({.path = "brew", .description = "Brews.", .commands = {tea}}, "7.1");
  EXPECT_THAT(page, HasSubstr(".TH BREW 1 \"\" \"brew 7.1\""));
  EXPECT_THAT(page,
              HasSubstr(".SS \"brew tea\"\nBrew tea\n.PP\n\\fBbrew tea\\fR [\\fIOPTIONS\\fR] \\fIcup\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n\\fB\\-k\\fR, \\fB\\-\\-kind\\fR \\fITEXT\\fR\nof tea\n"
                              "One of green, black.\nBy default green.\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-newest\\fR [\\fIN\\fR]\nonly these\n"));
  EXPECT_THAT(page, HasSubstr(".nf\nExample:\n  brew tea \\-\\-hot\n.fi\n"));
  EXPECT_THAT(page, HasSubstr("\\fBcup\\fR \\fITEXT\\fR\nto fill\nRequired.\n"));
}

}  // namespace
}  // namespace sonde
