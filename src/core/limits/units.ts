/** Bytes per unit, for limits in KB and MB. */
export const KB = 1024;
export const MB = 1024 * KB;
