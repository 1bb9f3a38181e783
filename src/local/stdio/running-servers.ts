/**
 * The programs of stdio servers that run: one for each different run (command, secrets, workspace), with a process for each owner, or one
 * for all. A process starts at its first use; one that is not used is ended. Owners get a spare process, which has started before.
 */
import type { HostReport } from '../../core/host-report.ts';
import type { ServerProcess, StdioCaller, StdioRun } from '../../core/servers/stdio.ts';
import { programKey } from '../../core/servers/stdio-run.ts';
import { BridgeFault, endInstance, type Instance, noPauses, type Pauses, startedInTime, startInstance } from './instance.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import { createProgramCheck, type FindUnwanted } from './program-check.ts';
import { createServerLog } from './server-log.ts';
import type { BridgeSession } from './bridge-sessions.ts';
import type { SharedServer } from './shared-server.ts';

const maxProcesses = 64;
/** Of one program, besides the spare one. Of more owners, the one whose process was unused for longest loses it. */
export const maxOwners = 16;
/** Programs whose failures are remembered; also owners of one program. */
const maxPrograms = 500;
const idleMs = 30 * 60_000;
/** Of a program that was started for a test of a document that is not stored. */
const idleTestMs = 5 * 60_000;
const sweepMs = 30_000;

type Program = {
  run: StdioRun;
  /** By owner; '' has the process of nobody: the shared or the spare one. */
  instances: Map<string, Instance>;
  /** After processes that did not start. */
  starts: Pauses;
  usedAt: number;
};

export type RunningServers = ReturnType<typeof createRunningServers>;

/** `onLog`: lines for the log of the launcher. `unwanted`: asks the service. */
/** `host`: a new report of the machine, for the Worker. */
export type Surroundings = {
  onLog(line: string): void;
  unwanted: FindUnwanted;
  environment: ProgramEnvironment;
  host(): HostReport;
};

export function createRunningServers(token: string, { onLog, unwanted, environment }: Omit<Surroundings, 'host'>) {
  const programs = new Map<string, Program>();
  const keyOf = (run: StdioRun): string => programKey(run, token);
  const check = createProgramCheck({
    ...{ find: unwanted, onLog },
    running: () =>
      [...programs]
        .filter(([, program]) => program.run.version !== 0 && running(program).length > 0)
        .map(([key, { run }]) => ({ workspace: run.workspace, server: run.server, key })),
    end: (key) => {
      const program = programs.get(key);
      if (program !== undefined) void endProgram(program);
    },
  });
  const start = (program: Program, instance: Instance): Promise<SharedServer> => {
    const isNew = instance.starting === null;
    const starting = startInstance(instance, program.run, environment, program.starts);
    if (isNew) check.check();
    return starting;
  };
  /** So that the next owner need not wait for a package runner. */
  const startSpare = (program: Program): void => {
    if (isClosed || program.instances.get('')?.starting != null || countAll(programs) >= maxProcesses) return;
    const spare = program.instances.get('') ?? addInstance(program, null, onLog);
    // The next owner starts one, and gets the reason if it fails again.
    start(program, spare).catch((error: unknown) =>
      spare.log.note(`(no spare process: it ${error instanceof Error ? error.message : String(error)})`),
    );
  };
  const sweeping = setInterval(() => sweep(programs), sweepMs).unref();
  let isClosed = false;
  return {
    /** Returns the server of the caller, initialized. Throws `BridgeFault`. */
    async use(run: StdioRun, { owner, isListening, startMs }: StdioCaller): Promise<SharedServer> {
      if (isClosed) throw new BridgeFault('cannot be started: Moniker is stopping.');
      const program = programOf(programs, keyOf(run), run);
      retireOthers(programs, program);
      // Without a process of its own, a listener waits at the one of nobody.
      const target = isListening === true && !program.instances.has(owner ?? '') ? null : owner;
      const known = program.instances.get(target ?? '');
      if (known?.server == null) makeRoom(programs, program, target);
      const instance = known ?? claimSpare(program, target) ?? addInstance(program, target, onLog);
      instance.usedAt = Date.now();
      const server = await startedInTime(start(program, instance), startMs);
      if (instance.owner !== null) startSpare(program);
      return server;
    },
    /** Servers or secrets were changed: programs that are no longer wanted end, and those that tests have left. */
    check(): void {
      for (const program of programs.values()) endUnusedTest(program);
      check.check();
    },
    /** A session has ended: nothing can use its processes any more. Those of keys and the shared ones continue. */
    endSession(workspace: string, owner: string): void {
      for (const program of programs.values()) {
        const { run, instances } = program;
        const instance = run.workspace === workspace && run.instances === 'session' ? instances.get(owner) : undefined;
        if (instance?.owner === owner) void endOne(program, instance);
      }
    },
    /** Returns an open session of this run, or null: with another secret, for example, the Worker must open another session. */
    find(run: StdioRun, sessionId: string): { server: SharedServer; session: BridgeSession } | null {
      const program = programs.get(keyOf(run));
      for (const instance of program?.instances.values() ?? []) {
        const session = instance.server?.sessions.get(sessionId);
        if (program === undefined || instance.server === null || session === undefined) continue;
        program.usedAt = instance.usedAt = Date.now();
        return { server: instance.server, session };
      }
      return null;
    },
    /** Ends a session; and the program, if it was only for a test. */
    closeSession(server: SharedServer, session: BridgeSession): void {
      server.closeSession(session);
      for (const program of programs.values()) if (running(program).some((one) => one.server === server)) endUnusedTest(program);
    },
    list: (workspace: string): ServerProcess[] =>
      [...programs.values()].filter(({ run }) => run.workspace === workspace).flatMap((program) => running(program).map(toShown(program))),
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(sweeping);
      check.close();
      await Promise.all([...programs.values()].map(endProgram));
    },
  };
}

function programOf(programs: Map<string, Program>, key: string, run: StdioRun): Program {
  const known = programs.get(key);
  if (known !== undefined) {
    known.run = { ...run, version: Math.max(run.version, known.run.version) };
    known.usedAt = Date.now();
    return known;
  }
  if (programs.size >= maxPrograms) {
    const unused = [...programs].find(([, program]) => running(program).length === 0);
    if (unused !== undefined) programs.delete(unused[0]);
  }
  const program: Program = { run, instances: new Map(), starts: noPauses(), usedAt: Date.now() };
  programs.set(key, program);
  return program;
}

/** Ends the processes of earlier documents of the server. A request of an isolate with an old document starts the old command again. */
function retireOthers(programs: ReadonlyMap<string, Program>, { run }: Program): void {
  if (run.version === 0) return;
  for (const program of programs.values()) {
    const isOther = program.run !== run && program.run.workspace === run.workspace && program.run.server === run.server;
    if (isOther && program.run.version <= run.version && program.run.version !== 0) void endProgram(program);
  }
}

function addInstance({ run, instances }: Program, owner: string | null, onLog: (line: string) => void): Instance {
  if (instances.size >= maxPrograms) {
    const ended = [...instances.values()].find(({ server }) => server === null);
    if (ended !== undefined) instances.delete(ended.owner ?? '');
  }
  const log = createServerLog(run.server, run.hidden, onLog);
  const instance = { owner, log, server: null, starting: null, startedAt: 0, usedAt: Date.now(), pauses: noPauses() };
  instances.set(owner ?? '', instance);
  return instance;
}

/**
 * Returns the spare process of the program, from now on the owner's; undefined: there is none. It has listed, and called nothing. Those who
 * listened to it come again: the owner to this process, others to the next spare one.
 */
function claimSpare({ instances }: Program, owner: string | null): Instance | undefined {
  const spare = instances.get('');
  if (owner === null || spare === undefined || spare.server === null) return undefined;
  instances.delete('');
  spare.owner = owner;
  instances.set(owner, spare);
  for (const session of [...spare.server.sessions.values()])
    if (session.owner !== null && session.owner !== owner) spare.server.closeSession(session);
  return spare;
}

/** Ends idle processes for that of another owner. Throws if none is idle. */
function makeRoom(programs: ReadonlyMap<string, Program>, program: Program, added: string | null): void {
  const owners = running(program).filter(({ owner }) => owner !== null);
  if (added !== null && owners.length >= maxOwners && !endLeastUsed(program, owners))
    throw new BridgeFault(
      `cannot be started for another session: its ${maxOwners} processes, which is the limit, have calls in progress. Call it again when one has ended, or set \`instances\` to "shared" if it remembers nothing of a call.`,
    );
  const isSpare = added !== null && program.instances.get('')?.server != null;
  if (isSpare || countAll(programs) < maxProcesses) return;
  const others = [...programs.values()].filter(({ run }) => run.instances !== 'shared').sort((one, other) => one.usedAt - other.usedAt);
  const isEnded =
    others.some((other) =>
      endLeastUsed(
        other,
        running(other).filter(({ owner }) => owner === null),
      ),
    ) || others.some((other) => endLeastUsed(other, running(other)));
  if (!isEnded) throw new BridgeFault(`cannot be started: ${maxProcesses} commands are running, which is the limit.`);
}

/** The one that was unused for longest, if possible one to which nobody listens. Returns false if all are in use. */
function endLeastUsed(program: Program, instances: readonly Instance[]): boolean {
  const idle = instances.filter(({ server }) => server?.isReady === true && server.requests === 0);
  const [unused] = idle.toSorted(
    (one, other) => Number(one.server?.isWatched) - Number(other.server?.isWatched) || one.usedAt - other.usedAt,
  );
  if (unused === undefined) return false;
  unused.log.note('(a process was ended for that of another session: what it remembered is lost)');
  void endOne(program, unused);
  return true;
}

async function endOne({ instances }: Program, instance: Instance): Promise<void> {
  instances.delete(instance.owner ?? '');
  await endInstance(instance);
}

async function endProgram(program: Program): Promise<void> {
  // Its next use says again whether its document is stored.
  program.run = { ...program.run, version: 0 };
  await Promise.all(running(program).map((instance) => endOne(program, instance)));
}

function endUnusedTest(program: Program): void {
  if (program.run.version !== 0) return;
  const isUnused = running(program).every(({ server }) => server?.isReady === true && server.sessions.size === 0);
  if (isUnused) void endProgram(program);
}

function sweep(programs: ReadonlyMap<string, Program>): void {
  for (const program of programs.values()) {
    const before = Date.now() - (program.run.version === 0 ? idleTestMs : idleMs);
    for (const instance of program.instances.values()) {
      const { server, owner } = instance;
      if (server !== null && (server.requests > 0 || server.isWatched)) program.usedAt = instance.usedAt = Date.now();
      else if ((owner === null ? program.usedAt : instance.usedAt) < before) void endOne(program, instance);
    }
  }
}

function running({ instances }: Program): Instance[] {
  return [...instances.values()].filter(({ server }) => server !== null);
}

function countAll(programs: ReadonlyMap<string, Program>): number {
  return [...programs.values()].reduce((sum, program) => sum + running(program).length, 0);
}

function toShown({ run, usedAt }: Program): (instance: Instance) => ServerProcess {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return ({ owner, server, startedAt, ...instance }) => ({
    // The second part of an MCP session's id is a signature, without which nobody can use the session.
    ...{ server: run.server, owner: owner?.split('.', 1)[0] ?? null, state: server?.isReady === true ? 'ready' : 'starting' },
    ...{ startedAt: iso(startedAt), usedAt: iso(owner === null ? usedAt : instance.usedAt), calls: server?.requests ?? 0 },
  });
}
