/** What everything is built from: settings, time, ids, the log, the pools of the isolate, and the way to other hosts. */
import { readSettings } from '../core/people/settings.ts';
import type { CallDeps } from '../engine/call/call-scope.ts';
import { createPools } from '../engine/fair-pool.ts';
import { createHost } from '../engine/host.ts';
import { createInstanceName, createOutbound, hopHeader, refuseOwnHop, sendThrough } from '../net/outbound.ts';
import { openThrough } from '../net/unsent.ts';
import { createClockQuestion, createHostQuestion, createProgramNotice, createStdioBridge } from '../net/stdio-bridge.ts';
import type { Authorization } from '../mcp/authorization/authorization.ts';
import type { WaitUntil } from '../platform/background.ts';
import { createRuntime } from '../platform/runtime.ts';
import { trustClockBy } from '../platform/settled-clock.ts';
import { createAuditKey } from '../objects/shared/audit-chain.ts';
import type { Bindings } from '../storage/bindings.ts';
import { createMasterKey } from '../storage/keys/master-key.ts';
import type { IssuedKeys } from '../storage/published/principals.ts';

/**
 * What differs between runtimes. `background`: keeps work alive after the response; the caller does not wait for it, and it must not fail.
 * `authorization`: in place of the authorization server for MCP clients.
 */
export type WiringOptions = Pick<CallDeps, 'noApprovals'> & { background: WaitUntil; issued?: IssuedKeys; authorization?: Authorization };

export type RuntimeParts = ReturnType<typeof buildRuntime>;

export function buildRuntime(bindings: Bindings, { background, issued, noApprovals }: WiringOptions) {
  const settings = readSettings(bindings);
  const send = sendThrough(bindings);
  const runtime = createRuntime(settings, (request) => send(request, true), background);
  const { telemetry, log } = runtime;
  const instance = settings.masterKey === null ? null : createInstanceName(settings.masterKey);
  trustClockBy(createClockQuestion(settings, send));
  const noticePrograms = createProgramNotice(settings, send);
  return {
    settings,
    runtime,
    ...runtime,
    background,
    issued,
    noApprovals,
    host: createHost({ clock: runtime.clock, ask: createHostQuestion(settings, send) }),
    pools: createPools(runtime.clock, settings.maxOpenFiles),
    outbound: createOutbound(
      { ...settings, telemetry, ...(instance !== null && { instance }) },
      send,
      openThrough(bindings, runtime.clock),
    ),
    stdio: createStdioBridge(settings, send),
    master: createMasterKey(settings.masterKey, settings.previousMasterKey),
    sealing: createAuditKey(settings),
    /** Throws `loop_detected` for a request that this installation sent itself, under any host name. */
    async refuseLoop(headers: Headers): Promise<void> {
      if (instance !== null && headers.has(hopHeader)) refuseOwnHop(headers, await instance());
    },
    /** Notifies the launcher that servers, secrets or workspaces were changed. */
    programsChanged: (): Promise<void> =>
      noticePrograms().catch((error: unknown) =>
        log.error('the launcher was not notified of a change; it checks its programs regularly', { cause: String(error) }),
      ),
    /** Ends the processes of a session that has ended. Never rejects. */
    sessionEnded: (workspace: string, owner: string): Promise<void> =>
      noticePrograms({ workspace, owner }).catch((error: unknown) =>
        log.error('the processes of a session were not ended; they end once they are idle', {
          session: owner.split('.', 1)[0],
          cause: String(error),
        }),
      ),
  };
}
