// Debian's protobuf is built without ThreadSanitizer, for which this header gives maps two members more: what
// is compiled with it would see other messages than the library does.
#pragma once
#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
