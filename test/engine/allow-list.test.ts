/** A turn may call only the tools that its agent's list allows, even if the model knows of others. */
import { expect, it } from 'vitest';
import { textResult } from '../../src/core/tools/tool.ts';
import { callEvents, finish, results, resultText, run } from './one-turn.ts';

const names = ['terminalRun', 'shell', 'builtin.bash', 'bash', 'Terminal-Run', 'sh_old', 'erase'];

it('treats a tool outside the list as unknown by any of its names, runs nothing, and does not suggest it', async () => {
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

it('offers and allows nothing with an empty list', async () => {
  const { events, requests } = await run([[...callEvents(0, 'cat', { path: 'a' }), finish('tool-calls')]], () => textResult('ran'), {
    allow: [],
  });
  expect(results(events)).toMatchObject([{ code: 'unknown_tool' }]);
  expect(requests.map(({ tools }) => tools)).toEqual([[], []]);
});
