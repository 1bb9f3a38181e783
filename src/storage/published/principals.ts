/**
 * Resolves an API key to its principal (contract §9). The root key is compared in constant time. For other keys the check is verified
 * without I/O, then the workspace's Catalog is asked, and its response cached for `limits.principalTtlMs`. Refusals have a reason, as
 * far as it does not help to guess keys.
 */
import { type ParsedKey, parseKey } from '../../core/people/key.ts';
import { limits } from '../../core/limits/limits.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import { missingRootKey } from '../../core/people/missing-keys.ts';
import { type Principal, rootKeyId, Scope } from '../../core/people/principal.ts';
import type { Settings } from '../../core/people/settings.ts';
import type { Clock } from '../../ports/runtime.ts';
import { sha256Hex } from '../../core/hash.ts';
import { isAccessToken, openToken } from '../keys/access-token.ts';
import type { Bindings } from '../bindings.ts';
import { callCatalog } from '../../objects/catalog/client/catalog-client.ts';
import type { KeyVerdict } from '../../objects/catalog/client/catalog-methods.ts';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { keyHash, signerOfKey } from '../keys/key-crypto.ts';
import { type MasterKey, readingKeys } from '../keys/master-key.ts';
import type { RootProof } from '../keys/root-proof.ts';
import { createTimedCache, type Loaded } from '../../platform/timed-cache.ts';

const maxCachedPrincipals = 10_000;
/** A key in use is verified again in the background, before its verdict expires, so that its requests do not wait for it. */
export const reverifyKeyMs = 20_000;

export const rootPrincipal: Principal = { workspace: 'default', keyId: rootKeyId, scopes: Scope.options };

/** Keys of a deployment that has no Catalog, of any form. `hash`: SHA-256 of the key (hex). Returns null for any other key. */
export type IssuedKeys = (hash: string) => KeyVerdict | null;

/** `background`: keeps work alive after the request. Absent: keys are verified only when their verdict has expired. */
export function createPrincipals(options: {
  env: Bindings;
  settings: Settings;
  clock: Clock;
  master: MasterKey;
  /** Earlier master keys, under which API keys may have been created (`retired-keys.ts`). */
  retired(): Promise<readonly MasterKey[]>;
  rootProof: Pick<RootProof, 'current'>;
  background?: ((work: Promise<unknown>) => void) | undefined;
  issued?: IssuedKeys | undefined;
}) {
  const { env, settings, clock, master, retired, rootProof, background, issued } = options;
  const verdicts = createTimedCache<KeyVerdict>({ maxEntries: maxCachedPrincipals, now: () => clock.now() });
  // The value and not its promise, which would belong to the request that made it.
  let rootHash: string | null = null;

  const isRoot = async (key: string, rootKey: string): Promise<boolean> => {
    rootHash ??= await sha256Hex(rootKey);
    return equalInConstantTime(await sha256Hex(key), rootHash);
  };

  const check = async (text: string, rootKey: string): Promise<Loaded<KeyVerdict>> => {
    if (await isRoot(text, rootKey)) {
      const principal = { ...rootPrincipal, rootProof: await rootProof.current() };
      return { value: { principal, expiresAt: null }, ttlMs: limits.principalTtlMs };
    }
    const own = issued?.(await sha256Hex(text)) ?? null;
    if (own !== null) return toLoaded(own);
    if (isAccessToken(text)) return verifyAccess(text);
    const key = parseKey(text);
    if (key === null) throw unauthenticated('malformed', 'The key is neither the root key nor in the format mk_<workspace>_<id>_<secret>.');
    // Retired master keys, which are read only here, after a key failed the check of the others.
    const signer = (await signerOfKey(readingKeys(master), key)) ?? (await signerOfKey(await retired(), key));
    if (signer === null)
      throw unauthenticated(
        'forged',
        'The key was not issued by this installation: it is mistyped or cut off, or the master key has changed.',
      );
    return verify(key, signer);
  };

  const verify = async (key: ParsedKey, signer: MasterKey): Promise<Loaded<KeyVerdict>> => {
    const hash = await keyHash(signer, key);
    const verdict = await nullIfNotFound(callCatalog(env, key.workspace, 'verifyKey', [key.id, hash]));
    // The workspace was deleted.
    return toLoaded(verdict ?? { refused: 'unknown' });
  };

  const verifyAccess = async (text: string): Promise<Loaded<KeyVerdict>> => {
    const token = await openToken(master, text);
    if (token === null) throw unauthenticated('forged', 'The access token was not issued by this installation, or it is cut off.');
    const verdict = await nullIfNotFound(callCatalog(env, token.workspace, 'verifyToken', [token.inner]));
    // The workspace was deleted.
    return toLoaded(verdict ?? { refused: 'revoked' });
  };

  const toLoaded = (value: KeyVerdict): Loaded<KeyVerdict> => {
    if ('refused' in value) return { value, ttlMs: limits.missTtlMs };
    const left = value.expiresAt === null ? limits.principalTtlMs : value.expiresAt - clock.now();
    return { value, ttlMs: Math.max(0, Math.min(limits.principalTtlMs, left)) };
  };

  return {
    /** Invalidates the access tokens of a grant that was ended in this isolate. */
    invalidateGrant: (id: string) => verdicts.invalidateWhere((text) => isAccessToken(text) && text.includes(`.${id}.`)),
    /** Throws `unauthenticated` with the reason, and `not_configured` without a root key. `maxAgeMs`: an older cached verdict is loaded again. */
    principal: async (text: string, maxAgeMs?: number): Promise<Principal> => {
      if (settings.rootKey === null) throw missingRootKey();
      if (text === '') throw unauthenticated('missing', 'An API key is required: send `Authorization: Bearer <key>`.');
      // Checked before the key is hashed or cached, to limit the work for a long one.
      if (text.length > Math.max(limits.maxKeyBytes, settings.rootKey.length)) throw unauthenticated('malformed', 'The key is too long.');
      const { rootKey } = settings;
      const cached = verdicts.read(text, maxAgeMs);
      const refreshed = cached === undefined || !background ? null : verdicts.refresh(text, reverifyKeyMs, () => check(text, rootKey));
      if (refreshed !== null) background?.(refreshed);
      const verdict = cached ?? (await verdicts.load(text, () => check(text, rootKey), maxAgeMs));
      if ('principal' in verdict) return verdict.principal;
      throw unauthenticated(verdict.refused, refusals[verdict.refused]);
    },
    /** Invalidates a key of this workspace that was revoked in this isolate. */
    invalidate: (workspace: string, id: string) =>
      verdicts.invalidateWhere(
        (_key, verdict) => 'principal' in verdict && verdict.principal.workspace === workspace && verdict.principal.keyId === id,
      ),
  };
}

/** Only shown to holders of a key with a valid check. */
const refusals = {
  unknown: 'The key does not exist.',
  revoked: 'The key was revoked.',
  expired: 'The key has expired.',
  rotated: 'The key was rotated, and this earlier secret no longer works. Use the newest one.',
} as const;

function unauthenticated(reason: 'missing' | 'malformed' | 'forged' | keyof typeof refusals, detail: string): Problem {
  return new Problem('unauthenticated', detail, { reason });
}
