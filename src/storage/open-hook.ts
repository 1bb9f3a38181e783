/** A stored webhook made ready to judge what is sent to it: its secrets opened, its verifier built. Used by `directory.ts`; kept by `hook-cache.ts`. */
import { Problem } from '../core/problem.ts';
import { compileHook } from '../core/triggers/compile-hook.ts';
import type { CompiledHook } from '../core/triggers/compiled-hook.ts';
import type { WebhookSecrets } from '../core/triggers/webhook.ts';
import type { SealedHook } from './catalog-rpc.ts';
import type { MasterKey } from './master-key.ts';
import { openValue } from './secret-box.ts';

/** `internal` for one that does not open or cannot be compiled; why is in its cause. */
export async function openHook(master: MasterKey, workspace: string, name: string, stored: SealedHook): Promise<CompiledHook> {
  try {
    const text = await openValue(master, { workspace, kind: 'webhook', name }, stored.sealed);
    // Sealed by the writer of webhooks only.
    const { secrets } = JSON.parse(text) as WebhookSecrets;
    return compileHook(stored, secrets);
  } catch (cause) {
    // What is wrong with it is not for whoever sends to it.
    throw new Problem('internal', 'This delivery cannot be judged: the log says why.', {}, { cause });
  }
}
