/**
 * The error lines of the service's log. In a test that writes one without taking it, something failed that nobody looks at: in
 * Node that test fails, in the Workers runtime the line is shown with it. Runs before each test file of both; a service in its
 * own process keeps its output.
 */
import { afterEach, expect } from 'vitest';

export type ErrorLine = { message: string; [field: string]: unknown };
type State = { lines: ErrorLine[]; allowed: readonly string[] };

// Test files can have modules of their own, and one console.
const holder = globalThis as typeof globalThis & { serviceErrors?: State };
holder.serviceErrors ??= startRecording();
const state = holder.serviceErrors;

const isInWorkers = navigator.userAgent === 'Cloudflare-Workers';

state.allowed = [];
afterEach(() => {
  const unexpected = takeErrors().filter(({ message }) => !state.allowed.includes(message));
  // Background work of the runtime's objects goes on after its test, so it cannot be attributed there: it is shown.
  if (isInWorkers) for (const line of unexpected.filter((line) => !isOfEarlierFile(line))) console.warn(JSON.stringify(line));
  else expect(unexpected, 'error lines of the service that the test does not take').toEqual([]);
});

/** The storage is emptied between files, while background work of the earlier one may go on. */
function isOfEarlierFile(line: ErrorLine): boolean {
  return JSON.stringify(line).includes('There is no workspace');
}

/** The lines since the test began or the last call. */
export function takeErrors(): ErrorLine[] {
  return state.lines.splice(0);
}

/** For a file whose background work fails on purpose, at times that no test knows: these messages fail no test of it. */
export function allowErrors(...messages: string[]): void {
  state.allowed = messages;
}

function startRecording(): State {
  const started: State = { lines: [], allowed: [] };
  const print = console.log;
  console.log = (...values: unknown[]) => {
    const [line] = values;
    if (typeof line === 'string' && line.startsWith('{"level":"error"')) started.lines.push(JSON.parse(line) as ErrorLine);
    else print(...values);
  };
  return started;
}
