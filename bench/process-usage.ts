/** CPU time and memory of a process and all its children, from /proc. CPU is what a Worker is billed for, and the most stable figure. */
import { readdirSync, readFileSync } from 'node:fs';

export type ProcessUsage = { cpuMs: number; rssMb: number };

/** Milliseconds of a clock tick in /proc (CLK_TCK is 100 on every Linux in use). */
const tickMs = 10;

export function measure(pid: number): ProcessUsage {
  const usage: ProcessUsage = { cpuMs: 0, rssMb: 0 };
  for (const member of familyOf(pid)) {
    const stat = readStat(member);
    if (stat === null) continue;
    // Fields 14 and 15 of proc(5), counted from the one after the command.
    usage.cpuMs += (Number(stat[11]) + Number(stat[12])) * tickMs;
    usage.rssMb += residentMb(member);
  }
  return usage;
}

/**
 * CPU time of a process and its children to the nanosecond, for rounds that are short next to a tick: each thread's time on a core. Threads that
 * have ended do not count, so the process must keep its own.
 */
export function cpuMsOf(family: readonly number[]): number {
  const threads = family.flatMap((member) =>
    readdirSync(`/proc/${member}/task`).map((thread) => `/proc/${member}/task/${thread}/schedstat`),
  );
  return threads.reduce((sum, path) => sum + Number(readProc(path)?.split(' ', 1)[0] ?? 0), 0) / 1e6;
}

/** Memory and open files of the runtime alone: the descendant that runs workerd. */
export function measureRuntime(pid: number): { rssMb: number; openFiles: number } {
  const runtime = familyOf(pid).findLast((member) => readProc(`/proc/${member}/comm`)?.trim() === 'workerd') ?? pid;
  return { rssMb: residentMb(runtime), openFiles: readdirSync(`/proc/${runtime}/fd`).length };
}

/** The process and its descendants. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? readStat(Number(name))?.[1] : undefined;
    if (parent === undefined) continue;
    const siblings = children.get(Number(parent));
    if (siblings) siblings.push(Number(name));
    else children.set(Number(parent), [Number(name)]);
  }
  const family = [pid];
  for (let index = 0; index < family.length; index++) family.push(...(children.get(family[index]!) ?? []));
  return family;
}

/** The fields after the command (which may contain spaces); null when the process has ended. */
function readStat(pid: number): string[] | null {
  const text = readProc(`/proc/${pid}/stat`);
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function residentMb(pid: number): number {
  const rss = /^VmRSS:\s+(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '');
  return Number(rss?.[1] ?? 0) / 1024;
}

function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process ended meanwhile.
    return null;
  }
}
