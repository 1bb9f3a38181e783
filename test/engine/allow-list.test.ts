/** What an agent's list leaves is all that a turn may call: also where the model knows of more. */
import { expect, it } from 'vitest';
import { textResult } from '../../src/core/tool.ts';
import { callEvents, finish, results, resultText, run } from './one-turn.ts';

const names = ['terminalRun', 'shell', 'builtin.bash', 'bash', 'Terminal-Run', 'sh_old', 'erase'];

it('a call outside the list is of an unknown tool by whatever name, runs nothing, and is told of none of those', async () => {
  const ran: string[] = [];
  const { events, requests } = await run(
    [[...names.flatMap((name, call) => callEvents(call, name, { command: 'ls', path: 'a' })), finish('tool-calls')]],
    (_args, _context, canonical) => {
      ran.push(canonical);
      return textResult('ran');
    },
    { allow: ['builtin.read_file'] },
  );
  expect(results(events).map(({ code, canonical }) => [code, canonical])).toEqual(names.map(() => ['unknown_tool', null]));
  for (const result of results(events)) expect(resultText(result).split('". ')[1]).not.toMatch(/terminalRun|shell|erase/);
  expect(ran).toEqual([]);
  expect(requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['cat'], ['cat']]);
});

it('an empty list offers and allows nothing', async () => {
  const { events, requests } = await run([[...callEvents(0, 'cat', { path: 'a' }), finish('tool-calls')]], () => textResult('ran'), {
    allow: [],
  });
  expect(results(events)).toMatchObject([{ code: 'unknown_tool' }]);
  expect(requests.map(({ tools }) => tools)).toEqual([[], []]);
});
