/** Bytes, for bounds that are told in thousands of them. */
export const KB = 1024;
export const MB = 1024 * KB;
