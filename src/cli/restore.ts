/** `moniker restore`: reads an archive into an empty workspace (docs/backup.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { components } from '../../client/src/index.ts';
import { print, printError } from '../local/printing.ts';
import { readArchiveFile } from './archive-file.ts';
import { printLeftOut } from './backup.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { type JsonOption, inLine, printJson, Progress } from './output.ts';

type RestoreOptions = ConnectionOptions & JsonOption & { replace?: boolean; check?: boolean; abandon?: boolean; session?: string };
type Client = ReturnType<typeof connectService>['client'];
type State = components['schemas']['RestoreState'];

/** Lines of one request together; a longer line is sent alone. */
const requestCharacters = 4 * 1024 * 1024;
const requestTimeoutMs = 180_000;
const pollMs = 1_000;
/** The sessions of a large workspace become available in the background; the command does not wait longer. */
const finishingMs = 10 * 60_000;
/** Each clears sessions for about 15 seconds. */
const maxClearings = 1_000;

export function addRestoreCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('restore')
      .description('read a file of `moniker backup` into an empty workspace')
      .argument('[file]', 'the archive')
      .option('--replace', 'first delete everything in the workspace')
      .option('--session <id>', 'restore only this session, into the workspace as it is; it must not exist there')
      .option('--check', 'check the file, and send nothing')
      .option('--abandon', 'give up a restore that stopped; the workspace is then empty')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker restore moniker-2026-01-31.jsonl.gz --check\n  moniker restore moniker-2026-01-31.jsonl.gz\n\nIt needs the root key, and a service with the MONIKER_MASTER_KEY of the archive.',
      ),
  ).action(restore);
}

async function restore(file: string | undefined, options: RestoreOptions): Promise<void> {
  if (options.abandon) return await abandon(options);
  if (file === undefined)
    throw new CommandFailure('No file was given.', 'Name the archive, or give up a restore with --abandon.', exitCodes.usage);
  const progress = new Progress();
  // All of it, before anything is sent or deleted.
  const { parts, sessions, leftOut } = await checkFile(file, progress);
  if (options.check) {
    progress.end();
    if (options.json) return printJson({ file, parts, sessions, leftOut });
    print(`${file} is complete: ${sessions} sessions, ${parts} parts. Its signatures are checked by the service.`);
    return printLeftOut(leftOut);
  }
  const { client } = connectService(options, requestTimeoutMs);
  if (options.session !== undefined) {
    const sent = await restoreSession(client, file, options.session, leftOut);
    progress.end();
    return options.json
      ? printJson({ session: options.session, parts: sent })
      : print(`Restored session ${options.session} from ${sent} parts.`);
  }
  try {
    const state = await sendFile(client, file, options, (done) => progress.show(`${done} of ${parts} parts`));
    await waitForSessions(client, progress);
    progress.end();
    if (options.json) return printJson({ parts, sessions, leftOut, skipped: state.skipped });
    print(`Restored ${sessions} sessions from ${parts} parts.`);
    printLeftOut(leftOut);
    for (const { kind, name, reason } of state.skipped) printError(`left out: ${inLine(`${kind} ${name}: ${reason}`)}`);
  } catch (error) {
    progress.end();
    throw await withState(client, error);
  }
}

async function checkFile(file: string, progress: Progress) {
  const lines = readArchiveFile(file);
  for (;;) {
    const next = await lines.next();
    if (next.done) return next.value;
    progress.show('checking the archive');
  }
}

/** Sends all lines. Returns the state after the last one. */
async function sendFile(client: Client, file: string, { replace }: RestoreOptions, note: (done: number) => void): Promise<State> {
  let [lines, length, done]: [string[], number, number] = [[], 0, 0];
  let state: State | null = null;
  const flush = async (): Promise<void> => {
    const before = done;
    // A response may leave lines to the next request.
    for (let clearings = 0; done < before + lines.length; clearings += 1) {
      state = await send(client, lines.slice(done - before).join('\n'), replace === true);
      if (state.state === 'restoring') done = state.nextPart;
      else if (state.state !== 'clearing') done = before + lines.length;
      else if (clearings >= maxClearings)
        throw new CommandFailure('The sessions of the workspace cannot be deleted.', 'See `moniker logs`, then run the command again.');
      note(done);
    }
    [lines, length] = [[], 0];
  };
  for await (const { text } of readArchiveFile(file)) {
    if (length + text.length > requestCharacters) await flush();
    lines.push(text);
    length += text.length;
  }
  await flush();
  if (state === null) throw new CommandFailure(`${file} is empty.`, 'Give the path of an archive.');
  return state;
}

/** Sends the parts of one session, each request with the line before. Returns how many they are. */
async function restoreSession(client: Client, file: string, session: string, leftOut: readonly string[]): Promise<number> {
  const none = leftOut.find((one) => one.startsWith(`session ${session}:`)) ?? `It has no session ${session}.`;
  const range = await findSession(file, session);
  if (range === null) throw new CommandFailure(`${file} does not have the session: ${none}`, 'Use another archive.');
  let [number, length, sent] = [-1, 0, 0];
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    if (lines.length < 2) return;
    await client.post('/v1/restore', {
      params: { query: { session } },
      body: lines.join('\n'),
      headers: { 'content-type': 'application/jsonl' },
    });
    sent += lines.length - 1;
    lines = lines.slice(-1).map(withoutPart);
    length = 0;
  };
  for await (const { text } of readArchiveFile(file)) {
    number += 1;
    if (number < range.before || number > range.last) continue;
    if (length + text.length > requestCharacters) await flush();
    lines.push(number === range.before ? withoutPart(text) : text);
    length += text.length;
  }
  await flush();
  return sent;
}

/** The next line continues its hash; its content is not needed. */
function withoutPart(line: string): string {
  return line.slice(0, line.indexOf('"part":'));
}

/** The number of the line before the session, and of its last one. Its parts may occur several times; the last ones count. */
async function findSession(file: string, session: string): Promise<{ before: number; last: number } | null> {
  let [number, before] = [-1, -1];
  let found: { before: number; last: number } | null = null;
  for await (const { part } of readArchiveFile(file)) {
    number += 1;
    if ((part.kind !== 'object' && part.kind !== 'absent') || part.object.kind !== 'session' || part.object.id !== session) continue;
    if (part.kind === 'absent') found = null;
    else if (part.first) before = number - 1;
    if (part.kind === 'object' && part.last) found = { before, last: number };
  }
  return found;
}

/** Repeating lines has no effect, so a lost response is no failure. */
async function send(client: Client, body: string, replace: boolean): Promise<State> {
  const request = {
    params: { query: { replace: replace ? ('true' as const) : ('false' as const) } },
    body,
    headers: { 'content-type': 'application/jsonl' },
  };
  try {
    return await client.post('/v1/restore', request);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return await client.post('/v1/restore', request);
  }
}

async function waitForSessions(client: Client, progress: Progress): Promise<void> {
  for (let waited = 0; waited < finishingMs; waited += pollMs) {
    const { state, sessionsLeft } = await client.get('/v1/restore');
    if (state === 'none') return;
    progress.show(`${sessionsLeft} sessions are not available yet`);
    await sleep(pollMs);
  }
  printError('The workspace is restored; some of its sessions become available later. `GET /v1/restore` has their number.');
}

/** Says what state a failure has left. */
async function withState(client: Client, error: unknown): Promise<unknown> {
  const state = await client.get('/v1/restore').catch(() => null);
  if (state?.state === 'restoring')
    printError(
      `The restore stopped before part ${state.nextPart}, and the workspace is unavailable. Run the command again, which begins anew, or give up with \`moniker restore --abandon\`.`,
    );
  return error;
}

async function abandon(options: RestoreOptions): Promise<void> {
  const { client } = connectService(options, requestTimeoutMs);
  let state = await client.delete('/v1/restore');
  for (let times = 0; state.state === 'clearing' && times < maxClearings; times += 1) state = await client.delete('/v1/restore');
  if (options.json) return printJson(state);
  print(state.state === 'none' ? 'No restore is in progress.' : inLine(`The restore is ${state.state}.`));
}
