/** The verifier of a delivery's signature, for any scheme (SEC-16). */

/** `now`: milliseconds since the epoch. Headers by lower-case name; repeated headers are joined by `, `. */
export type SignedRequest = { header(name: string): string | null; body: Uint8Array; now: number };

/** `reason` is for the log; the sender only learns that the request was rejected. */
export type SignatureVerdict = { valid: true } | { valid: false; reason: string };

/** Works on the raw bytes. Takes as long for a missing or wrong signature as for a valid one. Never throws because of the request. */
export type Verifier = (request: SignedRequest) => Promise<SignatureVerdict>;
