// Whether the server answers. Every request tells; while none is made, a look at /healthz does.
const quietSeconds = 3; // without an answer, the server is looked for
const patienceMs = 3000;

let answered = Date.now() / 1000;
let silent_since: number | undefined;
let asking = false;

// The time of the last answer before the server fell silent; undefined: it answers.
export const silentSince = (): number | undefined => silent_since;

export function noteAnswer(): void {
  answered = Date.now() / 1000;
  if (silent_since === undefined) return;
  silent_since = undefined;
  dispatchEvent(new Event("linkchange"));
}

// A request has failed without an answer: is the server gone, or was it that request alone?
export async function lookForServer(): Promise<void> {
  if (asking) return;
  asking = true;
  try {
    await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(patienceMs) });
    noteAnswer();
  } catch {
    if (silent_since === undefined) {
      silent_since = answered;
      dispatchEvent(new Event("linkchange"));
    }
  }
  asking = false;
}

setInterval(() => {
  if (!document.hidden && (silent_since !== undefined || Date.now() / 1000 - answered > quietSeconds)) void lookForServer();
}, 1000);
