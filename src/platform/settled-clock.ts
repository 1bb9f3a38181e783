/**
 * Whether the clock may decide what is old enough to be deleted, or has expired for good. On a machine, its launcher says so
 * (`local/launch/clock-watch.ts`); the clock of Cloudflare is trusted. What is refused because of its time is refused by the clock as it is.
 */

/** Of the isolate: all objects have one clock. */
let ask: (() => Promise<string | null>) | null = null;
let verdict: { at: number; doubt: string | null } | null = null;
/** No clock jumps by less, so a verdict of this age is of the clock as it is. */
const validMs = 30_000;

/** `question`: returns what is wrong with the clock, or null. Null: it is trusted. */
export function trustClockBy(question: (() => Promise<string | null>) | null): void {
  ask = question;
  verdict = null;
}

/** Returns what is wrong with the clock; null: it is trusted. A launcher that does not answer is a doubt. */
export async function doubtOfClock(): Promise<string | null> {
  if (ask === null) return null;
  const known = current(Date.now());
  if (known !== null) return known.doubt;
  const doubt = await ask().catch((error: unknown) => `The launcher could not be asked about the clock: ${String(error)}`);
  verdict = { at: Date.now(), doubt };
  return doubt;
}

export async function isClockSettled(): Promise<boolean> {
  return (await doubtOfClock()) === null;
}

/** The same for code that cannot wait: false if it is not known, and then asks for the next time. */
export function wasClockSettled(): boolean {
  if (ask === null) return true;
  const known = current(Date.now());
  // Never rejects.
  if (known === null) void doubtOfClock();
  return known?.doubt === null;
}

function current(now: number): typeof verdict {
  return verdict !== null && Math.abs(now - verdict.at) <= validMs ? verdict : null;
}
