// What a page is to the frame around it.

export interface Page {
  element: HTMLElement;
  // Called when the page is left: ends its timers and requests.
  leave: () => void;
}

// The part of the address behind '#', e.g. #/keys?table=...: pages keep in it what somebody may want to send to another.
export function route(): { path: string; parameters: URLSearchParams } {
  const [path, query = ""] = location.hash.replace(/^#/, "").split("?");
  return { path: path || "/", parameters: new URLSearchParams(query) };
}

export function address(path: string, parameters: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `#${path}${text ? `?${text}` : ""}`;
}

// Changes the address without loading the page again. "step": the browser's Back comes to the address before; else it is replaced.
export function remember(path: string, parameters: Record<string, string | number | undefined>, how: "step" | "replace" = "replace"): void {
  const next = address(path, parameters);
  if (next === location.hash) return;
  if (how === "step") history.pushState(null, "", next);
  else history.replaceState(null, "", next);
}

// Calls again and again, a pause after each answer; not while nobody looks.
export function every(milliseconds: number, work: () => Promise<void>): () => void {
  let ended = false;
  let timer = 0;
  const run = async () => {
    if (!document.hidden) await work();
    if (!ended) timer = window.setTimeout(run, milliseconds);
  };
  void run();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
