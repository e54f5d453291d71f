// What completes the names of columns of series in a query.
import type { Series } from "./api";
import type { Suggestion } from "./sql_editor";
import { quoted } from "./sql_text";

// Each name once, with the unit that declarations say of it, if they all say the same.
export function columnSuggestions(series: Series[], keywords: ReadonlySet<string>): Suggestion[] {
  const units = new Map<string, Set<string>>();
  for (const column of series.flatMap((one) => [...one.tags, ...one.fields])) {
    let known = units.get(column.name);
    if (!known) units.set(column.name, (known = new Set()));
    known.add(column.unit ?? "");
  }
  return [...units].map(([name, of_name]) => {
    const [unit] = of_name;
    return { text: quoted(name, keywords), kind: of_name.size === 1 && unit !== "" ? `of a series, ${unit}` : "of a series" };
  });
}
