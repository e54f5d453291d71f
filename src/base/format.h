// To be included where `fmt::format_to`, or spdlog, is used: both have the whole formatter in a template of
// version 9, which each file would compile once more (3 s); the library has it compiled.
#pragma once

#include <fmt/format.h>

// Newer clangs give that template another name than the compiler that built the library: there each file compiles it.
#if FMT_VERSION < 100000 && !defined(__clang__)
extern template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view,
    fmt::basic_format_args<fmt::basic_format_context<fmt::appender, char>>, fmt::detail::locale_ref);
#endif
