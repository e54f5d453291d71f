#include <gtest/gtest.h>

#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

TEST(Vector, HasDistancesAndNorms) {
  ExpectAll({
      {"COSINE_DISTANCE([1.0,2.0],[3.0,4.0])", "FLOAT64: 0.01613008990009257"},
      {"COSINE_DISTANCE([1.0,2.0],[3.0])", "OUT_OF_RANGE: Array length mismatch: 2 and 1"},
      {"COSINE_DISTANCE([0.0,0.0],[3.0,4.0])",
       "OUT_OF_RANGE: Cannot compute cosine distance against zero vector"},
      {"COSINE_DISTANCE([1.0,NULL],[3.0,4.0])", "OUT_OF_RANGE: NULL array element in first argument"},
      {"COSINE_DISTANCE(CAST([] AS ARRAY<FLOAT64>),CAST([] AS ARRAY<FLOAT64>))",
       "OUT_OF_RANGE: Cannot compute cosine distance against zero vector"},
      {"COSINE_DISTANCE(NULL,[3.0,4.0])", "FLOAT64: NULL"},
      {"COSINE_DISTANCE([1,2],[3,4])", "FLOAT64: 0.01613008990009257"},
      {"COSINE_DISTANCE([1e200,1e200],[1e200,2e200])", "OUT_OF_RANGE: double overflow: 1e+200 * 1e+200"},
      {"COSINE_DISTANCE([CAST('nan' AS FLOAT64)],[3.0])", "FLOAT64: nan"},
      {"COSINE_DISTANCE([CAST('inf' AS FLOAT64)],[3.0])", "FLOAT64: nan"},
      {"COSINE_DISTANCE([1.0],[3.0])", "FLOAT64: 0"},
      {"COSINE_DISTANCE([1.0],[-3.0])", "FLOAT64: 2"},
      {"COSINE_DISTANCE(ARRAY<FLOAT32>[1,2],ARRAY<FLOAT32>[3,4])", "FLOAT64: 0.01613008990009257"},
      {"EUCLIDEAN_DISTANCE([1.0,2.0],[3.0,4.0])", "FLOAT64: 2.8284271247461903"},
      {"EUCLIDEAN_DISTANCE([1.0,2.0],[3.0])", "OUT_OF_RANGE: Array length mismatch: 2 and 1"},
      {"EUCLIDEAN_DISTANCE([0.0,0.0],[0.0,0.0])", "FLOAT64: 0"},
      {"EUCLIDEAN_DISTANCE([1.0,NULL],[3.0,4.0])", "OUT_OF_RANGE: NULL array element in first argument"},
      {"EUCLIDEAN_DISTANCE(CAST([] AS ARRAY<FLOAT64>),CAST([] AS ARRAY<FLOAT64>))", "FLOAT64: 0"},
      {"EUCLIDEAN_DISTANCE([1e200],[-1e200])", "OUT_OF_RANGE: double overflow: 2e+200 * 2e+200"},
      {"EUCLIDEAN_DISTANCE([1e308],[-1e308])", "OUT_OF_RANGE: double overflow: 1e+308 - -1e+308"},
      {"EUCLIDEAN_DISTANCE([CAST('inf' AS FLOAT64)],[3.0])", "FLOAT64: inf"},
      {"EUCLIDEAN_DISTANCE([CAST('inf' AS FLOAT64)],[CAST('inf' AS FLOAT64)])", "FLOAT64: nan"},
      {"EUCLIDEAN_DISTANCE(ARRAY<FLOAT32>[1,2],ARRAY<FLOAT32>[3,4])", "FLOAT64: 2.8284271247461903"},
      {"DOT_PRODUCT([1,2],[3,4])", "FLOAT64: 11"},
      {"DOT_PRODUCT([1.0,2.0],[3.0,4.0])", "FLOAT64: 11"},
      {"DOT_PRODUCT([1.0],[3.0,4.0])", "OUT_OF_RANGE: Array length mismatch: 1 and 2"},
      {"DOT_PRODUCT([1,NULL],[3,4])", "OUT_OF_RANGE: NULL array element in first argument"},
      {"DOT_PRODUCT([9223372036854775807],[3])", "FLOAT64: 2.7670116110564327e+19"},
      {"DOT_PRODUCT(CAST([] AS ARRAY<INT64>),CAST([] AS ARRAY<INT64>))", "FLOAT64: 0"},
      {"L2_NORM([-1.7976931348623157e308])", "OUT_OF_RANGE: double overflow: -1.79769e+308 * -1.79769e+308"},
      {"DOT_PRODUCT([1e300],[1e300])", "OUT_OF_RANGE: double overflow: 1e+300 * 1e+300"},
      {"DOT_PRODUCT(ARRAY<FLOAT32>[1,2],ARRAY<FLOAT32>[3,4])", "FLOAT64: 11"},
      {"MANHATTAN_DISTANCE([1,2],[3,5])", "FLOAT64: 5"},
      {"MANHATTAN_DISTANCE([1.0],[3.0,5.0])", "OUT_OF_RANGE: Array length mismatch: 1 and 2"},
      {"MANHATTAN_DISTANCE(ARRAY<FLOAT32>[1,2],ARRAY<FLOAT32>[3,4])", "FLOAT64: 4"},
      {"L1_NORM([1,-2])", "FLOAT64: 3"},
      {"L1_NORM([1.5,-2])", "FLOAT64: 3.5"},
      {"L2_NORM([3,4])", "FLOAT64: 5"},
      {"L2_NORM([3.0,NULL])", "OUT_OF_RANGE: NULL array element"},
      {"L2_NORM(CAST([] AS ARRAY<FLOAT64>))", "FLOAT64: 0"},
      {"L1_NORM(ARRAY<FLOAT32>[1,2])", "FLOAT64: 3"},
      {"COSINE_DISTANCE([0.0],[0.0])", "OUT_OF_RANGE: Cannot compute cosine distance against zero vector"},
      {"COSINE_DISTANCE(ARRAY<FLOAT32>[0],ARRAY<FLOAT32>[0])",
       "OUT_OF_RANGE: Cannot compute cosine distance against zero vector"},
      {"COSINE_DISTANCE([1e-200,1e-200],[1e-200,2e-200])",
       "OUT_OF_RANGE: Cannot compute cosine distance against zero vector"},
      {"COSINE_DISTANCE([1.0,NULL],[3.0])", "OUT_OF_RANGE: Array length mismatch: 2 and 1"},
      {"COSINE_DISTANCE([1.0],[NULL])", "OUT_OF_RANGE: NULL array element in second argument"},
      {"COSINE_DISTANCE([0.0,NULL],[3.0,NULL])", "OUT_OF_RANGE: NULL array element in first argument"},
      {"COSINE_DISTANCE([1e154,1e154],[1e154,2e154])", "OUT_OF_RANGE: double overflow: 1e+154 * 2e+154"},
      {"COSINE_DISTANCE([1e308],[1e-308])", "OUT_OF_RANGE: double overflow: 1e+308 * 1e+308"},
      {"EUCLIDEAN_DISTANCE([1e154,1e154,1e154],[0.0,1.0,1.0])",
       "OUT_OF_RANGE: double overflow: 1e+308 + 1e+308"},
      {"COSINE_DISTANCE([0.1,0.2,0.7,3.3],[1.9,0.3,0.4,-2.2])", "FLOAT64: 1.6748889581565658"},
      {"COSINE_DISTANCE([0.31,0.27,0.78,31.3],[1.94,0.35,0.46,-2.27])", "FLOAT64: 1.7349766698279514"},
      {"COSINE_DISTANCE([0.3,0.7,0.8,3.3,0.1],[1.4,0.5,0.6,-2.7,0.7])", "FLOAT64: 1.6776731690810913"},
      {"COSINE_DISTANCE([5.3,7.7,9.8,3.9,0.1],[1.9,0.15,0.66,2.7,1.7])", "FLOAT64: 0.46629723611559926"},
      {"COSINE_DISTANCE([1.0,1.0],[-1.0,-1.0])", "FLOAT64: 1.9999999999999998"},
      {"COSINE_DISTANCE([1.1,2.2],[1.1,2.2])", "FLOAT64: 1.1102230246251565e-16"},
      {"COSINE_DISTANCE(ARRAY<FLOAT32>[1.1,2.2,3.3],ARRAY<FLOAT32>[1.3,0.2,7.7])",
       "FLOAT64: 0.15150056601622586"},
      {"EUCLIDEAN_DISTANCE([0.1,0.2,0.7,3.3],[1.9,0.3,0.4,-2.2])", "FLOAT64: 5.79568805233684"},
      {"DOT_PRODUCT([0.1,0.2,0.7,3.3],[1.9,0.3,0.4,-2.2])", "FLOAT64: -6.7299999999999995"},
      {"DOT_PRODUCT([1.7e308,1.7e308],[1.0,1.0])", "OUT_OF_RANGE: double overflow: 1.7e+308 + 1.7e+308"},
      {"MANHATTAN_DISTANCE([1.7e308],[-1.7e308])", "OUT_OF_RANGE: double overflow: 1.7e+308 - -1.7e+308"},
      {"MANHATTAN_DISTANCE([1.7e308,1.7e308],[0.0,0.0])",
       "OUT_OF_RANGE: double overflow: 1.7e+308 + 1.7e+308"},
      {"L1_NORM([1.7e308,1.7e308])", "OUT_OF_RANGE: double overflow: 1.7e+308 + 1.7e+308"},
      {"L2_NORM([1.7e308,1.7e308])", "OUT_OF_RANGE: double overflow: 1.7e+308 * 1.7e+308"},
      {"L1_NORM([1.0, NULL])", "OUT_OF_RANGE: NULL array element"},
      {"L2_NORM([1e154,1e154,1e154])", "OUT_OF_RANGE: double overflow: 1e+308 + 1e+308"},
      {"COSINE_DISTANCE([1],[2.5])", "FLOAT64: 0"},
      {"COSINE_DISTANCE(ARRAY<FLOAT32>[1],[2.5])", "FLOAT64: 0"},
      {"COSINE_DISTANCE([1.0], NULL)", "FLOAT64: NULL"},
  });
}

TEST(Vector, TellsTheFirstElementThatFails) {
  ExpectAll({
      {"DOT_PRODUCT([1.0, NULL], [NULL, 1.0])", "OUT_OF_RANGE: NULL array element in second argument"},
      {"DOT_PRODUCT([NULL, 1.0], [NULL, 1.0])", "OUT_OF_RANGE: NULL array element in first argument"},
      {"DOT_PRODUCT([1, NULL], [NULL, 1])", "OUT_OF_RANGE: NULL array element in second argument"},
      {"DOT_PRODUCT([1e308, NULL], [1e308, 1.0])", "OUT_OF_RANGE: double overflow: 1e+308 * 1e+308"},
      {"COSINE_DISTANCE([1.0, 1.0], [1e308, NULL])", "OUT_OF_RANGE: double overflow: 1e+308 * 1e+308"},
      {"EUCLIDEAN_DISTANCE([1e308, NULL], [-1e308, 1.0])", "OUT_OF_RANGE: double overflow: 1e+308 - -1e+308"},
      {"MANHATTAN_DISTANCE([1.5, NULL], [NULL, 1.0])", "OUT_OF_RANGE: NULL array element in second argument"},
      {"L1_NORM([1.5e308, 1.5e308, NULL])", "OUT_OF_RANGE: double overflow: 1.5e+308 + 1.5e+308"},
      {"L2_NORM([1.5e308, NULL])", "OUT_OF_RANGE: double overflow: 1.5e+308 * 1.5e+308"},
      {"L2_NORM([NULL, 1.5e308])", "OUT_OF_RANGE: NULL array element"},
  });
}

TEST(Vector, IsReadFromBytes) {
  ExpectAll({
      {R"(TO_VECTOR32(b'\x3f\x80\x00\x00\xc0\x00\x00\x00'))", "ARRAY<FLOAT32>: [1, -2]"},
      {R"(TO_VECTOR64(b'\x3f\xf0\x00\x00\x00\x00\x00\x00\x7f\xf0\x00\x00\x00\x00\x00\x00'))",
       "ARRAY<FLOAT64>: [1, inf]"},
      {"TO_VECTOR32(b'')", "ARRAY<FLOAT32>: []"},
      {"TO_VECTOR64(CAST(NULL AS BYTES))", "ARRAY<FLOAT64>: NULL"},
      {"TO_VECTOR32(b'abcde')", "OUT_OF_RANGE: TO_VECTOR32 needs a multiple of 4 bytes, not 5"},
      {"TO_VECTOR64(b'abcd')", "OUT_OF_RANGE: TO_VECTOR64 needs a multiple of 8 bytes, not 4"},
      {R"(EUCLIDEAN_DISTANCE(TO_VECTOR32(b'\x3f\x80\x00\x00'), TO_VECTOR32(b'\xc0\x00\x00\x00')))",
       "FLOAT64: 3"},
  });
}

}  // namespace
}  // namespace sonde::sql
