/** `moniker chat`: a conversation with an agent in the terminal. Without a terminal it reads the message from stdin and prints the answer. */
import { text as readText } from 'node:stream/consumers';
import type { Command } from 'commander';
import { followEvents, type MonikerClient, runTurn, type TurnAnswer, type TurnInput } from '../../../client/src/index.ts';
import { isCount, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { askApproval, askDecision, askInput } from './chat-questions.ts';
import { chatHelp, readChatCommand, runChatCommand, writtenBefore } from './chat-commands.ts';
import { isPromptCommand, usePrompt } from './chat-prompts.ts';
import { createScreen } from './chat-screen.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, exitCodes, reportFailure } from '../failure.ts';
import { print, printData, writeVisible } from '../../local/printing.ts';
import { printJson, printStyled, styled, type JsonOption } from '../output.ts';
import { askLine } from '../terminal.ts';
import { chooseAgent } from '../toolset-choice.ts';

type ChatOptions = ConnectionOptions &
  JsonOption & { agent?: string; model?: string; toolset?: string; instructions?: string; session?: string };

const cancelTimeoutMs = 10_000;

export function addChatCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('chat')
      .description('chat with an agent or a model; without a terminal, read the message from stdin and print the answer')
      .option('--agent <name>', 'agent (default: demo, or the only one)')
      .option('--model <model>', 'model instead of an agent, for example openai/gpt-5')
      .option('--toolset <name>', 'toolset of the model')
      .option('--instructions <text>', 'system prompt of the model')
      .option('--session <id>', 'continue this session')
      .option('--json', 'without a terminal: print the whole answer')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker chat --agent demo\n  echo "Summarize note.txt" | moniker chat --agent helper\n\n' +
          `In the chat:\n${chatHelp.map((line) => `  ${line}`).join('\n')}\nA second Ctrl-C leaves.`,
      ),
  ).action(chat);
}

async function chat(options: ChatOptions): Promise<void> {
  const { client } = connectService(options);
  if (process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY) return converse(client, options);
  const input = (await readText(process.stdin)).trim();
  if (input === '') throw new CommandFailure('There is no message on stdin.', 'Pipe one in: echo "Hello" | moniker chat', exitCodes.usage);
  const session = await openSession(client, options);
  // Without callbacks the turn waits, and the answer says for what.
  const answer = await runTurn(client, session, input);
  if (options.json) printJson({ session, ...answer });
  else if (answer.text !== '') printData(answer.text);
  reportEnd(answer, session);
}

/** Sets the exit code, and says why a turn did not complete. */
function reportEnd({ status, reason, pending = [], problem }: TurnAnswer, session: string): void {
  if (status === 'completed') return;
  const calls = pending.map(({ kind, canonical }) => `${kind} of ${canonical}`).join(', ');
  if (status === 'waiting')
    throw new CommandFailure(
      `The turn waits: ${calls || reason}.`,
      `Decide in the console or with \`moniker chat --session ${session}\` in a terminal; the turn then continues by itself.`,
    );
  throw new CommandFailure(`The turn ended as ${status}: ${String(problem?.detail ?? reason)}.`, 'See `moniker logs`.');
}

async function openSession(client: MonikerClient, { session, agent, model, toolset, instructions }: ChatOptions): Promise<string> {
  if (session !== undefined) return (await client.get('/v1/sessions/{id}', { params: { path: { id: session } } })).id;
  if (model === undefined && (toolset !== undefined || instructions !== undefined))
    throw new CommandFailure(
      '--toolset and --instructions belong to --model.',
      'Add --model, or use an agent that has them.',
      exitCodes.usage,
    );
  if (model !== undefined && agent !== undefined)
    throw new CommandFailure('--agent and --model are both given.', 'Leave one of them out.', exitCodes.usage);
  const body = model === undefined ? { agent: await chooseAgent(client, agent) } : { model, toolset, instructions };
  return (await client.post('/v1/sessions', { body })).id;
}

async function converse(client: MonikerClient, options: ChatOptions): Promise<void> {
  let session = await openSession(client, options);
  let history = options.session === undefined ? [] : await writtenBefore(client, session);
  printStyled(styled('dim', 'Ctrl-C cancels a turn, Ctrl-D leaves, /help lists the commands.'));
  const onHistory = (lines: string[]): void => {
    history = lines;
  };

  await continueWaiting(client, session);
  for (;;) {
    const input = (await askLine(styled('bold', '> '), { history, onHistory }))?.trim();
    if (input === undefined || input === '/exit') break;
    if (input === '') continue;
    try {
      session = await respond(client, session, input, options);
    } catch (error) {
      // The conversation continues after a failure.
      reportFailure(error);
    }
  }
  print(`\nContinue later: moniker chat --session ${session}`);
}

/** Sends a message or does what a command says. Returns the session to continue in. */
async function respond(client: MonikerClient, session: string, input: string, { instructions }: ChatOptions): Promise<string> {
  const place = { client, session, ask: askLine, print: printStyled };
  if (isPromptCommand(input)) await usePrompt(place, input, (prompt) => runInTerminal(client, session, { prompt }));
  else {
    const command = readChatCommand(input);
    if (command !== null) return await runChatCommand({ client, session, instructions }, command, printStyled);
    await runInTerminal(client, session, input);
  }
  return session;
}

/** Asks for what a turn of the session waits for, and shows the rest of the turn. Ctrl-C leaves it waiting. */
async function continueWaiting(client: MonikerClient, session: string): Promise<void> {
  const path = { id: session };
  const { items } = await client.get('/v1/sessions/{id}/approvals', { params: { path } });
  const pending = items.filter(({ turn }) => turn !== null);
  if (pending.length === 0) return;
  const { lastEvent } = await readLastEvent(client, session);
  const screen = createScreen(writeVisible);
  /** Returns false if the person leaves. */
  const decide = async ({ callId, round, ...asked }: Parameters<typeof askDecision>[2] & { callId: string }): Promise<boolean> => {
    const decided = await askDecision(askLine, printStyled, { ...asked, round });
    if (decided === null) return false;
    const body = { ...decided, ...(round !== undefined && { round }) };
    await client.post('/v1/sessions/{id}/approvals/{callId}', { params: { path: { ...path, callId } }, body });
    return true;
  };
  for (const approval of pending) if (!(await decide({ ...approval, name: approval.entry }))) return;
  for await (const event of followEvents(client, session, { after: lastEvent })) {
    screen.show(event);
    if (event.type === 'approval-required' && !(await decide(event))) return;
    // These are answered in the console, or by the program that gave the tools.
    if (event.type === 'turn-end' || event.type === 'input-required' || event.type === 'client-tool-required') break;
  }
  print('');
}

async function readLastEvent(client: MonikerClient, session: string): Promise<{ lastEvent: number }> {
  const text = await client.get('/v1/sessions/{id}/events', {
    params: { path: { id: session }, query: { follow: 'false', limit: 1 } },
    parseAs: 'text',
  });
  const { lastEvent } = recordOf(tryParse(text));
  return { lastEvent: isCount(lastEvent) ? lastEvent : 0 };
}

/** One turn. The first Ctrl-C cancels it, the second ends the process. */
async function runInTerminal(client: MonikerClient, session: string, input: TurnInput): Promise<void> {
  const screen = createScreen(writeVisible);
  const show = (line: string): void => printStyled(line);
  const cancelled = new AbortController();
  let cancelling: Promise<unknown> = Promise.resolve();
  const cancel = (): void => {
    if (cancelled.signal.aborted) process.exit(exitCodes.failure);
    cancelled.abort();
    show(styled('dim', '\nCancelling … (Ctrl-C again leaves)'));
    cancelling = client
      .post('/v1/sessions/{id}/cancel', { params: { path: { id: session } }, signal: AbortSignal.timeout(cancelTimeoutMs) })
      .catch((error: unknown) => reportFailure(error));
  };
  const ask = async (question: string): Promise<string | null> => {
    const answer = await askLine(question, { signal: cancelled.signal });
    if (answer === null && !cancelled.signal.aborted) cancel();
    // No answer denies the call, after which the turn would continue.
    if (answer === null) await cancelling;
    return answer;
  };
  process.on('SIGINT', cancel);
  try {
    const answer = await runTurn(client, session, input, {
      onEvent: (event) => screen.show(event),
      onApproval: (request) => askApproval(ask, show, request),
      onInput: (request) => askInput(ask, show, request),
    });
    screen.finish(answer);
  } finally {
    process.off('SIGINT', cancel);
  }
}
