/** Handlers of keys with their equipment, rules and sessions, and of the records of calls. */
import { once } from '../../../core/memoize.ts';
import { limits } from '../../../core/limits/limits.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import { checkLog } from '../../shared/audit-chain.ts';
import { readLog } from '../../shared/audit-log.ts';
import { readEquipment, setEquipment } from '../toolsets/equipment.ts';
import { memberRights, setMembersOf, signedInState } from '../documents/members.ts';
import { createKey, isKeyCancelled, limitedHoldersOf, keyRights, listKeys, patchKey, readKey, revokeKey, verifyKey } from '../keys/keys.ts';
import { knowHosts } from '../documents/known-hosts.ts';
import { allowWithRules } from '../documents/policy.ts';
import { originRights } from '../keys/origin-rights.ts';
import { removePrivateTools } from '../tools/private-tools.ts';
import type { CatalogContext } from '../context.ts';
import { type CatalogHandlers, ofContext } from './catalog-handlers.ts';
import { recordChange, shardHeads, signedChangeLog, storeShardHead } from '../records/audit.ts';
import { admitOpenWork, questionsByKey } from '../records/open-work.ts';
import { forgetSession, indexSession, listSessions, updateSession } from '../records/session-index.ts';
import { addTaintMarks, readTaintMarks } from '../records/taint-marks.ts';

/** Loaded when an MCP client or its user needs them. */
const grants = async () => await import('../grants/grants.ts');

export const keyHandlers = {
  ...ofContext({
    ...{ keys: listKeys, key: readKey, verifyKey, keyRights, originRights, isKeyCancelled, limitedHolders: limitedHoldersOf, consumeNonce },
    ...{ memberRights, signedInState, setMembersOf, setEquipment, taintMarks: readTaintMarks, addTaintMarks },
    ...{ sessions: listSessions, indexSession, forgetSession, updateSession, admitOpenWork, questionsByKey },
    ...{ auditHeads: shardHeads, storeAuditHead: storeShardHead, readAudit: readLog },
  }),
  keyCancellation: ({ cancellations }, id) => cancellations.progress(id, limits.cancelWaitMs),
  verifyToken: async ({ context }, inner) => await (await grants()).verifyToken(context, inner),
  grantAccess: async ({ context }, user, request, rootProof) => await (await grants()).grantAccess(context, user, request, rootProof),
  redeemToken: async ({ context }, request) => await (await grants()).redeemToken(context, request),
  grants: async ({ context }, page, userId) => await (await grants()).listGrants(context, page, userId),
  endGrant: async ({ context, by }, id, userId) => (await grants()).endGrant(context, id, userId, by),
  equipment: ({ context }, keyId) => readEquipment(context.sql, keyId),
  revokeKey: ({ context, by }, id, options) => {
    revokeKey(context, id, { by, cancel: options?.cancel === true });
    context.transact(() => removePrivateTools(context, id));
  },
  createKey: ({ context, by }, request) => createKey(context, request, by),
  patchKey: ({ context, by }, id, patch) => patchKey(context, id, patch, by),
  rotateKey: async ({ context, by }, id, overlapMs) => (await import('../keys/rotate-key.ts')).rotateKey(context, id, { by, overlapMs }),
  // Of one object, and rarely used.
  masterKeyState: async ({ context }) => await (await import('../keys/reseal-state.ts')).readMasterKeyState(context),
  startReseal: async ({ context, by }) => {
    const { readMasterKeyState, startReseal } = await import('../keys/reseal-state.ts');
    await startReseal(context, by);
    return await readMasterKeyState(context);
  },
  resealSome: async ({ context, reseals }, position) => await (await import('../keys/reseal.ts')).resealSome(context, reseals, position),
  addRule: ({ context, by }, ...rules) => allowWithRules(context, rules, by),
  knowHosts: ({ context, by }, hosts) => knowHosts(context, hosts, by),
  replays: async ({ context }, filter, page) => (await loadReplayIndex()).listReplays(context, filter, page),
  admitReplay: async ({ context, by }, replay) => (await loadReplayIndex()).admitReplay(context, by, replay),
  knownSessions: async ({ context }, ids) => (await loadReplayIndex()).knownSessions(context, ids),
  noteProviderItems: async ({ context, by }, items) => (await loadProviderItems()).noteProviderItems(context, by, items),
  providerItems: async ({ context, by }, query) => (await loadProviderItems()).listProviderItems(context, by, query),
  waits: async ({ context }, filter, page) => (await import('../records/list-waits.ts')).listWaits(context, filter, page),
  recordErasure: ({ context, by }, name) => context.record(() => recordChange(context, { by, action: 'erase', resource: 'cache', name })),
  checkAudit: ({ context }, request) => checkLog(signedChangeLog(context), request),
} satisfies Partial<CatalogHandlers>;

/** Most workspaces have no replays. */
const loadReplayIndex = once(() => import('../records/replay-index.ts'));
/** And no batches. */
const loadProviderItems = once(() => import('../records/provider-items.ts'));

/** Uses up the nonce of an approval that a client carries (`requestState`), or of a sign-in. Returns true the first time. */
function consumeNonce({ sql, now }: CatalogContext, nonce: string, expiresAt: number): boolean {
  // With a clock that is ahead, it could be used again when the clock is set back.
  if (wasClockSettled()) sql.exec('DELETE FROM spent WHERE expires_at < ?', now());
  return sql.exec('INSERT OR IGNORE INTO spent (nonce, expires_at) VALUES (?, ?) RETURNING nonce', nonce, expiresAt).toArray().length > 0;
}
