/** Bytes and milliseconds per unit, for limits. */
export const KB = 1024;
export const MB = 1024 * KB;
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

/** An estimate for every model, where no provider has counted. */
export const charactersPerToken = 4;
