/** Sandboxed code that makes many concurrent calls, of which some wait: recorded results keep their order, and waiting calls do not block them. */
import { expect, test } from 'vitest';
import { contentText, textResult } from '../../src/core/tools/tool.ts';
import type { ToolOutcome, ToolContext } from '../../src/ports/tool-executor.ts';
import { sandbox } from '../sandbox/harness.ts';
import { answerOf, madeTool, memoryJournal, runOf, toolNamed, decideAll } from './inner-run.ts';

async function inSandbox(source: string, { calls, signal }: ToolContext): Promise<ToolOutcome> {
  if (calls === null) throw new Error('no calls');
  const tools = calls.tools.map(({ name }) => name);
  const end = await sandbox.run({ source, args: {}, tools, ...calls.replay, call: (name, args) => calls.call(name, args) }, signal);
  if (end.end === 'suspended') return { ...textResult(''), suspended: true };
  return textResult(end.end === 'returned' ? JSON.stringify(end.value) : JSON.stringify(end));
}

test('many waiting calls do not block recorded results of later calls', async () => {
  const source = `const names = [...Array(20).fill('ask'), 'look', 'look'];
    return (await Promise.all(names.map((name, at) => tools[name]({ at })))).map(({ output }) => output).join(' ')`;
  const { journal, verdicts } = memoryJournal();
  const ran: string[] = [];
  const effect = (tool: string) => async (args: Record<string, unknown>) => {
    ran.push(`${tool}${args.at}`);
    return textResult(`${tool}${args.at}`);
  };
  const uses = [toolNamed('local.look'), toolNamed('local.ask', { approval: 'always' })];
  const run = runOf([madeTool('code', uses)], {
    scope: { journal },
    bodies: { 'made.code': (_args, context) => inSandbox(source, context), 'local.look': effect('look'), 'local.ask': effect('ask') },
  });
  decideAll(await run.call('code'), { verdicts });
  expect(verdicts.size).toBe(20);
  const all = [...Array.from({ length: 20 }, (_, at) => `ask${at}`), 'look20', 'look21'];
  expect(contentText(answerOf(await run.call('code')).content)).toBe(JSON.stringify(all.join(' ')));
  expect(ran.toSorted()).toEqual(all.toSorted());
});
