/**
 * Requests to the launcher's bridge to stdio servers (`local/stdio/`). They pass no guard: the URL is the launcher's, never a document's,
 * and only the bridge receives the token.
 */
import * as z from 'zod';
import { HostReport, hostReportPath } from '../core/host-report.ts';
import { KB } from '../core/limits/units.ts';
import { Problem } from '../core/problem.ts';
import type { Settings } from '../core/people/settings.ts';
import {
  changedPath,
  clockPath,
  endedPath,
  launcherHeader,
  processesPath,
  runHeader,
  ServerProcess,
  type SessionEnd,
} from '../core/servers/stdio.ts';
import { recordOf, tryParse } from '../core/json/wire-value.ts';
import type { StdioBridge } from '../ports/upstream.ts';
import type { SendOnce } from './outbound.ts';
import { readBounded } from './read-bounded.ts';

const maxFaultBytes = 8_000;
const maxProcessesBytes = 256 * KB;

/** Returns the bridge of a workspace; null if this installation has none. */
export function createStdioBridge({ launcher }: Pick<Settings, 'launcher'>, send: SendOnce): (workspace: string) => StdioBridge | null {
  if (launcher === null) return () => null;
  const { token, bridgeUrl: url } = launcher;
  return (workspace) => ({
    url,
    async processes() {
      const headers = { [launcherHeader]: token, [runHeader]: encodeURIComponent(JSON.stringify({ workspace })) };
      const signal = AbortSignal.timeout(noticeTimeoutMs);
      const response = await send(new Request(new URL(processesPath, url), { headers, signal }), true);
      const { bytes } = await readBounded(response, maxProcessesBytes);
      return z.array(ServerProcess).parse(tryParse(new TextDecoder().decode(bytes)));
    },
    async fetch(request, run) {
      const headers = new Headers(request.headers);
      headers.set(launcherHeader, token);
      headers.set(runHeader, encodeURIComponent(JSON.stringify({ ...run, workspace })));
      const response = await send(new Request(request, { headers }), true);
      if (response.status === 502) throw await faultOf(run.server, response);
      return response;
    },
  });
}

const noticeTimeoutMs = 2_000;

/**
 * Returns a function that notifies the launcher that programs may have to end: all whose documents were changed
 * (`local/stdio/program-check.ts`), or those of one session. Rejects if the notice is lost.
 */
export function createProgramNotice({ launcher }: Pick<Settings, 'launcher'>, send: SendOnce): (ended?: SessionEnd) => Promise<void> {
  if (launcher === null) return async () => undefined;
  return async (ended) => {
    const signal = AbortSignal.timeout(noticeTimeoutMs);
    const headers = { [launcherHeader]: launcher.token, ...(ended && { [runHeader]: encodeURIComponent(JSON.stringify(ended)) }) };
    const url = new URL(ended === undefined ? changedPath : endedPath, launcher.bridgeUrl);
    const response = await send(new Request(url, { method: 'POST', headers, signal }), true);
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the launcher returned ${response.status}`);
  };
}

/** Returns a function that asks the launcher about its machine; null if this installation has none. */
export function createHostQuestion({ launcher }: Pick<Settings, 'launcher'>, send: SendOnce): (() => Promise<HostReport>) | null {
  if (launcher === null) return null;
  return async () => {
    const signal = AbortSignal.timeout(noticeTimeoutMs);
    const headers = { [launcherHeader]: launcher.token };
    const response = await send(new Request(new URL(hostReportPath, launcher.bridgeUrl), { headers, signal }), true);
    const { bytes } = await readBounded(response, maxFaultBytes);
    return HostReport.parse(tryParse(new TextDecoder().decode(bytes)));
  };
}

/** Returns a function that asks the launcher what is wrong with the clock of the machine; null without one. */
export function createClockQuestion({ launcher }: Pick<Settings, 'launcher'>, send: SendOnce): (() => Promise<string | null>) | null {
  if (launcher === null) return null;
  return async () => {
    const signal = AbortSignal.timeout(noticeTimeoutMs);
    const response = await send(
      new Request(new URL(clockPath, launcher.bridgeUrl), { headers: { [launcherHeader]: launcher.token }, signal }),
      true,
    );
    const { bytes } = await readBounded(response, maxFaultBytes);
    if (!response.ok) throw new Error(`the launcher returned ${response.status}`);
    return z
      .string()
      .nullable()
      .parse(tryParse(new TextDecoder().decode(bytes)));
  };
}

async function faultOf(server: string, response: Response): Promise<Problem> {
  const { bytes } = await readBounded(response, maxFaultBytes);
  const { error, sent } = recordOf(tryParse(new TextDecoder().decode(bytes)));
  const what = typeof error === 'string' ? error : 'could not be called through the launcher.';
  return new Problem('upstream_error', `The server ${server} ${what}`, { server, retryable: false, ...(sent === false && { sent }) });
}
