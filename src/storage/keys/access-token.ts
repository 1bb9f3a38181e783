/**
 * The text of OAuth tokens: `mt_<workspace>_<user>.<grant>.<secret>.<check>` (`mr_` for refresh tokens, `mc_` for authorization codes).
 * The OAuth library makes user, grant and secret, and stores a hash (`mcp/authorization/library.ts`). The check detects forged tokens without I/O, says
 * which Catalog has the grant, and prevents a token of one kind or workspace from being used as another.
 */
import { equalInConstantTime } from '../../core/constant-time.ts';
import { toBase64Url } from '../../core/text/bytes.ts';
import { macOf, macSigner, type MasterKey } from './master-key.ts';

export type TokenKind = 'access' | 'refresh' | 'code';

/** `inner`: `<user>:<grant>:<secret>`, as the library knows the token. */
export type IssuedToken = { kind: TokenKind; workspace: string; inner: string };

const prefixes = { access: 'mt', refresh: 'mr', code: 'mc' } as const satisfies Record<TokenKind, string>;
const kinds = { t: 'access', r: 'refresh', c: 'code' } as const;

const form =
  /^m([trc])_([a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?)_([A-Za-z0-9-]{1,64})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{32})\.([A-Za-z0-9_-]{16})$/;
const maxTokenLength = 256;
const checkLength = 16;

/** Returns whether a text has the form of an access token; it may be forged. */
export function isAccessToken(text: string): boolean {
  return text.startsWith('mt_') && text.length <= maxTokenLength && form.test(text);
}

/** Returns the id of the grant in the text of a token, which may be forged; null for any other text. */
export function grantIdOfToken(text: string): string | null {
  return (text.length > maxTokenLength ? null : form.exec(text))?.[4] ?? null;
}

export async function sealToken(master: MasterKey, { kind, workspace, inner }: IssuedToken): Promise<string> {
  const payload = `${prefixes[kind]}_${workspace}_${inner.replaceAll(':', '.')}`;
  return `${payload}.${await checkOf(master, payload)}`;
}

/** Returns null for a text that this installation did not issue. */
export async function openToken(master: MasterKey, text: string): Promise<IssuedToken | null> {
  const match = text.length > maxTokenLength ? null : form.exec(text);
  if (match === null) return null;
  const [, letter, workspace = '', user = '', grant = '', secret = '', check = ''] = match;
  const payload = text.slice(0, -check.length - 1);
  const claim = { workspace: '', purpose: 'access-token', data: payload } as const;
  if ((await macSigner(master, claim, (mac) => equalInConstantTime(check, checkFrom(mac)))) === null) return null;
  return { kind: kinds[letter as keyof typeof kinds], workspace, inner: `${user}:${grant}:${secret}` };
}

async function checkOf(master: MasterKey, payload: string): Promise<string> {
  return checkFrom(await macOf(master, '', 'access-token', payload));
}

function checkFrom(mac: Uint8Array): string {
  return toBase64Url(mac).slice(0, checkLength);
}
