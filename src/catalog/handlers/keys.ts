/** Handlers of keys, their equipment, and the workspace's policy. */
import { limits } from '../../core/limits.ts';
import { readEquipment, setEquipment } from '../toolsets/equipment.ts';
import { createKey, isKeyCancelled, keyRights, isKeyActive, listKeys, readKey, revokeKey, verifyKey } from '../keys/keys.ts';
import { allowWithRule, readRules } from '../documents/policy.ts';
import { removePrivateTools } from '../tools/private-tools.ts';
import { consumeNonce } from '../records/used-nonces.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

export const keyHandlers = {
  keys: ({ context }, page) => listKeys(context, page),
  key: ({ context }, id) => readKey(context, id),
  verifyKey: ({ context }, id, hash) => verifyKey(context, id, hash),
  isKeyActive: ({ context }, id, scope) => isKeyActive(context, id, scope),
  isKeyCancelled: ({ context }, id) => isKeyCancelled(context, id),
  keyCancellation: ({ cancellations }, id) => cancellations.progress(id, limits.cancelWaitMs),
  keyRights: ({ context }, id) => keyRights(context, id),
  equipment: ({ context }, keyId) => readEquipment(context.sql, keyId),
  setEquipment: ({ context }, keyId, change) => setEquipment(context, keyId, change),
  consumeNonce: ({ context }, nonce, expiresAt) => consumeNonce(context, nonce, expiresAt),
  rules: ({ context }) => readRules(context.sql),
  revokeKey: ({ context, by }, id, options) => {
    revokeKey(context, id, { by, cancel: options?.cancel === true });
    context.transact(() => removePrivateTools(context, id));
  },
  createKey: ({ context, by }, request) => createKey(context, request, by),
  addRule: async ({ context, by }, rule) => {
    await allowWithRule(context, rule, by);
  },
} satisfies Partial<CatalogHandlers>;
