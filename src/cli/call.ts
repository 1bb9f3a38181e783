/** `moniker call` and `moniker resolve`: use a tool, or explain a name, of a toolset. */
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { MonikerClient, components } from '../../client/src/index.ts';
import { isRecord, tryParse, type Json } from '../core/json/wire-value.ts';
import { askApproval, type Decided } from './chat/chat-questions.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { print, printData } from '../local/printing.ts';
import { printJson, printStyled, renderTable, type JsonOption } from './output.ts';
import { askLine, canAsk } from './terminal.ts';
import { chooseToolset } from './toolset-choice.ts';

type Options = ConnectionOptions & JsonOption & { toolset?: string };
type CallOptions = Options & { session?: string; dryRun?: boolean; approve?: boolean };
type Answer = components['schemas']['CallAnswer'];
type AskedApproval = components['schemas']['Approval'];
type DirectCall = { toolset: string; name: string; arguments: Json; session?: string };

/** Longer than the longest call of a tool. */
const callTimeoutMs = 11 * 60_000;
/** A script asks again if it would do something else than what was approved, at most 5 times. */
const maxRounds = 5;

export function addCallCommands(program: Command): void {
  addConnectionOptions(
    program
      .command('call')
      .description('call a tool by any of its names and print its result')
      .argument('<name>', 'wire name, alias, canonical name, or another spelling of one')
      .argument('[arguments]', 'a JSON object; "-" reads it from stdin', '{}')
      .option('--toolset <name>', 'toolset of the tool (default: the only one)')
      .option('--session <id>', 'run with the files of this session')
      .option('--dry-run', 'check the name, the arguments and the policy, and run nothing')
      .option('--approve', 'approve the call if it requires approval; the key needs the scopes chat and approve')
      .option('--json', 'print the whole response')
      .addHelpText(
        'after',
        `\nExamples:\n  moniker call shell '{"command": "echo hello"}' --toolset demo\n  echo '{"path": "note.txt"}' | moniker call cat -`,
      ),
  ).action(call);

  addConnectionOptions(
    program
      .command('resolve')
      .description('show which tool a name stands for, and why')
      .argument('<name>', 'the name that a model or client uses')
      .option('--toolset <name>', 'toolset (default: the only one)')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExample:\n  moniker resolve RunCommand --toolset demo'),
  ).action(resolve);
}

async function call(name: string, text: string, options: CallOptions): Promise<void> {
  const args = parseArguments(text === '-' ? await readText(process.stdin) : text);
  const { client } = connectService(options, callTimeoutMs);
  const toolset = await chooseToolset(client, options.toolset);
  const answer = await client.post('/v1/toolsets/{toolset}/calls', {
    params: { path: { toolset }, ...(options.dryRun && { query: { dryRun: 'true' } }) },
    body: { name, arguments: args, ...(options.session !== undefined && { session: options.session }) },
  });
  if ('verdict' in answer) {
    if (answer.verdict !== 'allow' || !answer.valid) process.exitCode = exitCodes.failure;
    if (options.json) return printJson(answer);
    print(
      renderTable([
        ['tool', answer.canonical ?? 'none'],
        ['verdict', answer.verdict],
        ...answer.issues.map(({ path, message }) => [path, message]),
      ]),
    );
    return;
  }
  if (answer.code !== 'approval_required') return printAnswer(answer, options);
  const decide = options.approve ? async () => ({ decision: 'approve' as const }) : canAsk() ? askInTerminal(name) : null;
  if (decide === null)
    throw new CommandFailure(
      `The call of ${answer.canonical} requires approval.`,
      'Add --approve, or run the command in a terminal, which asks you.',
    );
  printAnswer(await callWithApproval(client, { toolset, name, arguments: args, session: options.session }, decide), options);
}

/**
 * A call that requires approval runs in a session, where it can be approved under its id, and is then sent again (contract §8). Without a
 * session it gets one that is deleted afterwards. Returns the answer of the last attempt.
 */
async function callWithApproval(
  client: MonikerClient,
  { toolset, session, ...call }: DirectCall,
  decide: (approval: AskedApproval) => Promise<Decided>,
): Promise<Answer> {
  const used = session ?? (await client.post('/v1/sessions', { body: { model: 'rehearsal/default', toolset } })).id;
  try {
    for (let round = 1; ; round += 1) {
      const answer = await client.post('/v1/toolsets/{toolset}/calls', { params: { path: { toolset } }, body: { ...call, session: used } });
      if ('verdict' in answer) throw new TypeError('A call was answered as a dry run');
      if (answer.code !== 'approval_required' || answer.callId === undefined || round > maxRounds) return answer;
      const path = { id: used, callId: answer.callId };
      const approval = await client.get('/v1/sessions/{id}/approvals/{callId}', { params: { path } });
      const decided = await decide(approval);
      const body = { ...decided, ...(approval.round !== undefined && { round: approval.round }) };
      await client.post('/v1/sessions/{id}/approvals/{callId}', { params: { path }, body });
      if (decided.decision === 'deny') return answer;
    }
  } finally {
    // The call is done either way.
    if (session === undefined) await client.delete('/v1/sessions/{id}', { params: { path: { id: used } } }).catch(() => undefined);
  }
}

function printAnswer(answer: Pick<Answer, 'isError' | 'content'>, { json }: JsonOption): void {
  if (answer.isError) process.exitCode = exitCodes.failure;
  if (json) printJson(answer);
  else printData(renderContent(answer.content));
}

/** The question goes to stderr: stdout is for the result. */
function askInTerminal(name: string): (approval: AskedApproval) => Promise<Decided> {
  return (approval) => askApproval(askLine, (line) => printStyled(line, process.stderr), { ...approval, name });
}

/** Throws for anything but an object. */
function parseArguments(text: string): Json {
  const value = tryParse(text);
  if (isRecord(value)) return value;
  throw new CommandFailure(
    value === undefined ? 'The arguments are not valid JSON.' : 'The arguments are not a JSON object.',
    `Quote them for your shell: '{"command": "ls"}'. In PowerShell and cmd, or for long ones, use "-" and a file: moniker call <name> - < arguments.json`,
    exitCodes.usage,
  );
}

/** Prints text content unchanged, and one line for each other block. */
export function renderContent(content: Answer['content']): string {
  return content
    .map((block) => {
      if (block.type === 'text') return block.text;
      const { mimeType = 'unknown type' } = block as { mimeType?: string }; // Only some blocks have one.
      return `[${block.type}, ${mimeType}; --json prints it]`;
    })
    .join('\n');
}

async function resolve(name: string, options: Options): Promise<void> {
  const { client } = connectService(options);
  const toolset = await chooseToolset(client, options.toolset);
  const answer = await client.get('/v1/toolsets/{toolset}/resolve', { params: { path: { toolset }, query: { name } } });
  if (options.json) return printJson(answer);
  const rows = [
    ['tool', answer.canonical],
    ['wire name', answer.wireName],
    ['aliases', answer.aliases.join(', ') || 'none'],
    ['matched', answer.via],
    ['because', answer.because],
    ['state', answer.state],
  ];
  print(renderTable(rows));
}
