/**
 * Checks a parsed URL before a request is sent to it: http and https, no credentials in it, usual ports, public addresses and
 * names only, never Moniker itself. Hosts in MONIKER_ALLOW_PRIVATE_HOSTS are allowed. A public name that resolves to a private
 * address passes here. Self-hosted, the network service refuses it after DNS resolution (`local/launch/runtime.ts`).
 */
import { limits } from '../core/limits/limits.ts';
import { Problem } from '../core/problem.ts';
import type { OutboundPurpose } from '../ports/outbound.ts';
import { isLoopback, judgeAddress } from './address.ts';
import { cutToLength } from '../core/text/utf8.ts';

/** The rule that rejected a request. Part of the `OutboundRefused` message and of logs. */
export type OutboundRule =
  | 'url'
  | 'scheme'
  | 'userinfo'
  | 'port'
  | 'address'
  | 'name'
  | 'own-origin'
  | 'loop'
  | 'redirects'
  | 'redirect-body';

/** A request that must not be sent. Nothing was sent to the rejected URL. */
export class OutboundRefused extends Problem {
  override name = 'OutboundRefused';
  readonly rule: OutboundRule;
  constructor(rule: OutboundRule, detail: string) {
    super(rule === 'own-origin' || rule === 'loop' ? 'loop_detected' : 'upstream_error', detail, { rule, retryable: false });
    this.rule = rule;
  }
}

/** `localUrl`: where `npm start` listens, which may differ from the public URL. `launcher`: its bridge is not for requests from here. */
export type GuardSettings = {
  allowPrivateHosts: readonly string[];
  publicUrl: string | null;
  localUrl?: string | null;
  launcher?: { bridgeUrl: string } | null;
};

/** `isPrivate`: the operator allowed the host by name, so that its address may be private. */
export type Destination = { url: URL; isPrivate: boolean };

/** Returns the parsed URL, or throws `OutboundRefused` with the rule and the setting that would allow it. */
export type Guard = (url: string, purpose: OutboundPurpose) => Destination;

/** Throws `Problem` `not_configured` for an invalid pattern: a guard with a misread list must not run. */
export function createGuard(settings: GuardSettings): Guard {
  const allowed = settings.allowPrivateHosts.map(parsePattern);
  const ownOrigins = [settings.publicUrl, settings.localUrl ?? null, settings.launcher?.bridgeUrl ?? null].flatMap((url) =>
    url === null ? [] : [parseOrigin(url)],
  );

  return (text, purpose) => {
    const url = text.length <= limits.maxUrlLength ? URL.parse(text) : null;
    if (url === null)
      throw new OutboundRefused(
        'url',
        text.length > limits.maxUrlLength
          ? `The URL is longer than ${limits.maxUrlLength} characters.`
          : `Not a valid absolute URL: ${shown(text)}`,
      );
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new OutboundRefused('scheme', `Only http and https URLs can be reached, not ${url.protocol}`);
    if (url.username !== '' || url.password !== '')
      throw new OutboundRefused('userinfo', 'A URL with a user name or password in it is refused. Send credentials in a header.');

    const host = url.hostname.replace(/\.$/, '');
    const port = portOf(url);
    for (const own of ownOrigins) {
      if (own.port === port && (own.host === host || (isLoopback(own.host) && isLoopback(host)))) {
        throw new OutboundRefused('own-origin', `${url.host} is this Moniker itself; it does not call itself.`);
      }
    }
    if (allowed.some((pattern) => matches(pattern, host, port, purpose))) return { url, isPrivate: true };

    const setting = settingFor(url, purpose);
    const address = judgeAddress(host);
    if (address.kind === 'blocked') throw new OutboundRefused('address', `${host} is not a public address (${address.range}). ${setting}`);
    if (address.kind === 'name' && !isPublicName(host))
      throw new OutboundRefused('name', `${host === '' ? 'The empty host' : host} is not a public name. ${setting}`);
    if (!usualPorts.has(port))
      throw new OutboundRefused('port', `Port ${port} is refused; ${[...usualPorts].join(', ')} are open. ${setting}`);
    return { url, isPrivate: false };
  };
}

/** Returns a hint on which setting allows a private host, for the message of a rejected request. */
export function settingFor(url: URL, purpose: OutboundPurpose): string {
  const host = url.hostname.replace(/\.$/, '');
  return `An operator can allow it with MONIKER_ALLOW_PRIVATE_HOSTS=${prefixOf(purpose)}${host}:${portOf(url)}`;
}

/** Returns whether a tool's request to this URL would always be rejected. */
export function refusedUrl(guard: Guard, url: string): boolean {
  try {
    guard(url, 'tool');
    return false;
  } catch (error) {
    if (error instanceof OutboundRefused) return true;
    throw error;
  }
}

const usualPorts: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

/**
 * Last labels that never belong to a public service: special-use names (RFC 6761, 6762, 7686, 8375, 9476), names that private networks use,
 * and those of container platforms. `.example` is not included, since it never resolves.
 */
const privateSuffixes: ReadonlySet<string> = new Set(
  // `.stdio`: stands for commands (`core/servers/stdio.ts`), whose secrets must not leave the machine.
  'localhost localdomain local internal lan home corp private intranet test invalid onion alt arpa svc cluster stdio'.split(' '),
);
const metadataNames: ReadonlySet<string> = new Set(['metadata.goog', 'cluster.local']);

function isPublicName(host: string): boolean {
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return false;
  return !privateSuffixes.has(labels.at(-1) ?? '') && !metadataNames.has(labels.slice(-2).join('.'));
}

type Pattern = { host: string; port: number | null; purpose: OutboundPurpose | null };

/** `host:port`, `host:*` or `*.suffix:port`. A prefix `providers:`, `servers:` or `webhooks:` limits it to that purpose. */
function parsePattern(text: string): Pattern {
  const parts = /^(?:(providers|servers|webhooks):)?(\*\.)?(\[[0-9a-fA-F:.]+\]|[^:[\]*/@\s]+):(\*|\d{1,5})$/.exec(text);
  const url = parts === null ? null : URL.parse(`http://${parts[3]}/`);
  if (parts === null || url === null) {
    throw new Problem(
      'not_configured',
      `MONIKER_ALLOW_PRIVATE_HOSTS: ${shown(text)} is not host:port, such as 127.0.0.1:* or providers:ollama.internal:11434`,
    );
  }
  const host = (parts[2] ?? '') + url.hostname.replace(/\.$/, '');
  const purpose = purposes.find((named) => parts[1] === `${named}s`) ?? null;
  return { host, port: parts[4] === '*' ? null : Number(parts[4]), purpose };
}

function matches(pattern: Pattern, host: string, port: number, purpose: OutboundPurpose): boolean {
  if (pattern.purpose !== null && pattern.purpose !== purpose) return false;
  if (pattern.port !== null && pattern.port !== port) return false;
  return pattern.host.startsWith('*.') ? host.endsWith(pattern.host.slice(1)) : host === pattern.host;
}

function parseOrigin(text: string): { host: string; port: number } {
  const url = URL.parse(text);
  if (url === null) throw new Problem('not_configured', `MONIKER_PUBLIC_URL is not a valid URL: ${shown(text)}`);
  return { host: url.hostname.replace(/\.$/, ''), port: portOf(url) };
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** The purposes that a pattern can be limited to. For webhooks, these are the outgoing callbacks. */
const purposes = ['provider', 'server', 'webhook'] as const satisfies readonly OutboundPurpose[];

function prefixOf(purpose: OutboundPurpose): string {
  return purpose === 'tool' ? '' : `${purpose}s:`;
}

function shown(text: string): string {
  return JSON.stringify(cutToLength(text, 100));
}
