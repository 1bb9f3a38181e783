/**
 * The cookie of a signed-in browser: reads and writes it, and refuses requests of other sites that carry it. Scripts cannot read it, and other
 * sites cannot send it with writes.
 */
import { parse, serialize } from 'hono/utils/cookie';
import { browserSessionMs, type Person } from '../../core/people/person.ts';
import { Problem } from '../../core/problem.ts';
import { publicBase, type Settings } from '../../core/people/settings.ts';
import type { AppContext } from '../middleware/request-context.ts';
import { isLoopbackHost, isOwnOrigin } from '../own-origin.ts';

/** Returns the person who is signed in, on pages that are shown wherever the link was; null: not signed in, or the sign-in has ended. */
export async function personOf(c: AppContext): Promise<Person | null> {
  const { people } = c.get('services');
  const person = await personOfCookie(c);
  return person === null || (await people.isEnded(person)) ? null : person;
}

/** The same, without asking whether the person has signed out. */
export async function personOfCookie(c: AppContext): Promise<Person | null> {
  const cookie = readCookie(c, sessionCookie);
  return cookie === null ? null : await c.get('services').people.read(cookie);
}

export const sessionCookie = 'moniker';

/** The name and attributes depend on the transport: browsers accept `__Host-` cookies, which no other host can set, over TLS only. */
export function cookieHeader(c: AppContext, name: string, value: string, maxAgeMs: number): string {
  const isSecure = usesTls(c);
  const attributes = { httpOnly: true, sameSite: 'Lax', path: '/', maxAge: Math.floor(maxAgeMs / 1_000), secure: isSecure } as const;
  return serialize(cookieName(c, name), value, attributes);
}

export function sessionCookieHeader(c: AppContext, value: string): string {
  return cookieHeader(c, sessionCookie, value, browserSessionMs);
}

export function removedCookieHeader(c: AppContext, name: string): string {
  return cookieHeader(c, name, '', 0);
}

/** Returns the value of a cookie; null: none. */
export function readCookie(c: AppContext, name: string): string | null {
  const header = c.req.header('cookie');
  if (header === undefined) return null;
  const full = cookieName(c, name);
  return parse(header, full)[full] || null;
}

function cookieName(c: AppContext, name: string): string {
  return usesTls(c) ? `__Host-${name}` : name;
}

/** A proxy in front may end TLS; then MONIKER_PUBLIC_URL says so. */
function usesTls(c: AppContext): boolean {
  const { settings } = c.get('services');
  return new URL(c.req.url).protocol === 'https:' || publicBase(settings.publicUrl)?.startsWith('https:') === true;
}

/** Throws `forbidden` where browsers would not store the cookie, or would send it unencrypted. */
export function requireSafeTransport(c: AppContext): void {
  if (usesTls(c) || isLoopbackHost(new URL(c.req.url).hostname)) return;
  throw new Problem(
    'forbidden',
    'Signing in requires HTTPS. Put a proxy with TLS in front of the service and set MONIKER_PUBLIC_URL to its https URL.',
  );
}

/**
 * Throws `forbidden` for a request that a page of another site sent (CSRF). Browsers say who sent it: `Sec-Fetch-Site`, or else `Origin`. A
 * write must have one of them.
 */
export function refuseOtherSites(c: AppContext): void {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
  if (isFromOwnPage(c, isRead)) return;
  throw new Problem('forbidden', 'This request was not sent by a page of this service. Requests with the cookie of a browser must be.');
}

/** Returns whether a page of this service sent the request; for reads, also whether no page did. */
export function isFromOwnPage(c: AppContext, isRead: boolean): boolean {
  const site = c.req.header('sec-fetch-site');
  // `none`: the person typed the URL or opened a bookmark.
  if (site !== undefined) return site === 'same-origin' || (isRead && site === 'none');
  const origin = c.req.header('origin');
  if (origin === undefined) return isRead;
  const settings: Settings = c.get('services').settings;
  return origin === new URL(c.req.url).origin || isOwnOrigin(settings, origin);
}
