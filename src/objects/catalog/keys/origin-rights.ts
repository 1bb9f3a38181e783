/** What a credential may do now that made something earlier (`Origin` in `core/people/principal.ts`). */
import { keyIdOfUser, type Origin, rootKeyId, Scope, userOfKeyId } from '../../../core/people/principal.ts';
import { isPossibleStart } from '../../../core/people/token-times.ts';
import type { KeyRights } from '../../../ports/catalog.ts';
import { createAuditKey } from '../../shared/audit-chain.ts';
import { createRootProof, type RootProof } from '../../../storage/keys/root-proof.ts';
import type { CatalogContext } from '../context.ts';
import { memberSince } from '../documents/members.ts';
import { findKey, previousSecrets } from './key-rows.ts';
import { keyRights } from './keys.ts';

/**
 * Returns null if the credential has ended: the key was revoked, has expired, or its secret of that time no longer works; the person is not a
 * member any more, also if they became one again; or the root key has changed.
 */
export async function originRights(context: CatalogContext, origin: Origin): Promise<KeyRights | null> {
  const { keyId, at, rootProof } = origin;
  if (!isPossibleStart(at, context.now())) return null;
  if (isRoot(keyId)) return (await rootProofOf(context).isCurrent(rootProof)) ? { scopes: Scope.options } : null;
  const user = userOfKeyId(keyId);
  if (user !== null && (memberSince(context, user) ?? Number.POSITIVE_INFINITY) > at) return null;
  return user === null && hasSecretEnded(context, keyId, at) ? null : keyRights(context, keyId);
}

/** Also of an access token of the person who has the root key. */
function isRoot(keyId: string): boolean {
  return keyId === rootKeyId || keyId === keyIdOfUser(rootKeyId);
}

export function rootProofOf({ settings }: CatalogContext): RootProof {
  return createRootProof(createAuditKey(settings), settings);
}

/** Which secret was used is not known: until the last one of that time has ended, it may be that. */
function hasSecretEnded({ sql, now }: CatalogContext, keyId: string, at: number): boolean {
  const row = findKey(sql, keyId);
  return row !== null && row.rotated_at !== null && at < row.rotated_at && previousSecrets(row, now()).length === 0;
}
