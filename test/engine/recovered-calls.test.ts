/** Calls that stand in the text of a model with native calls: harmless ones run, destructive ones require approval. */
import { expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { type ToolDefinition, textResult } from '../../src/core/tools/tool.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';
import type { ChatModel } from '../../src/ports/chat-model.ts';
import { withTextProtocol } from '../../src/providers/text-protocol.ts';
import { callEvents, finish, results, run, say } from './one-turn.ts';

const tool = (name: string, annotations: object): ToolDefinition =>
  ({
    canonical: `desk.${name}`,
    server: 'desk',
    name,
    kind: 'local',
    description: `The ${name} tool.`,
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    annotations,
    aliases: [],
  }) as unknown as ToolDefinition;
const definitions = [tool('look', { readOnlyHint: true }), tool('note', {}), tool('erase', { destructiveHint: true })];
const toolset = Toolset.parse({ tools: ['look', 'note', 'erase'].map((name) => ({ tool: `desk.${name}`, approval: 'never' })) });

async function turnWith(first: readonly ChatEvent[]) {
  const replies = [first, say('done')];
  const scripted: ChatModel = {
    async *stream() {
      yield replies.shift() ?? say('again?');
    },
  };
  const ran: string[] = [];
  const execute = (_args: unknown, _context: unknown, canonical: string) => {
    ran.push(canonical);
    return textResult('ok');
  };
  const turn = await run([], execute, {}, [], null, { definitions, toolset, model: withTextProtocol(scripted) });
  return { ...turn, ran, ended: await turn.done };
}

const leaked = (name: string): ChatEvent[] => [
  { type: 'text', text: `<tool_call>\n{"name": "${name}", "arguments": {"path": "a"}}\n</tool_call>` },
  finish('stop'),
];

it.each(['look', 'note'])('runs a recovered call of %s, marked in the log and in the conversation', async (name) => {
  const { events, ran, scope, ended } = await turnWith(leaked(name));
  expect(ran).toEqual([`desk.${name}`]);
  expect(results(events)).toMatchObject([{ isError: false }]);
  expect(events.filter(({ type }) => type === 'tool-input-end')).toMatchObject([{ repaired: false, recovered: true }]);
  expect(scope.messages()[1]?.parts).toMatchObject([{ type: 'tool-call', requested: name, recovered: true }]);
  expect(events.filter(({ type }) => type === 'text-delta')).toMatchObject([{ text: 'done' }]);
  expect(ended).toBe('ended');
});

it('asks for approval of a recovered destructive call, although its entry never requires one', async () => {
  const { events, ran, ended } = await turnWith(leaked('erase'));
  expect(ran).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: 'approval-required', ask: 'destructive', canonical: 'desk.erase' });
  expect(ended).toBe('waiting');
  expect((await turnWith([...callEvents(0, 'erase', { path: 'a' }), finish('tool-calls')])).ran).toEqual(['desk.erase']);
});

it('leaves a call in a code fence in the text', async () => {
  const text = '```json\n{"name": "look", "arguments": {"path": "a"}}\n```';
  const { events, ran } = await turnWith([{ type: 'text', text }, finish('stop')]);
  expect(ran).toEqual([]);
  expect(events.filter(({ type }) => type === 'text-delta')).toMatchObject([{ text }]);
});
