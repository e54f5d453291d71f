// Cuts the text of a query into tokens.
//
// Names behind a dot may be reserved words and may begin with a digit: t.select, a.1b.  Comments (#, --, /* */)
//   are gone.
// Errors end the tokens with one of kind kError: a literal, quoted name or comment that is not closed, and a
//   character that begins nothing.  A parser that stops earlier never sees it.
// Source: GoogleSQL's lexical structure, with its messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/syntax/tree.h"
#include "sql/syntax/words.h"

namespace sonde::sql {

struct Token {
  enum class Kind : uint8_t {
    kEnd,      // behind the last; its place is the end of the last one
    kName,     // quoted or not; `word`: none
    kKeyword,  // `word`
    kInteger,
    kFloat,
    kString,
    kBytes,
    kSymbol,    // `word`
    kAttached,  // a name right behind a number, as in 10K
    kOther,     // what begins nothing, such as ! and $a
    kError,     // Tokens::error
  };
  Kind kind = Kind::kEnd;
  Word word;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t partner = 0;  // of "(": the number of the token that is its ")"; 0: none
};

struct Tokens {
  std::vector<Token> tokens;
  std::string error;
};

// `text` is at most kQueryTextBytesMax long.
Tokens CutIntoTokens(std::string_view text);

}  // namespace sonde::sql
