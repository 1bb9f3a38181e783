/**
 * How each scheme signs a delivery, which headers carry the signature, and how a digest is written. Standard Webhooks is also used to sign
 * outgoing callbacks.
 */
import { fromBase64, toBase64, toHex } from '../../text/bytes.ts';
import {
  rejection,
  type SignatureScheme,
  type SignedContent,
  createDigests,
  timeFault,
  type SignedRequest,
  type Verifier,
} from '../../signatures/signature-claim.ts';
import type { HmacSettings, BearerSettings } from '../webhook.ts';
import { equalInConstantTime } from '../../constant-time.ts';
import { sha256Hex } from '../../hash.ts';

/**
 * Standard Webhooks (github.com/standard-webhooks/standard-webhooks: spec/standard-webhooks.md), symmetric: `webhook-signature` holds
 * `v1,<base64>` elements separated by spaces, over `{webhook-id}.{webhook-timestamp}.{body}`.
 */
export const standardScheme: SignatureScheme = {
  signed: ({ header, body }) => [`${header('webhook-id') ?? ''}.${header('webhook-timestamp') ?? ''}.`, body],
  read(request) {
    const signature = request.header('webhook-signature');
    if (!request.header('webhook-id')) return rejection('webhook-id is missing');
    if (!signature) return rejection('webhook-signature is missing');
    return { signatures: standardSignatures(signature), fault: timeFault(request.header('webhook-timestamp'), request.now) };
  },
  write: toBase64,
  headers: ({ id, seconds, signature }) => ({ 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` }),
};

/** Returns the key of a secret: base64, with or without the prefix `whsec_`. null: invalid. */
export function standardKey(secret: string): Uint8Array | null {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  // `fromBase64` accepts line breaks. A secret with a line break was pasted incorrectly, and the sender's library would reject it.
  const key = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? fromBase64(text) : null;
  return key === null || key.byteLength === 0 ? null : key;
}

/** Returns the `webhook-signature` of a message, with each of the keys. `seconds`: `webhook-timestamp`. */
export async function signStandard(
  keys: readonly Uint8Array[],
  { id, seconds, body }: { id: string; seconds: number; body: string },
): Promise<string> {
  const digests = await createDigests('sha256', keys)([`${id}.${seconds}.`, body]);
  return digests.map((digest) => `v1,${toBase64(digest)}`).join(' ');
}

/** From `v1,a v2,b v1a,c` only `a`: `v1a` is another kind of key. A repeated header is joined by `, `, so a comma may follow. */
function standardSignatures(header: string): string[] {
  return header.split(' ').flatMap((element) => {
    const [version, signature = ''] = element.split(',', 2);
    return version === 'v1' && signature !== '' ? [signature] : [];
  });
}

/**
 * GitHub (docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries): `x-hub-signature-256: sha256=<hex>` over the body. The
 * older `x-hub-signature` (SHA-1) alone is rejected. GitHub signs no time, so repeats are detected by the delivery id.
 */
export const githubScheme: SignatureScheme = {
  signed: ({ body }) => [body],
  read(request) {
    const signature = request.header('x-hub-signature-256');
    return signature ? { signatures: [signature], fault: null } : rejection('x-hub-signature-256 is missing');
  },
  write: (digest) => `sha256=${toHex(digest)}`,
  headers: ({ id, signature }) => ({ 'x-github-delivery': id, 'x-hub-signature-256': signature }),
};

/**
 * Stripe (docs.stripe.com/webhooks/signature): `stripe-signature: t=<seconds>,v1=<hex>,…` over `{t}.{body}`. Any `v1` may match; `v0`
 * belongs to test mode and never counts. The secret is used as written, with its `whsec_`.
 */
export const stripeScheme: SignatureScheme = {
  signed: ({ header, body }) => [`${stripeElements(header('stripe-signature') ?? '').time}.`, body],
  read(request) {
    const header = request.header('stripe-signature');
    if (!header) return rejection('stripe-signature is missing');
    const { time, signatures } = stripeElements(header);
    return { signatures, fault: timeFault(time, request.now) };
  },
  write: toHex,
  headers: ({ seconds, signature }) => ({ 'stripe-signature': `t=${seconds},v1=${signature}` }),
};

/** The last of several times counts, as in Stripe's library. */
function stripeElements(header: string): { time: string; signatures: string[] } {
  let time = '';
  const signatures: string[] = [];
  for (const element of header.split(',')) {
    const [name, value = ''] = element.split('=', 2);
    if (name === 't') time = value;
    else if (name === 'v1' && value !== '') signatures.push(value);
  }
  return { time, signatures };
}

/**
 * Slack (api.slack.com/authentication/verifying-requests-from-slack): `x-slack-signature: v0=<hex>` over `v0:{timestamp}:{body}` with the
 * raw body.
 */
export const slackScheme: SignatureScheme = {
  signed: ({ header, body }) => [`v0:${header('x-slack-request-timestamp') ?? ''}:`, body],
  read(request) {
    const signature = request.header('x-slack-signature');
    if (!signature) return rejection('x-slack-signature is missing');
    return { signatures: [signature], fault: timeFault(request.header('x-slack-request-timestamp'), request.now) };
  },
  write: (digest) => `v0=${toHex(digest)}`,
  headers: ({ seconds, signature }) => ({ 'x-slack-request-timestamp': seconds, 'x-slack-signature': signature }),
};

/** A custom HMAC signature as the document defines it: header, hash, encoding and signed text. One signature per header. */
export function hmacScheme(settings: HmacSettings): SignatureScheme {
  const { header, prefix, timestampHeader, idHeader, signed } = settings;
  return {
    // The placeholders of `signed` filled; the body stays bytes.
    signed: (source) =>
      signed.split(/(\{body\}|\{id\}|\{timestamp\})/).map((piece) => {
        if (piece === '{body}') return source.body;
        if (piece === '{id}') return headerText(source, idHeader);
        return piece === '{timestamp}' ? headerText(source, timestampHeader) : piece;
      }),
    read(request) {
      const given = request.header(header);
      if (!given) return rejection(`${header} is missing`);
      if (!given.startsWith(prefix)) return rejection(`${header} does not begin with the configured prefix`);
      if (idHeader !== undefined && signed.includes('{id}') && !request.header(idHeader)) return rejection(`${idHeader} is missing`);
      return {
        signatures: [oneSpelling(settings, given.slice(prefix.length))],
        fault: timestampHeader === undefined ? null : timeFault(request.header(timestampHeader), request.now),
      };
    },
    write: (digest) => oneSpelling(settings, settings.encoding === 'hex' ? toHex(digest) : toBase64(digest)),
    headers: ({ id, seconds, signature }) => ({
      [header]: prefix + signature,
      ...(timestampHeader !== undefined && { [timestampHeader]: seconds }),
      ...(idHeader !== undefined && { [idHeader]: id }),
    }),
  };
}

function headerText({ header }: SignedContent, name: string | undefined): string {
  return (name === undefined ? null : header(name)) ?? '';
}

/** Senders differ in the case of hex and the padding of base64; both are normalized. */
function oneSpelling({ encoding }: HmacSettings, signature: string): string {
  if (encoding === 'hex') return signature.toLowerCase();
  const unpadded = signature.replace(/={1,2}$/, '');
  return encoding === 'base64' ? unpadded : unpadded.replaceAll('+', '-').replaceAll('/', '_');
}

/**
 * A sender that only sends the secret: `Authorization: Bearer <secret>` (RFC 6750 §2.1, the scheme in any case), or a header that contains
 * only the secret (GitLab's `x-gitlab-token`). The body is not signed. Absent settings: `Authorization`.
 */
export function createBearerVerifier(settings: BearerSettings | undefined, secrets: readonly string[]): Verifier {
  const header = settings?.header ?? 'authorization';
  // Hashes the body as the other schemes do, so that timing reveals neither the scheme nor whether the webhook exists.
  const hashBody = createDigests('sha256', [new Uint8Array(32)]);
  return async (request) => {
    const given = tokenOf(request, header);
    // Compares hashes, which all have one length, instead of the secrets.
    const [found, ...expected] = await Promise.all([given ?? '', ...secrets].map(sha256Hex));
    await hashBody([request.body]);
    let isKnown = false;
    for (const hash of expected) isKnown = equalInConstantTime(hash, found ?? '') || isKnown;
    if (given === null) return { valid: false, reason: `${header} is missing or contains no secret` };
    return isKnown ? { valid: true } : { valid: false, reason: `${header} does not contain a secret of this webhook` };
  };
}

function tokenOf({ header }: SignedRequest, name: string): string | null {
  const value = header(name);
  if (value === null || value === '') return null;
  if (name !== 'authorization') return value;
  return /^bearer +(\S.*)$/i.exec(value)?.[1] ?? null;
}
