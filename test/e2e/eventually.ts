/** Waiting for what happens behind an answer. */

/** What `look` finds, once it finds something; asks again until then, and fails with `what` after a good while. */
export async function eventually<Found>(what: string, look: () => Promise<Found | undefined> | Found | undefined): Promise<Found> {
  const deadline = Date.now() + 40_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
