/**
 * Reads the body of a request within the memory that bodies may take: that of a request with a key by key and workspace, any other by the
 * address that it comes from. A body that finds no place waits a while, unread.
 */
import { limits } from '../core/limits/limits.ts';
import { KB, MB } from '../core/limits/units.ts';
import { minBodyPlaceBytes } from '../core/limits/pools.ts';
import { networkOfHost } from '../core/ip-address.ts';
import type { Principal } from '../core/people/principal.ts';
import { Problem } from '../core/problem.ts';
import type { ShareOwner, ShareShortage } from '../core/limits/fair-share.ts';
import { isShortage, type Place, requireTaken, shortageProblem } from '../engine/fair-pool.ts';
import { clientAddress } from './client-address.ts';
import { discardBody, type JsonBody, readBytes, readJsonBody, requireLength } from './json-body.ts';
import type { AppContext } from './middleware/request-context.ts';
import { hold } from './places.ts';

/** The body of a request with a key. Its place is held until the response begins. */
export async function readRequestBody(c: AppContext, maxBytes: number): Promise<Uint8Array> {
  const amount = placeBytes(c, maxBytes);
  if (amount === 0) return await readBytes(c.req.raw, maxBytes);
  const principal: Principal = c.get('principal');
  const place = requireTaken(await c.get('services').pools.bodies.wait(principal, { amount }));
  hold(c, { body: place });
  return await readBytes(c.req.raw, maxBytes, { grow: (bytes) => grow(place, bytes) });
}

/** `also`: as in `readJsonBody`. */
export async function readJson(c: AppContext, maxBytes: number, also?: string): Promise<JsonBody> {
  return await readJsonBody(c.req.raw, maxBytes, also, () => readRequestBody(c, maxBytes));
}

/**
 * The body of a request without a key, which has to arrive soon. `began` is called once there is a place for it, before it is read: what the
 * caller counts there, it counts for no more than those that are read at a time.
 */
export async function readStrangersBody(c: AppContext, maxBytes: number, began = (): void => undefined): Promise<Uint8Array> {
  const amount = placeBytes(c, maxBytes);
  const { strangerBodies } = c.get('services').pools;
  const place = await strangerBodies.wait(strangerOf(c), { amount: Math.max(amount, minBodyPlaceBytes) });
  if (isShortage(place)) throw strangerBodyShortage(place);
  try {
    began();
    return await readBytes(c.req.raw, maxBytes, {
      grow: (bytes) => grow(place, bytes, strangerBodyShortage),
      timeoutMs: limits.strangersBodyTimeoutMs,
    });
  } finally {
    place.release();
  }
}

/** Takes the place of what a response with a key will send, before it is read: most are smaller. It is held until the response begins. */
export async function enterResponse(c: AppContext): Promise<Place> {
  const place = requireTaken(await c.get('services').pools.bodies.wait(c.get('principal'), { amount: 4 * MB }));
  hold(c, { body: place });
  return place;
}

/** Throws `rate_limited` and `unavailable` if there is no memory for it. */
export function resizePlace(place: Place, bytes: number, problemOf: (shortage: ShareShortage) => Problem = shortageProblem): void {
  const shortage = place.resize(Math.max(minBodyPlaceBytes, bytes));
  if (shortage !== null) throw problemOf(shortage);
}

/** Takes the place of a response to a request without a key that may be large. Throws `rate_limited` and `unavailable`. */
export async function enterStrangersResponse(c: AppContext): Promise<Place> {
  const place = await c.get('services').pools.strangerBodies.wait(strangerOf(c), { amount: sendBytes });
  if (isShortage(place)) throw strangerBodyShortage(place);
  return place;
}

/** What a response takes that is sent in pieces of a text that all share, or from a file: buffers on the way. */
const sendBytes = 128 * KB;

/** Drops the body of a refused request (`discardBody`), if there is memory for it: under a flood, senders may not get to read the response. */
export async function discardRequestBody(c: AppContext): Promise<void> {
  const services = c.get('services') as AppContext['var']['services'] | undefined;
  if (services === undefined || c.req.raw.body === null) return;
  const place = services.pools.strangerBodies.take(strangerOf(c), { amount: discardBytes });
  if (isShortage(place)) return;
  try {
    await discardBody(c.req.raw);
  } finally {
    place.release();
  }
}

/** Buffers of a body that is read and dropped. */
const discardBytes = 4 * minBodyPlaceBytes;

/** 0: it has no body. A body of unknown length begins small and grows. */
function placeBytes(c: AppContext, maxBytes: number): number {
  const { headers, body } = c.req.raw;
  const declared = headers.get('content-length');
  if (declared !== null) requireLength(declared, maxBytes);
  if (declared === '0' || (declared === null && body === null)) return 0;
  return Math.max(minBodyPlaceBytes, declared === null ? 0 : Number(declared));
}

/** In steps, so that few chunks change the place. */
function grow(place: Place, bytes: number, problemOf: (shortage: ShareShortage) => Problem = shortageProblem): void {
  resizePlace(place, 2 ** Math.ceil(Math.log2(bytes)), problemOf);
}

/** Without an address all strangers are one. */
function strangerOf(c: AppContext): ShareOwner {
  const address = clientAddress(c);
  const name = address === null ? 'unknown' : networkOfHost(address);
  return { workspace: name, keyId: name };
}

function strangerBodyShortage({ of }: ShareShortage): Problem {
  const retryAfterMs = limits.defaultRetryAfterMs;
  if (of === 'service')
    return new Problem('unavailable', 'Too many bodies of requests are being received. Try again in a few seconds.', { retryAfterMs });
  return new Problem('rate_limited', 'Too many bodies of requests from this address are being received. Wait until some have been sent.', {
    retryAfterMs,
  });
}
