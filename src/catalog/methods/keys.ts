/** Methods for keys, their equipment, and the workspace's policy. */
import { limits } from '../../core/limits.ts';
import { readEquipment, setEquipment } from '../equipment.ts';
import { createKey, keyIsCancelled, keyRights, keyStands, listKeys, revokeKey, verifyKey } from '../keys.ts';
import { allow, readRules } from '../policy.ts';
import { removePrivateTools } from '../private-tools.ts';
import { spend } from '../spent.ts';
import type { MethodTable } from './works.ts';

export const keyMethods = {
  questions: {
    keys: ({ context }, page) => listKeys(context, page),
    verifyKey: ({ context }, id, hash) => verifyKey(context, id, hash),
    keyStands: ({ context }, id, scope) => keyStands(context, id, scope),
    keyIsCancelled: ({ context }, id) => keyIsCancelled(context, id),
    keyCancellation: ({ cancellations }, id) => cancellations.progress(id, limits.cancelWaitMs),
    keyRights: ({ context }, id) => keyRights(context, id),
    equipment: ({ context }, keyId) => readEquipment(context.sql, keyId),
    setEquipment: ({ context }, keyId, change) => setEquipment(context, keyId, change),
    spend: ({ context }, nonce, expiresAt) => spend(context, nonce, expiresAt),
    rules: ({ context }) => readRules(context.sql),
  },
  writes: {
    revokeKey: ({ context, by }, id, cancel) => {
      revokeKey(context, id, { by, cancel });
      context.transact(() => removePrivateTools(context, id));
      return null;
    },
    createKey: ({ context, by }, request) => createKey(context, request, by),
    allow: async ({ context, by }, rule) => {
      await allow(context, rule, by);
      return null;
    },
  },
} satisfies MethodTable;
