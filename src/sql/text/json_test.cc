#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sql/testing/function_calls.h"
#include "sql/testing/test_expression.h"
#include "sql/text/json_text.h"
#include "sql/value/type.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers.
TEST(Json, JsonValue) {
  ExpectAll({
      // clang-format off
      {R"(JSON_VALUE('{"a":1.50}','$.a'))", R"(STRING: "1.50")"},
      {R"(JSON_VALUE('{"a":{"b":2}}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":1,"a":{"b":2}}','$.a.b'))", R"(STRING: "2")"},
      {R"(JSON_VALUE('{"a":{"c":1},"a":{"b":2}}','$.a.b'))", R"(STRING: "2")"},
      {R"(JSON_VALUE('{"a":null,"a":2}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":{},"a":2}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('1 x','$'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('1 x'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a":1 x','$.a'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"b":x,"a":1','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"b":"x,"a":1','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE("{'a':'b\"c'}",'$.a'))", R"(STRING: "b\"c")"},
      {R"(JSON_VALUE('{"a":"\\u00e9\\ud83d\\ude00\\x41\\101\\q\\/"}','$.a'))", R"(STRING: "é��AAq/")"},
      {R"(JSON_VALUE('{"a":"\\u00zz"}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"b":"\\u00zz","a":1}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":truex}','$.a'))", R"(STRING: "true")"},
      {R"(JSON_VALUE('{"a":TRUE}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":NaN}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":-}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":01}','$.a'))", R"(STRING: "0")"},
      {R"(JSON_VALUE('{"a":1e}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":1.}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":.5}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":+5}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{a:1}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{1:1}','$.1'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"1":5}','$[1]'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$.1'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$[1]'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$[ 1 ]'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$[-1]'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[1,5]','$[01]'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$[1_]'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$[1a]'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [1a])"},
      {R"(JSON_VALUE('[1,5]','$[+1]'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [+1])"},
      {R"(JSON_VALUE('[1,5]','$[]'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [])"},
      {R"(JSON_VALUE('[1,5]','$[4294967297]'))", R"(STRING: "5")"},
      {R"(JSON_VALUE('[1,5]','$[99999999999999999999999]'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[1,5]','a'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_VALUE('[1,5]',''))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_VALUE('[1,5]','$.'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: .)"},
      {R"(JSON_VALUE('[1,5]','$..a'))", R"(OUT_OF_RANGE: Unsupported operator in JSONPath: ..)"},
      {R"(JSON_VALUE('[1,5]','$.*'))", R"(OUT_OF_RANGE: Unsupported operator in JSONPath: *)"},
      {R"(JSON_VALUE('[1,5]','$.a*b'))", R"(OUT_OF_RANGE: Unsupported operator in JSONPath: *)"},
      {R"(JSON_VALUE('[1,5]','$.a@b'))", R"(OUT_OF_RANGE: Unsupported operator in JSONPath: @)"},
      {R"(JSON_VALUE('[1,5]','$.a+b'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: +b)"},
      {R"(JSON_VALUE('[1,5]',"$['a']"))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: ['a'])"},
      {R"(JSON_VALUE('{"a":1}','$."a"'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a.b":1}','$."a.b"'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a\\"b":1}','$."a\\"b"'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"":1}','$.""'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a b":1}','$.a b'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a-b:c_d":1}','$.a-b:c_d'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"é":1}','$.é'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"日本":1}','$.日本'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a€":1}','$.a€'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: €)"},
      {R"(JSON_VALUE('{"a":1}',NULL))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(NULL,'$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(NULL,'bad'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('','$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(' ','$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('"x"'))", R"(STRING: "x")"},
      {R"(JSON_VALUE('null'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(CONCAT(REPEAT('[',1000),REPEAT(']',1000)),'$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(CONCAT(REPEAT('[',1001),REPEAT(']',1001)),'$.a'))", R"(OUT_OF_RANGE: JSON parsing failed due to deeply nested array/struct. Maximum nesting depth is 1000)"},
      {R"(JSON_VALUE(CONCAT(REPEAT('[',200),REPEAT(']',200)),'$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(CONCAT(REPEAT('{"a":',1001),'1'),'$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a" : "x" , "b":2}', '$.b'))", R"(STRING: "2")"},
      {R"(JSON_VALUE('\ufeff{"a":1}', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":\u00a01}', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":\v\f1}', '$.a'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a":"b\nc"}', '$.a'))", R"(STRING: "b\nc")"},
      {R"(JSON_VALUE('{"a":]', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE(']', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":1}}', '$.b'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a\\u0062":1}', '$.ab'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a":1,}', '$.b'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{,"a":1}', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":"b', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":"\\', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":"\\u', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":"\\u0000b"}', '$.a'))", R"(STRING: "\x00b")"},
      {R"(JSON_VALUE('[0,1,2]', '$[2'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [2)"},
      {R"(JSON_VALUE('[0,1,2]', '$ [2]'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at:  [2])"},
      {R"(JSON_VALUE('[0,1,2]', ' $[2]'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_VALUE('[[0,1],[2,3]]', '$[1][0]'))", R"(STRING: "2")"},
      {R"(JSON_VALUE('{"a":[{"b":"c"}]}', '$.a[0].b'))", R"(STRING: "c")"},
      {R"(JSON_VALUE('{"a":[{"b":"c"}]}', '$.a.0.b'))", R"(STRING: "c")"},
      {R"(JSON_VALUE('{"a":"\\400\\777\\08"}', '$.a'))", R"(STRING: "Āǿ\x008")"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(STRING: "1")"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(STRING: "x")"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(STRING: "true")"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(STRING: "-1.50e+10")"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(STRING: "qA\n")"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$."a".b'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: .)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_VALUE('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_VALUE('', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('nul', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('"', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('tru', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[1 2]', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a" 1}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":1 "b":2}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[1,2,]x', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('{"a":"\\x4"}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('  [ ]  ', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[[],[]]', '$'))", R"(STRING: NULL)"},
      {R"(JSON_VALUE('[""]', '$'))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(Json, JsonQuery) {
  ExpectAll({
      // clang-format off
      {R"(JSON_QUERY('{"a":{"b" : [1, 2 ,"x\\ty"]}}','$.a'))", R"(STRING: "{\"b\":[1,2,\"x\\ty\"]}")"},
      {R"(JSON_QUERY('{"a\\"b":1,"c\\n":"d\\n"}','$'))", R"(STRING: "{\"a\\\"b\":1,\"c\\n\":\"d\\n\"}")"},
      {R"(JSON_QUERY('{"a":1} x','$'))", R"(STRING: "{\"a\":1}")"},
      {R"(JSON_QUERY('[1,,2]','$'))", R"(STRING: "[1,null,2]")"},
      {R"(JSON_QUERY('[,]','$'))", R"(STRING: "[null]")"},
      {R"(JSON_QUERY('[1,]','$'))", R"(STRING: "[1]")"},
      {R"(JSON_QUERY('{"a":,}','$'))", R"(STRING: "{\"a\":null}")"},
      {R"(JSON_QUERY('{"a":,"b":1,}','$'))", R"(STRING: "{\"a\":null,\"b\":1}")"},
      {R"(JSON_QUERY("{'a':'b\"c'}",'$'))", R"(STRING: "{\"a\":\"b\\\"c\"}")"},
      {R"(JSON_QUERY('null','$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('"x"','$'))", R"(STRING: "\"x\"")"},
      {R"(JSON_QUERY('{"a":null}','$.a'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a":"b\\u2028\\u0001\\u007f/"}','$.a'))", R"(STRING: "\"b\\u2028\\u0001\x7f/\"")"},
      {R"(LENGTH(JSON_QUERY(CONCAT(REPEAT('[',1000),REPEAT(']',1000)),'$')))", R"(INT64: 2000)"},
      {R"(JSON_QUERY(CONCAT('[1,',REPEAT('[',1001)),'$[0]'))", R"(STRING: "1")"},
      {R"(JSON_QUERY('{"a":1,"a":2}','$'))", R"(STRING: "{\"a\":1,\"a\":2}")"},
      {R"(JSON_QUERY('{"a":"b\nc"}', '$.a'))", R"(STRING: "\"b\\nc\"")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(STRING: "{\"a\":{\"b\":[1,\"x\",null,{\"c\":true}]},\"d\":-1.50e+10,\"e\":\"qA\\n\"}")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(STRING: "{\"b\":[1,\"x\",null,{\"c\":true}]}")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(STRING: "[1,\"x\",null,{\"c\":true}]")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(STRING: "1")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(STRING: "\"x\"")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(STRING: "{\"c\":true}")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(STRING: "true")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(STRING: "-1.50e+10")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(STRING: "\"qA\\n\"")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$."a".b'))", R"(STRING: "[1,\"x\",null,{\"c\":true}]")"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: .)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_QUERY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_QUERY('', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('[', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('nul', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('"', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('tru', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('[1 2]', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a" 1}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('{"a":1 "b":2}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('[1,2,]x', '$'))", R"(STRING: "[1,2]")"},
      {R"(JSON_QUERY('{"a":"\\x4"}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_QUERY('  [ ]  ', '$'))", R"(STRING: "[]")"},
      {R"(JSON_QUERY('[[],[]]', '$'))", R"(STRING: "[[],[]]")"},
      {R"(JSON_QUERY('[""]', '$'))", R"(STRING: "[\"\"]")"},
      // clang-format on
  });
}

TEST(Json, JsonExtract) {
  ExpectAll({
      // clang-format off
      {R"(JSON_EXTRACT('{"a\\"b":1,"c\\n":"d\\n"}','$'))", R"(STRING: "{\"a\\\"b\":1,\"c\\n\":\"d\\n\"}")"},
      {R"(JSON_EXTRACT('[1,5]','$.'))", R"(STRING: "[1,5]")"},
      {R"(JSON_EXTRACT('{"a":1}','$.a.'))", R"(STRING: "1")"},
      {R"(JSON_EXTRACT('{"a":1}',"$['a']"))", R"(STRING: "1")"},
      {R"(JSON_EXTRACT('{"a\'b":1}',"$['a\\'b']"))", R"(STRING: "1")"},
      {R"(JSON_EXTRACT('{"a":1}',"$[ 'a' ]"))", R"(STRING: "1")"},
      {R"(JSON_EXTRACT('{"a":1}','$."a"'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: ."a")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(STRING: "{\"a\":{\"b\":[1,\"x\",null,{\"c\":true}]},\"d\":-1.50e+10,\"e\":\"qA\\n\"}")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(STRING: "{\"b\":[1,\"x\",null,{\"c\":true}]}")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(STRING: "[1,\"x\",null,{\"c\":true}]")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(STRING: "1")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(STRING: "\"x\"")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(STRING: "{\"c\":true}")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(STRING: "true")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(STRING: "-1.50e+10")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(STRING: "\"qA\\n\"")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$[\'a\'].b'))", R"(STRING: "[1,\"x\",null,{\"c\":true}]")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(STRING: "{\"b\":[1,\"x\",null,{\"c\":true}]}")"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_EXTRACT('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_EXTRACT('', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('[', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('nul', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('"', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('tru', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('[1 2]', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a" 1}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('{"a":1 "b":2}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('[1,2,]x', '$'))", R"(STRING: "[1,2]")"},
      {R"(JSON_EXTRACT('{"a":"\\x4"}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT('  [ ]  ', '$'))", R"(STRING: "[]")"},
      {R"(JSON_EXTRACT('[[],[]]', '$'))", R"(STRING: "[[],[]]")"},
      {R"(JSON_EXTRACT('[""]', '$'))", R"(STRING: "[\"\"]")"},
      // clang-format on
  });
}

TEST(Json, JsonQueryArray) {
  ExpectAll({
      // clang-format off
      {R"(JSON_QUERY_ARRAY('[{"a\\"b":1,"c\\n":"d\\n"},"x\\"y", null]','$'))", R"(ARRAY<STRING>: ["{\"a\\\"b\":1,\"c\\n\":\"d\\n\"}", "\"x\\\"y\"", "null"])"},
      {R"(JSON_QUERY_ARRAY('{"a":[1,"2",null,[3],{"b":4}]}','$.a'))", R"(ARRAY<STRING>: ["1", "\"2\"", "null", "[3]", "{\"b\":4}"])"},
      {R"(JSON_QUERY_ARRAY('{"a":1}','$.a'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('[]'))", R"(ARRAY<STRING>: [])"},
      {R"(JSON_QUERY_ARRAY('[1,2'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('[1,,2]'))", R"(ARRAY<STRING>: ["1", "null", "2"])"},
      {R"(JSON_QUERY_ARRAY('{"a":null}','$.a'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(ARRAY<STRING>: ["1", "\"x\"", "null", "{\"c\":true}"])"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$."a".b'))", R"(ARRAY<STRING>: ["1", "\"x\"", "null", "{\"c\":true}"])"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: .)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_QUERY_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_QUERY_ARRAY('', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('[', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('nul', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('"', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('tru', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('[1 2]', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a" 1}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('{"a":1 "b":2}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('[1,2,]x', '$'))", R"(ARRAY<STRING>: ["1", "2"])"},
      {R"(JSON_QUERY_ARRAY('{"a":"\\x4"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_QUERY_ARRAY('  [ ]  ', '$'))", R"(ARRAY<STRING>: [])"},
      {R"(JSON_QUERY_ARRAY('[[],[]]', '$'))", R"(ARRAY<STRING>: ["[]", "[]"])"},
      {R"(JSON_QUERY_ARRAY('[""]', '$'))", R"(ARRAY<STRING>: ["\"\""])"},
      // clang-format on
  });
}

TEST(Json, JsonExtractScalar) {
  ExpectAll({
      // clang-format off
      {R"(JSON_EXTRACT_SCALAR('[1,5]','$[1a]'))", R"(STRING: "5")"},
      {R"(JSON_EXTRACT_SCALAR('"a"'))", R"(STRING: "a")"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(STRING: "1")"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(STRING: "x")"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(STRING: "true")"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(STRING: "-1.50e+10")"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(STRING: "qA\n")"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$[\'a\'].b'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_EXTRACT_SCALAR('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_EXTRACT_SCALAR('', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('[', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('nul', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('"', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('tru', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('[1 2]', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a" 1}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a":1 "b":2}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('[1,2,]x', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('{"a":"\\x4"}', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('  [ ]  ', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('[[],[]]', '$'))", R"(STRING: NULL)"},
      {R"(JSON_EXTRACT_SCALAR('[""]', '$'))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(Json, JsonValueArray) {
  ExpectAll({
      // clang-format off
      {R"(JSON_VALUE_ARRAY('[1,"2",null,true]'))", R"(ARRAY<STRING>: ["1", "2", NULL, "true"])"},
      {R"(JSON_VALUE_ARRAY('[1,[2]]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('[1,{}]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('[]'))", R"(ARRAY<STRING>: [])"},
      {R"(JSON_VALUE_ARRAY('["a\\nb",1.50,1e5]'))", R"(ARRAY<STRING>: ["a\nb", "1.50", "1e5"])"},
      {R"(JSON_VALUE_ARRAY('[,1]'))", R"(ARRAY<STRING>: [NULL, "1"])"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$."a".b'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: .)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_VALUE_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_VALUE_ARRAY('', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('[', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('nul', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('"', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('tru', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('[1 2]', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a" 1}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('{"a":1 "b":2}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('[1,2,]x', '$'))", R"(ARRAY<STRING>: ["1", "2"])"},
      {R"(JSON_VALUE_ARRAY('{"a":"\\x4"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('  [ ]  ', '$'))", R"(ARRAY<STRING>: [])"},
      {R"(JSON_VALUE_ARRAY('[[],[]]', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_VALUE_ARRAY('[""]', '$'))", R"(ARRAY<STRING>: [""])"},
      // clang-format on
  });
}

TEST(Json, JsonExtractStringArray) {
  ExpectAll({
      // clang-format off
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a":["x"]}',"$['a']"))", R"(ARRAY<STRING>: ["x"])"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$[\'a\'].b'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_EXTRACT_STRING_ARRAY('', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('[', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('nul', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('"', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('tru', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('[1 2]', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a" 1}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a":1 "b":2}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('[1,2,]x', '$'))", R"(ARRAY<STRING>: ["1", "2"])"},
      {R"(JSON_EXTRACT_STRING_ARRAY('{"a":"\\x4"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('  [ ]  ', '$'))", R"(ARRAY<STRING>: [])"},
      {R"(JSON_EXTRACT_STRING_ARRAY('[[],[]]', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_STRING_ARRAY('[""]', '$'))", R"(ARRAY<STRING>: [""])"},
      // clang-format on
  });
}

TEST(Json, JsonExtractArray) {
  ExpectAll({
      // clang-format off
      {R"(JSON_EXTRACT_ARRAY('{"a":["x"]}',"$['a']"))", R"(ARRAY<STRING>: ["\"x\""])"},
      {R"(JSON_EXTRACT_ARRAY('["x"]'))", R"(ARRAY<STRING>: ["\"x\""])"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b'))", R"(ARRAY<STRING>: ["1", "\"x\"", "null", "{\"c\":true}"])"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[1]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[2]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[3].c'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.b[4]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.e'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.d.x'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a[0]'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$[\'a\'].b'))", R"(ARRAY<STRING>: ["1", "\"x\"", "null", "{\"c\":true}"])"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$.a.'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', '$['))", R"(OUT_OF_RANGE: Invalid token in JSONPath at: [)"},
      {R"(JSON_EXTRACT_ARRAY('{"a": {"b": [1, "x", null, {"c": true}]}, "d": -1.50e+10, "e": "q\\u0041\\n"}', 'x'))", R"(OUT_OF_RANGE: JSONPath must start with '$')"},
      {R"(JSON_EXTRACT_ARRAY('', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('[', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('nul', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('"', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('tru', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('[1 2]', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a" 1}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('{"a":1 "b":2}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('[1,2,]x', '$'))", R"(ARRAY<STRING>: ["1", "2"])"},
      {R"(JSON_EXTRACT_ARRAY('{"a":"\\x4"}', '$'))", R"(ARRAY<STRING>: NULL)"},
      {R"(JSON_EXTRACT_ARRAY('  [ ]  ', '$'))", R"(ARRAY<STRING>: [])"},
      {R"(JSON_EXTRACT_ARRAY('[[],[]]', '$'))", R"(ARRAY<STRING>: ["[]", "[]"])"},
      {R"(JSON_EXTRACT_ARRAY('[""]', '$'))", R"(ARRAY<STRING>: ["\"\""])"},
      // clang-format on
  });
}

TEST(Json, ToJsonString) {
  ExpectAll({
      // clang-format off
      {R"(TO_JSON_STRING(NULL))", R"(STRING: "null")"},
      {R"(TO_JSON_STRING(CAST(NULL AS STRING)))", R"(STRING: "null")"},
      {R"(TO_JSON_STRING(true))", R"(STRING: "true")"},
      {R"(TO_JSON_STRING(1))", R"(STRING: "1")"},
      {R"(TO_JSON_STRING(9007199254740992))", R"(STRING: "9007199254740992")"},
      {R"(TO_JSON_STRING(9007199254740993))", R"(STRING: "\"9007199254740993\"")"},
      {R"(TO_JSON_STRING(-9007199254740992))", R"(STRING: "-9007199254740992")"},
      {R"(TO_JSON_STRING(-9007199254740993))", R"(STRING: "\"-9007199254740993\"")"},
      {R"(TO_JSON_STRING(1.5))", R"(STRING: "1.5")"},
      {R"(TO_JSON_STRING(1.0))", R"(STRING: "1")"},
      {R"(TO_JSON_STRING(1e15))", R"(STRING: "1e+15")"},
      {R"(TO_JSON_STRING(1e-5))", R"(STRING: "1e-05")"},
      {R"(TO_JSON_STRING(1e300))", R"(STRING: "1e+300")"},
      {R"(TO_JSON_STRING(0.1))", R"(STRING: "0.1")"},
      {R"(TO_JSON_STRING(123456789012345680.0))", R"(STRING: "1.2345678901234568e+17")"},
      {R"(TO_JSON_STRING(-0.0))", R"(STRING: "0")"},
      {R"(TO_JSON_STRING(CAST('nan' AS FLOAT64)))", R"(STRING: "\"NaN\"")"},
      {R"(TO_JSON_STRING(CAST('inf' AS FLOAT64)))", R"(STRING: "\"Infinity\"")"},
      {R"(TO_JSON_STRING(CAST('-inf' AS FLOAT64)))", R"(STRING: "\"-Infinity\"")"},
      {R"(TO_JSON_STRING(CAST(0.1 AS FLOAT32)))", R"(STRING: "0.1")"},
      {R"(TO_JSON_STRING(CAST(16777216 AS FLOAT32)))", R"(STRING: "16777216")"},
      {R"(TO_JSON_STRING(CAST('nan' AS FLOAT32)))", R"(STRING: "\"NaN\"")"},
      {R"(TO_JSON_STRING('a"b\\c\n\u2028/\u007f\u0001é'))", R"(STRING: "\"a\\\"b\\\\c\\n\\u2028/\x7f\\u0001é\"")"},
      {R"(TO_JSON_STRING(b'abc\xff'))", R"(STRING: "\"YWJj/w==\"")"},
      {R"(TO_JSON_STRING(b''))", R"(STRING: "\"\"")"},
      {R"(TO_JSON_STRING(DATE '2020-01-31'))", R"(STRING: "\"2020-01-31\"")"},
      {R"(TO_JSON_STRING(DATE '0001-01-01'))", R"(STRING: "\"0001-01-01\"")"},
      {R"(TO_JSON_STRING(TIMESTAMP '2020-01-31 12:34:56.789123+00'))", R"(STRING: "\"2020-01-31T12:34:56.789123Z\"")"},
      {R"(TO_JSON_STRING(TIMESTAMP '2020-01-31 12:34:56.789+00'))", R"(STRING: "\"2020-01-31T12:34:56.789Z\"")"},
      {R"(TO_JSON_STRING(TIMESTAMP '2020-01-31 12:34:56.100+00'))", R"(STRING: "\"2020-01-31T12:34:56.100Z\"")"},
      {R"(TO_JSON_STRING(TIMESTAMP '2020-01-31 12:34:56+00'))", R"(STRING: "\"2020-01-31T12:34:56Z\"")"},
      {R"(TO_JSON_STRING(TIMESTAMP '0001-01-01 00:00:00+00'))", R"(STRING: "\"0001-01-01T00:00:00Z\"")"},
      {R"(TO_JSON_STRING([1,2,NULL]))", R"(STRING: "[1,2,null]")"},
      {R"(TO_JSON_STRING(CAST(NULL AS ARRAY<INT64>)))", R"(STRING: "null")"},
      {R"(TO_JSON_STRING(CAST([] AS ARRAY<INT64>)))", R"(STRING: "[]")"},
      {R"(TO_JSON_STRING(STRUCT(1 AS a, 'x' AS b)))", R"(STRING: "{\"a\":1,\"b\":\"x\"}")"},
      {R"(TO_JSON_STRING(STRUCT(1, 'x')))", R"(STRING: "{\"\":1,\"\":\"x\"}")"},
      {R"(TO_JSON_STRING(STRUCT(1 AS a, 2 AS a)))", R"(STRING: "{\"a\":1,\"a\":2}")"},
      {R"(TO_JSON_STRING(STRUCT([STRUCT(1 AS x)] AS y, NULL AS z)))", R"(STRING: "{\"y\":[{\"x\":1}],\"z\":null}")"},
      {R"(TO_JSON_STRING([STRUCT(1 AS a, [1,2] AS b),NULL], true))", R"(STRING: "[\n  {\n    \"a\": 1,\n    \"b\": [\n      1,\n      2\n    ]\n  },\n  null\n]")"},
      {R"(TO_JSON_STRING(1,true))", R"(STRING: "1")"},
      {R"(TO_JSON_STRING([1],NULL))", R"(STRING: NULL)"},
      {R"(TO_JSON_STRING(NULL,NULL))", R"(STRING: NULL)"},
      {R"(TO_JSON_STRING(CAST(NULL AS INT64),true))", R"(STRING: "null")"},
      {R"(TO_JSON_STRING([1],false))", R"(STRING: "[1]")"},
      {R"(TO_JSON_STRING(CAST([] AS ARRAY<INT64>),true))", R"(STRING: "[]")"},
      {R"(TO_JSON_STRING(['a\nb'], true))", R"(STRING: "[\n  \"a\\nb\"\n]")"},
      // clang-format on
  });
}

TEST(Json, ToJsonStringWritesMapsAsObjects) {
  const Value key = Value::String("k");
  const Value value = Value::Int(1);
  const Datum entries[] = {key.datum(), value.datum()};
  const Value map(Type::Map(TypeKind::kString, TypeKind::kInt64), Datum::List(entries));
  EXPECT_EQ(Called("TO_JSON_STRING", {map}), "STRING: \"{\\\"k\\\":1}\"");
  const Value bytes_key = Value::Bytes("\xff");
  const Datum bytes_entries[] = {bytes_key.datum(), bytes_key.datum()};
  const Value bytes_map(Type::Map(TypeKind::kBytes, TypeKind::kBytes), Datum::List(bytes_entries));
  EXPECT_EQ(Called("TO_JSON_STRING", {bytes_map, true}), "STRING: \"{\\n  \\\"/w==\\\": \\\"/w==\\\"\\n}\"");
}

// A random JSON text, written with random space, and as JSON_QUERY writes it.
struct RandomJson {
  std::string loose;
  std::string compact;
};

void AppendRandomJson(std::mt19937_64& random, int depth, RandomJson* json) {
  const auto both = [&](const std::string& text) {
    json->loose += text;
    json->compact += text;
  };
  const auto space = [&] { json->loose.append(random() % 3, " \t\n"[random() % 3]); };
  space();
  const uint64_t kind = random() % (depth > 4 ? 4 : 6);
  if (kind == 0) both(std::to_string(static_cast<int64_t>(random() % 2000) - 1000) + ".50");
  if (kind == 1) both(random() % 2 == 0 ? "true" : "null");
  if (kind == 2) both("\"a" + std::string(random() % 20, 'b') + "\\n\"");
  if (kind == 3) both("\"\\\"é\\\\\"");
  if (kind >= 4) {
    both(kind == 4 ? "[" : "{");
    const uint64_t count = random() % 4;
    for (uint64_t i = 0; i < count; ++i) {
      if (i > 0) both(",");
      space();
      if (kind == 5) {
        both("\"k" + std::to_string(i) + "\"");
        space();
        both(":");
      }
      AppendRandomJson(random, depth + 1, json);
    }
    space();
    both(kind == 4 ? "]" : "}");
  }
  space();
}

TEST(Json, QueryOfTheRootIsTheTextWithoutSpace) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    RandomJson json;
    AppendRandomJson(random, 0, &json);
    SCOPED_TRACE(json.loose);
    const absl::StatusOr<Value> root = CallFunction("JSON_QUERY", {json.loose.c_str(), "$"});
    ASSERT_TRUE(root.ok()) << root.status();
    if (json.compact == "null") {
      EXPECT_TRUE(root->is_null());
      continue;
    }
    EXPECT_EQ(root->datum().bytes(), json.compact);
    // Cut anywhere, the text gives the same or nothing, and nothing is read behind its end.
    const std::string cut = json.loose.substr(0, random() % json.loose.size());
    const absl::StatusOr<Value> of_cut = CallFunction("JSON_QUERY", {cut.c_str(), "$"});
    ASSERT_TRUE(of_cut.ok()) << of_cut.status();
  }
}

}  // namespace
}  // namespace sonde::sql
