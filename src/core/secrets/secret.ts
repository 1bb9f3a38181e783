/**
 * A secret as its administrator writes it, and its bindings: a value is sent only to the hosts, and used only by the tools, that its
 * document lists (contract §7). `storage/keys/secret-box.ts` encrypts it; `net/` enforces it on redirects.
 */
import * as z from 'zod';
import { limits } from '../limits/limits.ts';
import { KB } from '../limits/units.ts';

const maxSecretBytes = 64 * KB;
const maxSecretHosts = 100;
const maxSecretTools = 100;

export const SecretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/, { message: 'must be 1-128 letters, digits, `_`, `.` or `-`, beginning with a letter or `_`' });

/** `api.example.com`, `*.example.com` (sub-domains only), `127.0.0.1:8080`, `[::1]:8080`. */
export const SecretHost = z
  .string()
  .max(270)
  .refine((pattern) => parseHostPattern(pattern) !== null, {
    message: 'must be a host name in lower case, `*.` and a domain of two or more labels, or an address; a port may follow',
  })
  .meta({ id: 'SecretHost', example: 'api.example.com' });

export const Secret = z
  .strictObject({
    value: z
      .string()
      .min(1)
      .refine((value) => new TextEncoder().encode(value).byteLength <= maxSecretBytes, { message: 'must be at most 64 kB' })
      .meta({ description: 'Write-only. Stored encrypted.' }),
    hosts: z.array(SecretHost).min(1).max(maxSecretHosts).meta({ description: 'The only hosts that the secret may be sent to.' }),
    tools: z.array(z.string().min(3).max(limits.maxCanonicalNameLength)).min(1).max(maxSecretTools).optional().meta({
      description: 'Canonical names of tools. If given, only these tools may use the secret.',
    }),
  })
  .meta({ id: 'Secret', example: { value: 'the token', hosts: ['api.example.com'] } });
export type Secret = z.infer<typeof Secret>;

/** The fields of a secret that may be shown. */
export type SecretBinding = Pick<Secret, 'hosts' | 'tools'>;

/** The intended use of a value: the destination host (as in `URL.host`) and the canonical name of the tool. */
export type SecretUse = { host?: string; tool?: string };

/**
 * Returns why this use is not allowed, or null if it is. A use that names neither host nor tool is never allowed; without a host only
 * a listed tool may read the value; a secret bound to tools is not available for anything else.
 */
export function secretUseRefusal(binding: SecretBinding, use: SecretUse): string | null {
  if (use.host === undefined && use.tool === undefined) return 'the request must name the host or the tool that uses it';
  if (use.host !== undefined && !binding.hosts.some((pattern) => hostMatches(pattern, use.host as string))) {
    return `it is not bound to the host ${use.host}`;
  }
  if (binding.tools !== undefined) {
    if (use.tool === undefined) return onlyForTools;
    if (!binding.tools.includes(use.tool)) return `it is not bound to the tool ${use.tool}`;
    return null;
  }
  return use.host === undefined ? `it is not bound to the tool ${use.tool}` : null;
}

const onlyForTools =
  'it is bound to tools, so only calls of these tools can use it. For other uses, such as listing the tools of a server, remove `tools` from the secret';

/**
 * Returns the host of a URL with an explicit port: a secret bound to `api.example.com:443` may not be sent there over plain http.
 */
export function secretHostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  // Stands for a command (`core/servers/stdio.ts`).
  if (protocol === 'stdio:') return hostname;
  return `${hostname}:${port === '' ? (protocol === 'http:' ? 80 : 443) : port}`;
}

/**
 * Exact match of a pattern and a host. A pattern without a port matches any port. `URL.host` omits the default port, so a host
 * without a port means port 443.
 */
export function hostMatches(pattern: string, host: string): boolean {
  const bound = parseHostPattern(pattern);
  const asked = parseHostPattern(host);
  if (bound === null || asked === null || asked.subdomains) return false;
  if (bound.port !== null && bound.port !== (asked.port ?? 443)) return false;
  return bound.subdomains ? asked.host.endsWith(`.${bound.host}`) && asked.host.length > bound.host.length + 1 : asked.host === bound.host;
}

/** Whether every host that matches `inner` also matches `outer`. */
export function hostPatternCovers(outer: string, inner: string): boolean {
  const [wide, narrow] = [parseHostPattern(outer), parseHostPattern(inner)];
  if (wide === null || narrow === null) return false;
  if (wide.port !== null && wide.port !== narrow.port) return false;
  if (narrow.host === wide.host) return wide.subdomains === narrow.subdomains;
  return wide.subdomains && narrow.host.endsWith(`.${wide.host}`);
}

/** Whether every host of these patterns is also one of `outer`. Absent: all hosts. */
export function areHostsWithin(outer: readonly string[] | undefined, inner: readonly string[] | undefined): boolean {
  return outer === undefined || inner?.every((host) => outer.some((pattern) => hostPatternCovers(pattern, host))) === true;
}

type HostPattern = { host: string; subdomains: boolean; port: number | null };

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

function parseHostPattern(text: string): HostPattern | null {
  const bracketed = /^(\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?$/.exec(text);
  const plain = bracketed ?? /^([^:[\]]+)(?::([0-9]{1,5}))?$/.exec(text);
  if (plain === null) return null;
  const port = plain[2] === undefined ? null : Number(plain[2]);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const name = plain[1] ?? '';
  if (bracketed !== null) return { host: name, subdomains: false, port };
  const subdomains = name.startsWith('*.');
  const host = subdomains ? name.slice(2) : name;
  const labels = host.split('.');
  if (host.length > 253 || !labels.every((part) => label.test(part))) return null;
  // `*.com` would bind a secret to a whole top-level domain, `*.0.0.1` to IP addresses.
  if (subdomains && (labels.length < 2 || /^[0-9]+$/.test(labels[labels.length - 1] ?? ''))) return null;
  return { host, subdomains, port };
}
