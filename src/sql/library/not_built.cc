#include <string>
#include <string_view>
#include <vector>

#include "sql/function/function.h"
#include "sql/library/functions.h"

namespace sonde::sql {
namespace {

// Of geography, which production has.
constexpr std::string_view kNames[] = {
    "S2_CELLIDFROMPOINT",
    "S2_COVERINGCELLIDS",
    "ST_ACCUM",
    "ST_ANGLE",
    "ST_AREA",
    "ST_ASBINARY",
    "ST_ASGEOJSON",
    "ST_ASKML",
    "ST_ASTEXT",
    "ST_AZIMUTH",
    "ST_BOUNDARY",
    "ST_BOUNDINGBOX",
    "ST_BUFFER",
    "ST_BUFFERWITHTOLERANCE",
    "ST_CENTROID",
    "ST_CENTROID_AGG",
    "ST_CLOSESTPOINT",
    "ST_CLUSTERDBSCAN",
    "ST_CONTAINS",
    "ST_CONVEXHULL",
    "ST_COVEREDBY",
    "ST_COVERS",
    "ST_DIFFERENCE",
    "ST_DIMENSION",
    "ST_DISJOINT",
    "ST_DISTANCE",
    "ST_DUMP",
    "ST_DUMPPOINTS",
    "ST_DWITHIN",
    "ST_ENDPOINT",
    "ST_EQUALS",
    "ST_EXTENT",
    "ST_EXTERIORRING",
    "ST_GEOGFROM",
    "ST_GEOGFROMGEOJSON",
    "ST_GEOGFROMKML",
    "ST_GEOGFROMTEXT",
    "ST_GEOGFROMWKB",
    "ST_GEOGPOINT",
    "ST_GEOGPOINTFROMGEOHASH",
    "ST_GEOHASH",
    "ST_GEOMETRYTYPE",
    "ST_HAUSDORFFDISTANCE",
    "ST_HAUSDORFFDWITHIN",
    "ST_INTERIORRINGS",
    "ST_INTERSECTION",
    "ST_INTERSECTS",
    "ST_INTERSECTSBOX",
    "ST_ISCLOSED",
    "ST_ISCOLLECTION",
    "ST_ISEMPTY",
    "ST_ISRING",
    "ST_LENGTH",
    "ST_LINEINTERPOLATEPOINT",
    "ST_LINELOCATEPOINT",
    "ST_LINESUBSTRING",
    "ST_MAKELINE",
    "ST_MAKEPOLYGON",
    "ST_MAKEPOLYGONORIENTED",
    "ST_MAXDISTANCE",
    "ST_NPOINTS",
    "ST_NUMGEOMETRIES",
    "ST_NUMPOINTS",
    "ST_PERIMETER",
    "ST_POINTN",
    "ST_SIMPLIFY",
    "ST_SNAPTOGRID",
    "ST_STARTPOINT",
    "ST_TOUCHES",
    "ST_UNION",
    "ST_UNION_AGG",
    "ST_WITHIN",
    "ST_X",
    "ST_Y",
};

}  // namespace

std::vector<Function> NotBuiltFunctions() {
  std::vector<Function> functions;
  for (const std::string_view name : kNames) {
    functions.push_back({.name = std::string(name),
                         .kind = Function::Kind::kNotBuilt,
                         .meaning = "A function of geography, which is not built."});
  }
  return functions;
}

}  // namespace sonde::sql
