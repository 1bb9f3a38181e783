/** A signed delivery to a webhook that is not stored and starts nothing: whether the next real one would be accepted, and get its turn. */
import { Problem } from '../../core/problem.ts';
import { triggerPrincipal } from '../../core/triggers/trigger-principal.ts';
import type { Directory } from '../../ports/directory.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { DispatchDeps } from './dispatch-run.ts';

export type TryDeps = { directory: Pick<Directory, 'hook'>; clock: Clock } & Pick<DispatchDeps, 'planTurn'>;

/**
 * Signs an event with the webhook's secret, checks it with the published webhook as `receiveDelivery` does, and plans the turn of its agent.
 * Returns why it would be refused or fail; null: it would not.
 */
export async function tryDelivery({ directory, clock, planTurn }: TryDeps, workspace: string, name: string): Promise<string | null> {
  try {
    const hook = await directory.hook(workspace, name);
    if (hook === null) return 'Deliveries find no such webhook: its published copy is missing.';
    const [now, body] = [clock.now(), new TextEncoder().encode('{"moniker":"test"}')];
    const headers = await hook.sign({ id: 'test', seconds: String(Math.floor(now / 1_000)), body });
    const verdict = await hook.verify({ header: (header) => headers[header] ?? null, body, now });
    if (!verdict.valid) return `Its own signature is refused: ${verdict.reason}.`;
    await hook.templates();
    const { agent } = hook.webhook;
    await planTurn(triggerPrincipal(workspace, { kind: 'webhook', name }, agent), { agent });
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // The webhook's secrets cannot be opened.
    return error.cause === undefined ? error.detail : `${error.detail} (${String(error.cause)})`;
  }
}
