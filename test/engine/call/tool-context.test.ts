import { expect, it } from 'vitest';
import { textResult } from '../../../src/core/tools/tool.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { madeTool, runOf, toolNamed, type RunOptions } from '../inner-run.ts';
import { redactorFor, ruleOf } from '../../redaction.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { boundedChannel } from '../../../src/engine/call/tool-context.ts';

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

it('passes notices of a server on, redacted, until the call has ended', () => {
  const notices: unknown[] = [];
  const ended = new AbortController();
  const redactor = redactorFor();
  redactor.addSecret('a-secret-value');
  const deadline = { extend: () => undefined, pauseDuring: (work: Promise<unknown>) => work } as never;
  const channel = boundedChannel({ notice: (line) => void notices.push(line) }, { redactor, deadline, signal: ended.signal });
  channel.notice?.({ level: 'info', data: 'begun with a-secret-value' });
  ended.abort();
  channel.notice?.({ level: 'info', data: 'too late' });
  expect(notices).toEqual([{ level: 'info', data: 'begun with [secret]' }]);
});

it('logs a failure of a tool without secrets, and by the rules for logs', async () => {
  const log = keptLog();
  const run = runOf([read], {
    bodies: {
      'local.read': async (_args, { secret }) => {
        throw new Error(`the key ${await secret?.('KEY')} was refused`);
      },
    },
  });
  const redaction = async () => ({ results: null, logs: ruleOf((text) => text.replaceAll('refused', '[rule]')) });
  Object.assign(run.deps, { log, redaction, secret: async () => 'a-secret-value' });
  await run.call('read');
  expect(log.lines.map(({ message }) => message)).toContain('a tool failed');
  expect(JSON.stringify(log.lines)).not.toMatch(/a-secret-value|refused/);
});
