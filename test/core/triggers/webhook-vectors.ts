/**
 * The shape of `security/webhook-vectors.json`, and a case as input of the pure functions. Used by the tests of verifiers, payloads and
 * events.
 */
import type { SignedRequest } from '../../../src/core/signatures/signature-claim.ts';

export type VectorScheme = 'standard' | 'github' | 'stripe' | 'slack';

export type WebhookVector = {
  id: string;
  expect: string;
  reason: string;
  /** Seconds. Absent: the scheme has no time. */
  now?: number;
  deliveries?: number;
} & (
  | { scheme: VectorScheme; secret: string; body: string; headers: Record<string, string> }
  | { scheme: 'http'; body?: string; headers?: Record<string, string>; bodyRepeat?: { s: string; n: number } }
);

export type SignedVector = Extract<WebhookVector, { secret: string }>;

export function signedRequest(headers: Record<string, string>, body: string | Uint8Array, nowSeconds = 0): SignedRequest {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    header: (name) => byName.get(name) ?? null,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    now: nowSeconds * 1000,
  };
}
