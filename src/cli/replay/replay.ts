/** `moniker replay`: replays a suite, and lists, shows, cancels and exports replays. Exit codes are in docs/cli.md. */
import { type Command, Option } from 'commander';
import { type components, type MonikerClient, paginate } from '../../../client/src/index.ts';
import { print, printData } from '../../local/printing.ts';
import { readBoundedLines } from '../bounded-lines.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { inLine, printJson, renderTable, type JsonOption } from '../output.ts';
import { differenceText } from './difference-text.ts';
import { casesOf, caseRows, countsOf, printReplay, subjectOf } from './replay-report.ts';
import { collectFailOn, runReplay, type RunOptions } from './run-replay.ts';
import { Readable } from 'node:stream';

type Options = ConnectionOptions & JsonOption;

/** Replays that `list` shows. */
const maxListed = 100;
/** One case of an export, with both sides. */
const maxLineBytes = 64 * 1024 * 1024;

export function addReplayCommands(program: Command): void {
  const replay = program
    .command('replay')
    .description('replay recorded work with another model, agent or toolset, and compare the calls; calls get their recorded results')
    .addHelpText('after', '\n`run` may be left out: moniker replay --suite support. Its options: moniker replay run --help');

  addConnectionOptions(
    replay
      .command('run', { isDefault: true })
      .description('replay a suite, wait for it, and compare')
      .requiredOption('--suite <name>', 'the suite: which recorded work is replayed, and its rules')
      .option('--agent <agent>', 'in place of the recorded agent: name, name@version, name@draft (of the project file here) or a file')
      .option('--model <model>', 'in place of the recorded model')
      .option('--toolset <toolset>', 'in place of the recorded toolset: name, name@version, name@draft or a file')
      .option('--instructions-file <file>', 'in place of the recorded instructions: the text of this file')
      .addOption(
        new Option('--unmatched <what>', 'a call without a recorded result ends its case, or runs if its tool is safe').choices([
          'end',
          'run-safe',
        ]),
      )
      .option('--concurrency <number>', 'cases at the same time, 1 to 8')
      .option('--max-cost <usd>', 'start no further case once this is spent')
      .option('--fail-on <what>', 'exit with 1 for: calls, rules, errors, any; repeat it or separate with commas', collectFailOn)
      .option('--junit <file>', 'write a JUnit report, with a test for each case')
      .option('--no-wait', 'print the id of the replay, and leave it running')
      .option('--json', 'print the replay and its cases as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker replay --suite support --model anthropic/claude-haiku-4-5\n' +
          '  moniker replay --suite support --agent support@draft --fail-on calls,errors --junit replay.xml\n\n' +
          'Ctrl-C cancels the replay. Exit codes: 0 nothing of --fail-on, 1 something of it, 2 the replay could not be judged.',
      ),
  ).action((options: RunOptions) => runReplay(options));

  addConnectionOptions(
    replay
      .command('list')
      .description('list replays, the newest first')
      .option('--suite <name>', 'only those of this suite')
      .option('--json', 'print them as JSON')
      .addHelpText('after', '\nExample:\n  moniker replay list --suite support'),
  ).action(list);

  addConnectionOptions(
    replay
      .command('show')
      .description('show a replay with the cases that differ, or both sides of one case')
      .argument('<id>', 'id of the replay')
      .argument('[case]', 'number of a case')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExamples:\n  moniker replay show 3f2a\n  moniker replay show 3f2a 7'),
  ).action(show);

  addConnectionOptions(
    replay
      .command('cancel')
      .description('cancel a running replay; what was compared stays')
      .argument('<id>', 'id of the replay')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExample:\n  moniker replay cancel 3f2a'),
  ).action(cancel);

  addConnectionOptions(
    replay
      .command('export')
      .description('print the cases with both sides as NDJSON, one case a line, for judges of your own')
      .argument('<id>', 'id of the replay')
      .addHelpText('after', '\nExample:\n  moniker replay export 3f2a > cases.ndjson'),
  ).action(exportCases);
}

async function list({ suite, ...options }: Options & { suite?: string }): Promise<void> {
  const { client } = connectService(options);
  const items: components['schemas']['Replay'][] = [];
  for await (const replay of paginate(client, '/v1/replays', { query: { limit: maxListed, ...(suite !== undefined && { suite }) } })) {
    items.push(replay);
    if (items.length === maxListed) break;
  }
  if (options.json) return printJson({ items });
  if (items.length === 0) return print('No replays yet. Start one: moniker replay --suite <name>');
  const rows = items.map((replay) => [replay.id, replay.suite?.name ?? '-', replay.status, countsOf(replay), replay.createdAt]);
  print(renderTable([['ID', 'SUITE', 'STATUS', 'CASES', 'CREATED'], ...rows]));
  if (items.length === maxListed) print(`These are the newest ${maxListed}. The API pages through older ones.`);
}

async function show(id: string, number: string | undefined, options: Options): Promise<void> {
  const { client } = connectService(options);
  if (number !== undefined) return showCase(client, id, number, options);
  const replay = await client.get('/v1/replays/{replay}', { params: { path: { replay: id } } });
  const cases = await casesOf(client, id);
  if (options.json) return printJson({ replay, cases });
  printReplay(replay, cases, { all: true });
}

async function showCase(client: MonikerClient, id: string, text: string, { json }: JsonOption): Promise<void> {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new CommandFailure(`"${text}" is not the number of a case.`, '`moniker replay show <id>` lists the cases.', exitCodes.usage);
  const found = await client.get('/v1/replays/{replay}/cases/{number}', { params: { path: { replay: id, number: String(number) } } });
  if (json) return printJson(found);
  print(inLine(`Case ${found.number}, ${subjectOf(found)}: ${found.status}`));
  for (const [, , , why = ''] of caseRows([found])) if (why !== '') print(inLine(`  ${why}`));
  print(differenceText(found));
}

async function cancel(id: string, options: Options): Promise<void> {
  const { client } = connectService(options);
  const replay = await client.post('/v1/replays/{replay}/cancel', { params: { path: { replay: id } } });
  if (options.json) return printJson(replay);
  print(inLine(`Replay ${id}: ${replay.status}.`));
}

async function exportCases(id: string, options: ConnectionOptions): Promise<void> {
  const { client } = connectService(options);
  const { body } = await client.open('GET', `/v1/replays/${encodeURIComponent(id)}/export`, {
    headers: { accept: 'application/x-ndjson' },
  });
  for await (const line of readBoundedLines(Readable.fromWeb(body as never), maxLineBytes)) {
    if (Buffer.byteLength(line) >= maxLineBytes)
      throw new CommandFailure('A case is too long to be printed.', 'The API returns each case: GET /v1/replays/{replay}/cases/{number}.');
    printData(line);
  }
}
