/** Decrypts the secrets of a stored webhook and compiles it. Used by `directory.ts`; cached by `hook-cache.ts`. */
import { Problem } from '../core/problem.ts';
import { compileHook, type CompiledHook } from '../core/triggers/compiled-hook.ts';
import type { WebhookSecrets } from '../core/triggers/webhook.ts';
import type { SealedHook } from './catalog-methods.ts';
import type { MasterKey } from './master-key.ts';
import { openValue } from './secret-box.ts';

/** Throws `internal` for a webhook that cannot be decrypted or compiled; the reason is in the cause. */
export async function openHook(master: MasterKey, workspace: string, name: string, stored: SealedHook): Promise<CompiledHook> {
  try {
    const text = await openValue(master, { workspace, kind: 'webhook', name }, stored.sealed);
    // Only the writer of webhooks seals values of this kind.
    const { secrets } = JSON.parse(text) as WebhookSecrets;
    return compileHook(stored, secrets);
  } catch (cause) {
    // The reason is not returned to the sender of the delivery.
    throw new Problem(
      'internal',
      'This delivery cannot be checked because of an internal error. The service log has the reason.',
      {},
      { cause },
    );
  }
}
