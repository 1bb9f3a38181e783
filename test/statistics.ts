/** What tests count and measure is printed only on request: `MONIKER_STATISTICS=1 npm test`. */
export const isAskedForStatistics = (process.env.MONIKER_STATISTICS ?? '') !== '';

/** Prints like `console.log`. What must hold belongs in an assertion. */
export function printStatistics(...values: unknown[]): void {
  if (isAskedForStatistics) console.log(...values);
}
