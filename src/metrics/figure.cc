#include "metrics/figure.h"

#include <algorithm>
#include <iterator>

namespace sonde {

void MergeFigures(std::vector<Figure> more, std::vector<Figure>* figures) {
  for (Figure& figure : more) {
    const auto known = std::find_if(figures->begin(), figures->end(),
                                    [&](const Figure& one) { return one.name == figure.name; });
    if (known == figures->end()) {
      figures->push_back(std::move(figure));
    } else {
      std::move(figure.samples.begin(), figure.samples.end(), std::back_inserter(known->samples));
    }
  }
}

}  // namespace sonde
