/** The commands of `moniker chat` besides `/prompt`: the help, the model and toolset of the conversation, and its earlier messages. */
import type { components, MonikerClient } from '../../../client/src/index.ts';
import { stringOf } from '../../core/json/wire-value.ts';
import { terminalText } from '../../core/text/visible-text.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { inLine, styled } from '../output.ts';
import { namesOf } from '../toolset-choice.ts';

type Schemas = components['schemas'];
/** `instructions`: of the option. A session does not show those that it has. */
export type ChatPlace = { client: MonikerClient; session: string; instructions?: string | undefined };
type Print = (line: string) => void;

export const chatHelp = [
  '/model              the agent or model of this conversation, and the models',
  '/model NAME         begins a new conversation with this model and the same toolset',
  '/toolset            the toolset of this conversation, and the toolsets',
  '/toolset NAME       begins a new conversation with this toolset and the same model',
  '/prompt             the prompts of MCP servers that the toolset offers',
  '/prompt NAME a=b    sends a prompt with its arguments',
  '/history            the messages of this conversation; the arrow keys bring back what you wrote',
  '/exit               leaves, as Ctrl-D does; Ctrl-C cancels a turn',
];

const maxListed = 100;

/** The newest messages that are shown and that the arrow keys bring back. */
const maxHistory = 100;

/** Returns null for a message. A slash with one other word is refused: it is a misspelled command. */
export function readChatCommand(line: string): { name: string; value: string } | null {
  const [, name = '', value = ''] = /^\/([a-z]+)(?:\s+(.*))?$/s.exec(line) ?? [];
  if (['help', 'model', 'toolset', 'history'].includes(name)) return { name, value: value.trim() };
  if (name === '' || value !== '') return null;
  throw new CommandFailure(`There is no command /${name}.`, '/help lists the commands.', exitCodes.usage);
}

/** Returns the session to continue in: another one after a change of the model or toolset. */
export async function runChatCommand(at: ChatPlace, { name, value }: { name: string; value: string }, print: Print): Promise<string> {
  if (name === 'help') for (const line of chatHelp) print(line);
  else if (name === 'history') await showHistory(at, print);
  else return await showOrChange(at, name, value, print);
  return at.session;
}

async function showOrChange(at: ChatPlace, name: string, value: string, print: Print): Promise<string> {
  const { client, session } = at;
  const { agent, model, toolset } = await client.get('/v1/sessions/{id}', { params: { path: { id: session } } });
  if (value === '') {
    const current = name === 'toolset' ? (toolset ?? 'none') : agent === undefined ? model : `agent ${agent}`;
    print(inLine(`This conversation has the ${name === 'toolset' ? 'toolset' : 'model'}: ${current ?? 'none'}`));
    const names = await namesOf(client, name === 'toolset' ? 'toolsets' : 'models', maxListed + 1);
    for (const one of names.slice(0, maxListed)) print(inLine(`  ${one}`));
    if (names.length > maxListed) print(styled('dim', `  and more: \`moniker ${name === 'toolset' ? 'export' : 'models'}\` lists all`));
    return session;
  }
  if (name === 'toolset' && model === undefined)
    throw new CommandFailure(
      `The toolset of this conversation is that of its agent, ${agent}.`,
      'Choose a model first: /model NAME begins a conversation without the agent.',
      exitCodes.usage,
    );
  const chosen = { model, toolset: toolset ?? undefined, [name]: value };
  const { id } = await client.post('/v1/sessions', { body: { ...chosen, instructions: at.instructions } });
  const lost = agent === undefined ? 'the earlier messages' : `the agent ${agent} and the earlier messages`;
  print(styled('dim', inLine(`A new conversation, without ${lost}. Back: moniker chat --session ${session}`)));
  return id;
}

async function showHistory({ client, session }: ChatPlace, print: Print): Promise<void> {
  const items = await newestMessages(client, session);
  const told = items.filter(({ role }) => role === 'user' || role === 'assistant').reverse();
  for (const { role, parts } of told) {
    const text = textOf(parts);
    if (text !== '') print(role === 'user' ? styled('bold', `> ${text}`) : terminalText(text));
  }
  if (told.length === 0) print(styled('dim', 'There are no messages yet.'));
}

/** What the person wrote in the session, the newest first, for the arrow keys. */
export async function writtenBefore(client: MonikerClient, session: string): Promise<string[]> {
  const items = await newestMessages(client, session);
  const lines = items.filter(({ role }) => role === 'user').map(({ parts }) => textOf(parts));
  return lines.filter((line) => line !== '' && !line.includes('\n'));
}

async function newestMessages(client: MonikerClient, session: string): Promise<Schemas['TranscriptMessage'][]> {
  const params = { path: { id: session }, query: { order: 'desc' as const, limit: maxHistory } };
  return (await client.get('/v1/sessions/{id}/messages', { params })).items;
}

function textOf(parts: Schemas['TranscriptMessage']['parts']): string {
  return parts
    .filter(({ type }) => type === 'text')
    .map(({ text }) => stringOf(text))
    .join('')
    .trim();
}
