/** `moniker replay run`: starts a replay, shows its progress, writes the reports, and decides the exit code. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type components, followReplay, type MonikerClient } from '../../../client/src/index.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { fillProject, findProjectFile, readProjectFile } from '../../local/launch/project-file.ts';
import { print, printError } from '../../local/printing.ts';
import { connectService, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, describeFailure, exitCodes, messageOf } from '../failure.ts';
import { inLine, printJson, Progress, type JsonOption } from '../output.ts';
import { differenceText } from './difference-text.ts';
import { type CaseFinding, type CaseFindingKind, findingKinds, findingsOf } from './findings.ts';
import { junitReport } from './junit.ts';
import { casesOf, countsOf, endText, printReplay } from './replay-report.ts';

type Replay = components['schemas']['Replay'];
type ReplayCase = components['schemas']['ReplayCase'];
type ReplayRequest = components['schemas']['ReplayRequest'];

export type RunOptions = ConnectionOptions &
  JsonOption & {
    suite: string;
    agent?: string;
    model?: string;
    toolset?: string;
    instructionsFile?: string;
    unmatched?: 'end' | 'run-safe';
    concurrency?: string;
    maxCost?: string;
    failOn?: CaseFindingKind[];
    junit?: string;
    wait: boolean;
  };

/** The replay could not be judged: the exit code of wrong usage, so that 1 always means a finding. */
const notJudged = exitCodes.usage;
/** A suite is expanded before the response. */
const startTimeoutMs = 5 * 60_000;
const cancelTimeoutMs = 10_000;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Parses `--fail-on`: repeated, or separated by commas. */
export function collectFailOn(text: string, before: CaseFindingKind[] = []): CaseFindingKind[] {
  return text
    .split(',')
    .flatMap((word) => {
      const kind = word.trim();
      if (kind === 'any') return findingKinds;
      const known = findingKinds.find((one) => one === kind);
      if (known === undefined)
        throw new CommandFailure(`--fail-on ${kind} is not known.`, `Use ${findingKinds.join(', ')} or any.`, exitCodes.usage);
      return [known];
    })
    .concat(before);
}

export async function runReplay(options: RunOptions): Promise<void> {
  try {
    await run(options);
  } catch (error) {
    if (error instanceof ReplayDiffers) throw error;
    const { message, advice } = describeFailure(error);
    throw new CommandFailure(message, advice, notJudged);
  }
}

class ReplayDiffers extends CommandFailure {}

async function run(options: RunOptions): Promise<void> {
  if (!options.wait && (options.junit !== undefined || options.failOn !== undefined))
    throw new CommandFailure(
      '--no-wait does not go with --junit and --fail-on.',
      'They need the end of the replay: leave one of them out.',
    );
  const body = requestOf(options);
  const { client } = connectService(options, startTimeoutMs);
  const interruption = cancelOnInterrupt(client);
  try {
    const started = await client.post('/v1/replays', { body });
    await interruption.started(started.id);
    if (!options.wait) return options.json ? printJson({ replay: started }) : print(inLine(started.id));
    const { total, left } = started.cases;
    const more = left > 0 ? `; ${left} more are left out by the limit of the suite` : '';
    printError(inLine(`Replay ${started.id}: ${total === 1 ? '1 case' : `${total} cases`}${more}.`));
    await waitFor(client, started);
    await report(client, started.id, options);
  } finally {
    interruption.end();
  }
}

/** Prints and writes what was found, and throws what decides the exit code. */
async function report(client: MonikerClient, id: string, options: RunOptions): Promise<void> {
  const replay = await client.get('/v1/replays/{replay}', { params: { path: { replay: id } } });
  const cases = await casesOf(client, replay.id);
  const counted = options.failOn ?? [];
  if (options.junit !== undefined) await writeJunit(client, options.junit, replay, cases, options.failOn ?? findingKinds);
  if (options.json) printJson({ replay, cases });
  else printReplay(replay, cases);
  requireJudged(replay, cases);
  judge(
    replay,
    cases.flatMap(findingsOf).filter(({ kind }) => counted.includes(kind)),
  );
}

/** A check that compared nothing must not pass, such as one whose provider refused every request. */
function requireJudged({ id, status, reason, cases: { total, same, different, ended } }: Replay, cases: readonly ReplayCase[]): void {
  if (status !== 'completed')
    throw new CommandFailure(`The replay ${id} was not completed: ${endText(status, reason)}.`, 'Its finished cases are above.');
  if (total === 0)
    throw new CommandFailure('The suite selects no recorded work.', 'Chat with the agent first, or change the selection of the suite.');
  if (same + different + ended === 0)
    throw new CommandFailure(
      `None of the ${total} cases could be compared: ${cases[0]?.reason ?? 'see above'}.`,
      `See \`moniker replay show ${id}\`.`,
    );
}

function judge({ id }: Replay, found: readonly CaseFinding[]): void {
  if (found.length === 0) return;
  const counts = findingKinds.flatMap((kind) => {
    const count = found.filter((one) => one.kind === kind).length;
    return count === 0 ? [] : [`${kind} (${count})`];
  });
  throw new ReplayDiffers(
    `--fail-on found ${counts.join(', ')}.`,
    `See \`moniker replay show ${id}\`, and with the number of a case both of its sides.`,
  );
}

function requestOf(options: RunOptions): ReplayRequest {
  const { suite, model, unmatched } = options;
  const agent = options.agent === undefined ? undefined : documentOf('agent', options.agent);
  const toolset = options.toolset === undefined ? undefined : documentOf('toolset', options.toolset);
  const instructions = options.instructionsFile === undefined ? undefined : readText(options.instructionsFile);
  const concurrency = numberOf('--concurrency', options.concurrency);
  const maxCost = numberOf('--max-cost', options.maxCost);
  return {
    suite,
    with: {
      ...(model !== undefined && { model }),
      ...(agent !== undefined && { agent: agent as never }), // The service checks a draft.
      ...(toolset !== undefined && { toolset: toolset as never }),
      ...(instructions !== undefined && { instructions }),
    },
    ...(unmatched !== undefined && { unmatched }),
    ...(concurrency !== undefined && { concurrency }),
    ...(maxCost !== undefined && { maxCost }),
  };
}

/**
 * `support` and `support@3` name stored documents; `support@draft` is the one in the project file of this folder, and `support.yaml` is a file with
 * the document. Drafts are not stored. Variables are filled in as `moniker apply` does.
 */
function documentOf(kind: 'agent' | 'toolset', text: string): string | Record<string, unknown> {
  const section = `${kind}s`;
  const filled = (document: unknown, file: string): Record<string, unknown> =>
    recordOf(recordOf(recordOf(fillProject({ [section]: { draft: document } } as never, file, process.env))[section]).draft);
  if (/\.(?:ya?ml|json)$/i.test(text)) return filled(readProjectFile(text), text);
  const [name = '', version] = text.split('@');
  if (version !== 'draft') return text;
  const found = findProjectFile(process.cwd(), process.env);
  if (found === null)
    throw new CommandFailure(
      `--${kind} ${text}: this folder has no moniker.yaml or moniker.json.`,
      'Go to the folder of the project, or set MONIKER_PROJECT to its file.',
    );
  const documents = recordOf(recordOf(readProjectFile(found.file))[section]);
  if (!Object.hasOwn(documents, name))
    throw new CommandFailure(
      `--${kind} ${text}: ${found.file} has no ${section}.${name}.`,
      `It has: ${Object.keys(documents).join(', ') || 'none'}.`,
    );
  return filled(documents[name], found.file);
}

function readText(file: string): string {
  try {
    if (statSync(file).size > limits.maxLargeBodyBytes) throw new Error('it is too large');
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read: ${messageOf(error)}.`, 'Name a text file with --instructions-file.');
  }
}

/** The service checks the range. */
function numberOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new CommandFailure(`${option} is "${text}", which is not a number.`, `Example: ${option} 2`);
  return number;
}

/** The first Ctrl-C cancels the replay, also one that is just being started; the second leaves it. */
function cancelOnInterrupt(client: MonikerClient) {
  let id: string | null = null;
  let isCancelled = false;
  const send = async (replay: string): Promise<void> => {
    await client
      .post('/v1/replays/{replay}/cancel', { params: { path: { replay } }, signal: AbortSignal.timeout(cancelTimeoutMs) })
      .catch((error: unknown) => printError(inLine(`It cannot be cancelled: ${describeFailure(error).message}`)));
  };
  const interrupt = (): void => {
    if (isCancelled) process.exit(notJudged);
    isCancelled = true;
    printError('Cancelling the replay … (again: leave it)');
    if (id !== null) void send(id);
  };
  for (const name of signals) process.on(name, interrupt);
  return {
    async started(replay: string): Promise<void> {
      id = replay;
      if (isCancelled) await send(replay);
    },
    end: () => {
      for (const name of signals) process.off(name, interrupt);
    },
  };
}

/** Shows the progress until the replay has ended. */
async function waitFor(client: MonikerClient, { id, cases: { total } }: Replay): Promise<void> {
  const progress = new Progress();
  try {
    let done = 0;
    for await (const event of followReplay(client, id)) {
      if (event.type !== 'replay-case') continue;
      done += 1;
      progress.show(`${done} of ${total} cases`);
      if (!process.stderr.isTTY) printError(inLine(`case ${event.number} of ${total}: ${event.status}`));
    }
  } catch (error) {
    const { message, advice } = describeFailure(error);
    throw new CommandFailure(message, `${advice} The replay may continue: \`moniker replay show ${id}\`.`.trim());
  } finally {
    progress.end();
  }
}

async function writeJunit(
  client: MonikerClient,
  file: string,
  replay: Replay,
  cases: readonly ReplayCase[],
  counted: readonly CaseFindingKind[],
): Promise<void> {
  const texts = new Map<number, string>();
  for (const one of cases)
    if (findingsOf(one).length > 0)
      texts.set(
        one.number,
        differenceText(
          await client.get('/v1/replays/{replay}/cases/{number}', { params: { path: { replay: replay.id, number: String(one.number) } } }),
        ),
      );
  try {
    writeFileSync(file, junitReport(replay, cases, { counted, textOf: ({ number }) => texts.get(number) ?? '' }));
  } catch (error) {
    throw new CommandFailure(
      `${file} cannot be written: ${messageOf(error)}.`,
      `Choose another file. The replay is stored: \`moniker replay show ${replay.id}\`.`,
    );
  }
  printError(inLine(`${file}: ${countsOf(replay)}`));
}
