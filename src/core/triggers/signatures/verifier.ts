/** Whether what came was signed by somebody who knows the secret, whatever the scheme (SEC-16). */

/** `now`: milliseconds since the epoch. Headers by lower-case name; one that came several times is joined by `, `. */
export type SignedRequest = { header(name: string): string | null; body: Uint8Array; now: number };

/** `reason` is for the log: whoever sent it is told no more than that it is refused. */
export type SignatureVerdict = { valid: true } | { valid: false; reason: string };

/** Works on the bytes as they came, and as long for a missing or wrong signature as for a right one. Never throws for what was sent. */
export type Verifier = (request: SignedRequest) => Promise<SignatureVerdict>;
