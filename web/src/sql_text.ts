// The text of a query as the page needs it: its tokens for colours and completion, its parameters, the place of an error.

export type TokenKind = "comment" | "text" | "name" | "parameter" | "number" | "word" | "space" | "other";
export interface Token { kind: TokenKind; text: string; at: number }

const kinds: [TokenKind, RegExp][] = [
  ["comment", /--[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y],
  ["text", /[rRbB]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?)/y],
  ["name", /`[^`\n]*`?/y],
  ["parameter", /@[A-Za-z_]\w*/y],
  ["number", /\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y],
  ["word", /[A-Za-z_]\w*/y],
  ["space", /\s+/y],
  ["other", /[\s\S]/y],
];

export function tokens(text: string): Token[] {
  const all: Token[] = [];
  for (let at = 0; at < text.length;) {
    for (const [kind, pattern] of kinds) {
      pattern.lastIndex = at;
      const found = pattern.exec(text)?.[0];
      if (!found) continue;
      all.push({ kind, text: found, at });
      at += found.length;
      break;
    }
  }
  return all;
}

// The names of the parameters, as they are written first; names count without their case.
export function parametersOf(text: string): string[] {
  const names = new Map<string, string>();
  for (const token of tokens(text)) {
    const name = token.text.slice(1);
    if (token.kind === "parameter" && !names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  }
  return [...names.values()];
}

// Where in `text` an error says that it is: its message ends with [at LINE:COLUMN]. Columns count characters from 1, and a tab
// goes on to the next column 8n + 1.
export function placeOf(message: string, text: string): number | undefined {
  const found = /\[at (\d+):(\d+)\]\s*$/.exec(message);
  if (!found) return undefined;
  const lines = text.split("\n"), line = Number(found[1]), column = Number(found[2]);
  if (line < 1 || line > lines.length) return undefined;
  let at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0), here = 1;
  for (const character of lines[line - 1]) {
    if (here >= column) break;
    here = character === "\t" ? Math.floor((here - 1) / 8) * 8 + 9 : here + 1;
    at += character.length;
  }
  return at;
}

// A name as it stands in a query: in quotes if it is no plain word.
export const quoted = (name: string, keywords: ReadonlySet<string>): string =>
  /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name.toUpperCase()) ? name : `\`${name.replace(/[\\`]/g, "\\$&")}\``;
