import { expect, it } from 'vitest';
import { textResult } from '../../../src/core/tools/tool.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { madeTool, runOf, toolNamed, type RunOptions } from '../inner-run.ts';

const read = toolNamed('local.read');
const preset = toolNamed('local.preset', {
  arguments: { preset: { headers: { authorization: 'Bearer t' } } },
  sourceSchema: { type: 'object', properties: { headers: { type: 'object' } } },
});

/** Whether each of the executed tools may send credentials, by canonical name. */
async function authenticating(name: string, scope: RunOptions['scope']): Promise<Record<string, boolean | undefined>> {
  const seen: Record<string, boolean | undefined> = {};
  const note =
    (canonical: string) =>
    (_args: unknown, { mayAuthenticate }: ToolContext) => {
      seen[canonical] = mayAuthenticate;
      return textResult('ok');
    };
  const run = runOf([read, preset, madeTool('both', [read])], {
    ...(scope && { scope }),
    bodies: {
      'local.read': note('read'),
      'local.preset': note('preset'),
      'made.both': async (_args, { calls }) => {
        await calls?.call('local.read', {});
        return textResult('ok');
      },
    },
  });
  await run.call(name);
  return seen;
}

it('lets a direct call send credentials, and a turn only those that its toolset presets', async () => {
  expect(await authenticating('read', { turn: null })).toEqual({ read: true });
  expect(await authenticating('read', {})).toEqual({ read: false });
  expect(await authenticating('preset', {})).toEqual({ preset: true });
});

it('lets no nested call send credentials of its own', async () => {
  expect(await authenticating('both', { turn: null })).toEqual({ read: false });
});
