/** `/prompt` of `moniker chat`: lists the prompts of MCP servers that the toolset of the session offers, and sends one as a turn. */
import { type components, type MonikerClient, MonikerError } from '../../../client/src/index.ts';
import { isRecord, listOf, recordOf, tryParse } from '../../core/json/wire-value.ts';
import { showInvisible } from '../../core/text/visible-text.ts';
import { type Ask, askDecision } from './chat-questions.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { inLine, styled } from '../output.ts';

type Schemas = components['schemas'];
type Place = { client: MonikerClient; session: string; ask: Ask; print(line: string): void };

export function isPromptCommand(line: string): boolean {
  return /^\/prompt(?:\s|$)/.test(line);
}

/** `run`: sends the prompt as a turn. If it requires approval, the user decides, and it is sent again. */
export async function usePrompt(place: Place, line: string, run: (prompt: Schemas['TurnPrompt']) => Promise<void>): Promise<void> {
  const prompt = readPromptCommand(line);
  if (prompt === null) return await listPrompts(place);
  try {
    await run(prompt);
  } catch (error) {
    if (!(await decidePending(place, error))) throw error;
    await run(prompt);
  }
}

/** Returns null for the command alone. Throws `CommandFailure` for what is not `argument=value` or a JSON object. */
export function readPromptCommand(line: string): Schemas['TurnPrompt'] | null {
  const [, name, rest = ''] = /^\/prompt\s+(\S+)\s*(.*)$/s.exec(line.trim()) ?? [];
  if (name === undefined) return null;
  const json = tryParse(rest);
  const given = isRecord(json) ? Object.entries(json).map(([key, value]): [string, string] => [key, String(value)]) : readPairs(rest);
  return { name, ...(given.length > 0 && { arguments: Object.fromEntries(given) }) };
}

const pair = /([^\s=]+)=(?:"([^"]*)"|(\S*))(?:\s+|$)/y;

function readPairs(text: string): [string, string][] {
  const given: [string, string][] = [];
  for (let at = 0; at < text.length; at = pair.lastIndex) {
    pair.lastIndex = at;
    const [, name, quoted, word = ''] = pair.exec(text) ?? [];
    if (name === undefined)
      throw new CommandFailure(
        `Not an argument of a prompt: ${showInvisible(text.slice(at))}`,
        'Write /prompt NAME argument=value other="two words", or a JSON object.',
        exitCodes.usage,
      );
    given.push([name, quoted ?? word]);
  }
  return given;
}

async function listPrompts({ client, session, print }: Place): Promise<void> {
  const { items } = await client.get('/v1/sessions/{id}/prompts', { params: { path: { id: session } } });
  if (items.length === 0) print(styled('dim', 'The toolset of this session offers no prompts.'));
  for (const { name, title, description, arguments: known } of items) {
    const args = known.map((one) => (one.required ? ` ${one.name}=…` : ` [${one.name}=…]`)).join('');
    const about = description ?? title;
    print(inLine(`  ${showInvisible(`${name}${args}`)}${about === undefined ? '' : `: ${about}`}`));
  }
}

/** Asks for what a prompt that was refused waits for. Returns false if it waits for nothing, or nothing was decided. */
async function decidePending({ client, session, ask, print }: Place, error: unknown): Promise<boolean> {
  if (!(error instanceof MonikerError)) return false;
  const pending = listOf(recordOf(error.body).pending) as Schemas['Pending'][]; // The service wrote them.
  for (const { callId, ...question } of pending) {
    const { round, canonical } = question;
    const decided = await askDecision(ask, print, { ...question, name: canonical });
    if (decided === null) return false;
    const body = { ...decided, ...(round !== undefined && { round }) };
    await client.post('/v1/sessions/{id}/approvals/{callId}', { params: { path: { id: session, callId } }, body });
  }
  return pending.length > 0;
}
