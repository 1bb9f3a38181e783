/** Keys, what they have equipped, and what the workspace has allowed. */
import { readEquipment, setEquipment } from '../equipment.ts';
import { createKey, keyRights, keyStands, listKeys, revokeKey, verifyKey } from '../keys.ts';
import { allow, readRules } from '../policy.ts';
import { removePrivateTools } from '../private-tools.ts';
import { spend } from '../spent.ts';
import type { MethodTable } from './works.ts';

export const keyMethods = {
  questions: {
    keys: ({ context }, page) => listKeys(context, page),
    revokeKey: ({ context }, id) => {
      revokeKey(context, id);
      context.transact(() => removePrivateTools(context, id));
      return null;
    },
    verifyKey: ({ context }, id, hash) => verifyKey(context, id, hash),
    keyStands: ({ context }, id, scope) => keyStands(context, id, scope),
    keyRights: ({ context }, id) => keyRights(context, id),
    equipment: ({ context }, keyId) => readEquipment(context.sql, keyId),
    setEquipment: ({ context }, keyId, change) => setEquipment(context, keyId, change),
    spend: ({ context }, nonce, expiresAt) => spend(context, nonce, expiresAt),
    rules: ({ context }) => readRules(context.sql),
  },
  writes: {
    createKey: ({ context }, request) => createKey(context, request),
    allow: async ({ context }, rule) => {
      await allow(context, rule);
      return null;
    },
  },
} satisfies MethodTable;
