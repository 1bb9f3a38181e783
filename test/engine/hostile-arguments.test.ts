/** Arguments of broken models, from the pieces of the reply to the tool: truncated arguments run nothing. */
import { expect, it } from 'vitest';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { textResult } from '../../src/core/tools/tool.ts';
import { TextToolCalls } from '../../src/core/text-protocol/tool-calls.ts';
import { ToolCallAssembler } from '../../src/core/model/tool-call-assembler.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';
import { toolOf } from '../fakes/known-tools.ts';
import { describeCorpus, readJsonLines } from '../fixtures.ts';
import { finish, results, resultText, run, say } from './one-turn.ts';

/** The events of a reply with this one call. `ended`: whether the reply was complete. */
function replyWith(name: string, text: string, ended: boolean): ChatEvent[] {
  const assembler = new ToolCallAssembler();
  return [...assembler.push({ index: 0, id: 'n', name, arguments: text }), ...assembler.finish({ ended, length: false })];
}

it('tells the model about a call in text that cannot be read, without a name, and continues', async () => {
  for (const [text, ended, code, sentence] of [
    ['<tool_call>run it</tool_call>', true, 'invalid_json', 'the call could not be read'],
    ['<tool_call>{"nam', false, 'truncated', 'the call was cut off'],
  ] as const) {
    const words = new TextToolCalls({ isTool: () => true });
    const call = [...words.push(text), ...words.finish({ ended, length: false })];
    const { events, requests } = await run([[...call, finish('tool-calls')], say('sorry')], () => textResult('ran'));
    expect(results(events)).toMatchObject([{ isError: true, code }]);
    expect(resultText(results(events)[0])).toMatch(`Not run: ${sentence}`);
    expect(requests).toHaveLength(2);
  }
});

it('runs a call whose text ends in a number only if the provider reported the end of the reply', async () => {
  const properties = { x: { type: 'number' }, y: { type: 'number' } };
  const add = toolOf('builtin', 'add', {
    kind: 'builtin',
    inputSchema: { type: 'object', properties },
    annotations: { readOnlyHint: true },
  });
  const offer = { definitions: [add], toolset: Toolset.parse({ tools: [{ tool: 'builtin.add' }] }) };
  for (const ended of [true, false]) {
    const given: unknown[] = [];
    const execute = (args: unknown) => {
      given.push(args);
      return textResult('8');
    };
    const script = [[...replyWith('add', '{"x": 5, "y": 3', ended), finish('tool-calls')], say('done')];
    const { events } = await run(script, execute, {}, [], null, offer);
    expect(results(events).map(({ code }) => code)).toEqual([ended ? undefined : 'truncated']);
    expect(given).toEqual(ended ? [{ x: 5, y: 3 }] : []);
  }
});

describeCorpus('security/json-hostile.jsonl', (path) => {
  const rows = readJsonLines<{ id: string; class: string; text?: string }>(path).flatMap(({ id, class: kind, text }) =>
    // A number at the end is a value: the test below.
    kind === 'truncated' && text !== undefined && !/\d$/.test(text) ? [{ id, text }] : [],
  );

  it('has its truncated rows', () => expect(rows.length).toBeGreaterThanOrEqual(11));

  it.each(rows)('$id runs nothing for any tool, reports it to the model, and logs the received text', async ({ text }) => {
    for (const name of ['terminalRun', 'erase', 'cat']) {
      // Blank text means "no arguments" if the reply was complete (contract §6); in a truncated reply it is ambiguous.
      const call = replyWith(name, text, text.trim() !== '');
      let ran = 0;
      const { events, requests } = await run([[...call, finish('tool-calls')], say('sorry')], () => {
        ran += 1;
        return textResult('ran');
      });
      expect(ran, name).toBe(0);
      expect(results(events), name).toMatchObject([{ isError: true, code: 'truncated' }]);
      expect(resultText(results(events)[0])).toMatch(/Send the call again/);
      expect(events.find(({ type }) => type === 'tool-input-end')).toMatchObject({ arguments: null, raw: text });
      expect(JSON.stringify(requests[1]?.messages)).toContain('cut off before their end');
    }
  });

  it('never treats missing arguments as valid for a tool that requires some', async () => {
    for (const text of ['', '   ']) {
      const { events } = await run([[...replyWith('erase', text, true), finish('tool-calls')], say('sorry')], () => textResult('ran'));
      expect(results(events)).toMatchObject([{ isError: true, code: 'invalid_arguments' }]);
    }
  });
});
