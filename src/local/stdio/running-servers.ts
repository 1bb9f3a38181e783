/**
 * The stdio servers that run: one process for each different run (command, secrets, workspace), started at its first use. A server that
 * fails is restarted with increasing pauses; one that is not used is ended.
 */
import { backoffMs } from '../../core/limits/backoff.ts';
import type { StdioRun } from '../../core/servers/stdio.ts';
import { programKey } from '../../core/servers/stdio-run.ts';
import { CommandFault } from './child.ts';
import { createProgramCheck, type FindUnwanted } from './program-check.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import { createServerLog, type ServerLog } from './server-log.ts';
import { type BridgeSession, SharedServer } from './shared-server.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';

const maxProcesses = 64;
/** Runs whose last failure is remembered. */
const maxRuns = 500;
const idleMs = 30 * 60_000;
/** Of a program that was started for a test of a document that is not stored. */
const idleTestMs = 5 * 60_000;
const sweepMs = 30_000;
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

type Entry = {
  run: StdioRun;
  log: ServerLog;
  server: SharedServer | null;
  starting: Promise<SharedServer> | null;
  /** Milliseconds since the epoch, as all times here. */
  startedAt: number;
  usedAt: number;
  /** Consecutive failures at the start. */
  failures: number;
  pausedUntil: number;
  failure: string | null;
};

export type RunningServers = ReturnType<typeof createRunningServers>;

/** `onLog`: lines for the log of the launcher. `unwanted`: asks the service. */
export type Surroundings = { onLog(line: string): void; unwanted: FindUnwanted; environment: ProgramEnvironment };

export function createRunningServers(token: string, { onLog, unwanted, environment }: Surroundings) {
  const entries = new Map<string, Entry>();
  const keyOf = (run: StdioRun): string => programKey(run, token);
  const programs = createProgramCheck({
    ...{ find: unwanted, onLog },
    running: () =>
      Array.from(entries)
        .filter(([, { server, run }]) => server !== null && run.version !== 0)
        .map(
          ([
            key,
            {
              run: { workspace, server },
            },
          ]) => ({ workspace, server, key }),
        ),
    end: (key) => {
      const entry = entries.get(key);
      if (entry !== undefined) void end(entry);
    },
  });
  const sweeping = setInterval(() => sweep(entries), sweepMs).unref();
  let isClosed = false;
  return {
    /** Returns the server, initialized. Throws `BridgeFault`. */
    async use(run: StdioRun): Promise<SharedServer> {
      if (isClosed) throw new BridgeFault('cannot be started: Moniker is stopping.');
      const entry = entryOf(entries, keyOf(run), run, onLog);
      retireOthers(entries, entry);
      if (entry.starting !== null) return await inTime(entry.starting, run.startMs);
      const starting = begin(entries, entry, environment);
      programs.check();
      return await inTime(starting, run.startMs);
    },
    /** Servers or secrets were changed: programs that are no longer wanted end, and those that tests have left. */
    check(): void {
      for (const entry of entries.values())
        if (entry.run.version === 0 && entry.server?.isReady === true && entry.server.sessions.size === 0) void end(entry);
      programs.check();
    },
    /** Returns an open session of this run, or null: with another secret, for example, the Worker must open another session. */
    find(run: StdioRun, sessionId: string): { server: SharedServer; session: BridgeSession } | null {
      const entry = entries.get(keyOf(run));
      const session = entry?.server?.sessions.get(sessionId);
      if (entry == null || entry.server === null || session === undefined) return null;
      entry.usedAt = Date.now();
      return { server: entry.server, session };
    },
    /** Ends a session; and the process, if it was only for a test. */
    closeSession(server: SharedServer, session: BridgeSession): void {
      server.closeSession(session);
      const entry = [...entries.values()].find((one) => one.server === server);
      if (entry?.run.version === 0 && server.sessions.size === 0) end(entry);
    },
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(sweeping);
      programs.close();
      await Promise.all([...entries.values()].map(async (entry) => await end(entry)));
    },
  };
}

function entryOf(entries: Map<string, Entry>, key: string, run: StdioRun, onLog: (line: string) => void): Entry {
  const known = entries.get(key);
  if (known !== undefined) {
    known.run = { ...run, version: Math.max(run.version, known.run.version) };
    known.usedAt = Date.now();
    return known;
  }
  if (entries.size >= maxRuns) {
    const unused = [...entries].find(([, { starting }]) => starting === null);
    if (unused !== undefined) entries.delete(unused[0]);
  }
  const state = { server: null, starting: null, startedAt: 0, failures: 0, pausedUntil: 0, failure: null };
  const entry: Entry = { run, ...state, usedAt: Date.now(), log: createServerLog(run.server, run.hidden, onLog) };
  entries.set(key, entry);
  return entry;
}

/** Ends the processes of earlier documents of the server. A request of an isolate with an old document starts the old command again. */
function retireOthers(entries: ReadonlyMap<string, Entry>, { run }: Entry): void {
  if (run.version === 0) return;
  for (const entry of entries.values()) {
    const isOther = entry.run !== run && entry.run.workspace === run.workspace && entry.run.server === run.server;
    if (isOther && entry.run.version <= run.version && entry.run.version !== 0) void end(entry);
  }
}

function begin(entries: ReadonlyMap<string, Entry>, entry: Entry, environment: ProgramEnvironment): Promise<SharedServer> {
  const starting = start(entries, entry, environment);
  entry.starting = starting;
  starting.catch(() => {
    if (entry.starting === starting) entry.starting = null;
  });
  return starting;
}

async function start(entries: ReadonlyMap<string, Entry>, entry: Entry, environment: ProgramEnvironment): Promise<SharedServer> {
  const pauseMs = entry.pausedUntil - Date.now();
  if (pauseMs > 0) throw new BridgeFault(`${entry.failure ?? 'failed'} It is not started again for ${Math.ceil(pauseMs / 1000)} s.`);
  const running = [...entries.values()].filter(({ server }) => server !== null).length;
  if (running >= maxProcesses) throw new BridgeFault(`cannot be started: ${maxProcesses} commands are running, which is the limit.`);
  const { run, log } = entry;
  const server = new SharedServer(run, environment, { onLog: (line) => log.add(line), onExit: (how) => exited(entry, server, how) });
  entry.server = server;
  entry.startedAt = Date.now();
  log.forget();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void server.end();
  }, startTimeoutMs);
  try {
    await server.start();
    return server;
  } catch (error) {
    if (entry.server === server) entry.server = null;
    throw await startFailure(entry, server, isLate ? `did not start within ${startTimeoutMs / 1000} s` : null, error);
  } finally {
    clearTimeout(timer);
  }
}

async function startFailure(entry: Entry, server: SharedServer, late: string | null, error: unknown): Promise<BridgeFault> {
  if (error instanceof CommandFault) return new BridgeFault(`cannot be started: ${error.message}`);
  if (late === null && server.isEnding) return new BridgeFault('was ended while it started. Call it again.');
  // One that rejected the handshake still runs.
  await server.end();
  const how = late ?? (error instanceof Error ? error.message : String(error));
  const printed = shortened(entry.log.lines().join(' '));
  return new BridgeFault(pause(entry, `${how} before it was ready.${printed === '' ? '' : ` It printed: ${printed}`}`));
}

/** Package runners print the error first, programs last. */
function shortened(printed: string): string {
  if (printed.length <= 2 * maxPrintedEdge) return printed;
  return `${printed.slice(0, maxPrintedEdge).toWellFormed()} … ${printed.slice(-maxPrintedEdge).toWellFormed()}`;
}

function exited(entry: Entry, server: SharedServer, how: string): void {
  if (!server.isEnding) entry.log.note(`(the process ${how})`);
  // Otherwise it was ended, or `start` handles the failure.
  if (entry.server !== server || !server.isReady) return;
  entry.server = null;
  entry.starting = null;
  if (Date.now() - entry.startedAt < stableMs) pause(entry, `${how}.`);
  else Object.assign(entry, { failures: 0, failure: null });
}

function pause(entry: Entry, failure: string): string {
  entry.failure = failure;
  entry.failures += 1;
  entry.pausedUntil = Date.now() + backoffMs(restartPauses, entry.failures);
  return failure;
}

async function end(entry: Entry): Promise<void> {
  if (entry.server === null) return;
  const { server } = entry;
  entry.server = null;
  entry.starting = null;
  // Its next use says again whether its document is stored.
  entry.run = { ...entry.run, version: 0 };
  await server.end();
}

function sweep(entries: ReadonlyMap<string, Entry>): void {
  for (const entry of entries.values()) {
    const before = Date.now() - (entry.run.version === 0 ? idleTestMs : idleMs);
    const isWatched = [...(entry.server?.sessions.values() ?? [])].some(({ streams }) => streams.size > 0);
    if (entry.server?.isBusy === true || isWatched) entry.usedAt = Date.now();
    else if (entry.usedAt < before) void end(entry);
  }
}

async function inTime(starting: Promise<SharedServer>, ms: number): Promise<SharedServer> {
  // If it fails later, the next request receives the failure.
  return await withTimeout(systemClock, starting, ms, () => {
    const text = `is still starting after ${Math.round(ms / 1000)} s: a package runner may be downloading it. Refresh it in a moment.`;
    throw new BridgeFault(text);
  });
}
