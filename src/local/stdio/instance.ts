/**
 * One process of a program, for one owner or for all: its start, with the reason if it fails, and the pauses before it is started again.
 * `running-servers.ts` decides which processes there are.
 */
import { backoffMs } from '../../core/limits/backoff.ts';
import type { StdioRun } from '../../core/servers/stdio.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { CommandFault } from './child.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import type { ServerLog } from './server-log.ts';
import { SharedServer } from './shared-server.ts';

/** A package runner may download the server first. */
const startTimeoutMs = 180_000;
const restartPauses = { firstMs: 1_000, maxMs: 5 * 60_000 };
/** Of what a command printed before it failed, at its beginning and its end. */
const maxPrintedEdge = 350;
/** A process that ran this long did not fail at its start. */
const stableMs = 60_000;

/** Why a request was not served: what is wrong, and what to do. The text continues "The server NAME …". */
export class BridgeFault extends Error {
  override name = 'BridgeFault';
}

/** Failures in a row, and the pause after the last one. Times are milliseconds since the epoch. */
export type Pauses = { failures: number; until: number; why: string };

export function noPauses(): Pauses {
  return { failures: 0, until: 0, why: '' };
}

export type Instance = {
  /** null: all share it, or it is the spare one. */
  owner: string | null;
  log: ServerLog;
  server: SharedServer | null;
  starting: Promise<SharedServer> | null;
  startedAt: number;
  usedAt: number;
  /** After it has crashed. */
  pauses: Pauses;
};

/** Returns the running server, or the one that starts. `starts`: the pauses of the program, whose other processes may fail to start, too. */
export function startInstance(instance: Instance, run: StdioRun, environment: ProgramEnvironment, starts: Pauses): Promise<SharedServer> {
  if (instance.starting !== null) return instance.starting;
  const starting = start(instance, run, environment, starts);
  instance.starting = starting;
  starting.catch(() => {
    if (instance.starting === starting) instance.starting = null;
  });
  return starting;
}

async function start(instance: Instance, run: StdioRun, environment: ProgramEnvironment, starts: Pauses): Promise<SharedServer> {
  const { why, until } = starts.until > instance.pauses.until ? starts : instance.pauses;
  const pauseMs = until - Date.now();
  if (pauseMs > 0) throw new BridgeFault(`${why} It is not started again for ${Math.ceil(pauseMs / 1000)} s.`);
  const { log } = instance;
  const onExit = (how: string): void => exited(instance, server, how);
  const server = new SharedServer(run, environment, { onLog: (line) => log.add(line), onExit });
  Object.assign(instance, { server, startedAt: Date.now() });
  log.forget();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void server.end();
  }, startTimeoutMs);
  try {
    await server.start();
    Object.assign(starts, noPauses());
    return server;
  } catch (error) {
    if (instance.server === server) instance.server = null;
    throw await startFailure(instance, server, starts, isLate ? `did not start within ${startTimeoutMs / 1000} s` : null, error);
  } finally {
    clearTimeout(timer);
  }
}

async function startFailure(
  { log }: Instance,
  server: SharedServer,
  starts: Pauses,
  late: string | null,
  error: unknown,
): Promise<BridgeFault> {
  if (error instanceof CommandFault) return new BridgeFault(`cannot be started: ${error.message}`);
  if (late === null && server.isEnding) return new BridgeFault('was ended while it started. Call it again.');
  // One that rejected the handshake still runs.
  await server.end();
  const how = late ?? (error instanceof Error ? error.message : String(error));
  const printed = shortened(log.lines().join(' '));
  return new BridgeFault(pause(starts, `${how} before it was ready.${printed === '' ? '' : ` It printed: ${printed}`}`));
}

/** Package runners print the error first, programs last. */
function shortened(printed: string): string {
  if (printed.length <= 2 * maxPrintedEdge) return printed;
  return `${printed.slice(0, maxPrintedEdge).toWellFormed()} … ${printed.slice(-maxPrintedEdge).toWellFormed()}`;
}

function exited(instance: Instance, server: SharedServer, how: string): void {
  if (!server.isEnding) instance.log.note(`(the process ${how})`);
  // Otherwise it was ended, or `start` handles the failure.
  if (instance.server !== server || !server.isReady) return;
  Object.assign(instance, { server: null, starting: null });
  if (Date.now() - instance.startedAt < stableMs) pause(instance.pauses, `${how}.`);
  else instance.pauses = noPauses();
}

function pause(pauses: Pauses, why: string): string {
  pauses.failures += 1;
  pauses.why = why;
  pauses.until = Date.now() + backoffMs(restartPauses, pauses.failures);
  return why;
}

export async function endInstance(instance: Instance): Promise<void> {
  const { server } = instance;
  Object.assign(instance, { server: null, starting: null });
  await server?.end();
}

/** Returns the server when it has started. Throws `BridgeFault` after `ms`; the start continues. */
export async function startedInTime(starting: Promise<SharedServer>, ms: number): Promise<SharedServer> {
  // If it fails later, the next request receives the failure.
  return await withTimeout(systemClock, starting, ms, () => {
    const text = `is still starting after ${Math.round(ms / 1000)} s: a package runner may be downloading it. Refresh it in a moment.`;
    throw new BridgeFault(text);
  });
}
