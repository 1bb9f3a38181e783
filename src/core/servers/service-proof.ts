/**
 * How a service on this machine proves that it is the one of a data folder: it has the launcher's token, which the folder has too, and shows
 * that without sending it. The command line asks before it sends a key (contract §13).
 */
import { toHex } from '../text/bytes.ts';
import { createDigests } from '../signatures/signature-claim.ts';

/** Of a request to `/healthz`: 32 random bytes as hexadecimal digits. */
export const challengeHeader = 'x-moniker-challenge';
/** Of its response. Absent if the service has no launcher. */
export const proofHeader = 'x-moniker-proof';

export const challengePattern = /^[0-9a-f]{64}$/;

/** HMAC-SHA-256 of the challenge under the token, as hexadecimal digits. */
export async function proofOf(token: string, challenge: string): Promise<string> {
  const [digest = new Uint8Array()] = await createDigests('sha256', [new TextEncoder().encode(token)])([
    `${challengeHeader}\n${challenge}`,
  ]);
  return toHex(digest);
}
