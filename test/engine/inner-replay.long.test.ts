/** Code with concurrent nested calls, of which some wait, in a process that may stop at any moment: what it sees and what runs. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { contentText, textResult, type ToolResult } from '../../src/core/tools/tool.ts';
import type { CallJournal } from '../../src/ports/call-journal.ts';
import type { ToolOutcome, ToolContext } from '../../src/ports/tool-executor.ts';
import { answerOf, madeTool, memoryJournal, runOf, toolNamed, decideAll } from './inner-run.ts';
import { runs } from '../selection.ts';

// The platform hashes in its own thread, whose timing a test cannot control.
vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (_algorithm, data) => {
  const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  return Uint8Array.from(createHash('sha256').update(bytes).digest()).buffer;
});

/** A call that code makes, and the number of steps its tool takes. */
type Made = { tool: 'look' | 'send' | 'ask'; takes: number };
/**
 * Threads run concurrently, each with its calls one after the other. `deaths`: steps after which a run dies. `says`: the user's decisions,
 * in order.
 */
type Life = { threads: Made[][]; deaths: number[]; says: ('approve' | 'deny')[] };

const made = fc.record({ tool: fc.constantFrom('look', 'send', 'ask'), takes: fc.nat(6) }) as fc.Arbitrary<Made>;
const life: fc.Arbitrary<Life> = fc.record({
  threads: fc.array(fc.array(made, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
  deaths: fc.array(fc.nat(25), { maxLength: 4 }),
  says: fc.array(fc.constantFrom<'approve' | 'deny'>('approve', 'deny'), { minLength: 1, maxLength: 4 }),
});

const suspended: ToolOutcome = { ...textResult(''), suspended: true };
const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Like the sandbox: ends when all threads have ended, or when the remaining ones wait. */
async function program(threads: Made[][], { calls }: ToolContext, see: (line: string) => void): Promise<ToolOutcome> {
  if (calls === null) throw new Error('no calls');
  let waits = false;
  const lines: string[] = [];
  const thread = async (steps: Made[], index: number): Promise<void> => {
    for (const [at, { tool }] of steps.entries()) {
      const answer = await calls.call(tool, { index, at });
      if (answer.waits) {
        waits = true;
        return;
      }
      const line = `${index}.${at} ${answer.result.code ?? contentText(answer.result.content)}`;
      see(line);
      lines.push(line);
    }
  };
  await Promise.all(threads.map(thread));
  return waits ? suspended : textResult(lines.join('\n'));
}

/** Drops everything that a process does after its death. */
function mortal(journal: CallJournal, isDead: () => boolean): CallJournal {
  const alive = (): void => {
    if (isDead()) throw new Error('this run has ended');
  };
  return {
    ...journal,
    begin: (call) => {
      alive();
      journal.begin(call);
    },
    markWaiting: (call) => {
      if (!isDead()) journal.markWaiting(call);
    },
    finish: (call, result, options) => {
      alive();
      return journal.finish(call, result, options);
    },
  };
}

async function live({ threads, deaths, says }: Life) {
  const { journal, verdicts } = memoryJournal();
  const effects: string[] = [];
  const sights: string[][] = [];
  const uses = [toolNamed('local.look'), toolNamed('local.send'), toolNamed('local.ask', { approval: 'always' })];
  for (let turn = 0; turn < 100; turn += 1) {
    let isDead = false;
    const sight: string[] = [];
    sights.push(sight);
    const effect = (tool: string) => async (args: Record<string, unknown>) => {
      if (!isDead) effects.push(`${tool} ${args.index}.${args.at}`);
      for (let left = threads[Number(args.index)]?.[Number(args.at)]?.takes ?? 0; left > 0; left -= 1) await moment();
      if (isDead) await new Promise(() => undefined);
      return textResult(`${tool} done`);
    };
    const run = runOf([madeTool('code', uses)], {
      safe: ['local.look'],
      scope: { journal: mortal(journal, () => isDead) },
      bodies: {
        'made.code': (_args, context) => program(threads, context, (line) => void (isDead || sight.push(line))),
        'local.look': effect('look'),
        'local.send': effect('send'),
        'local.ask': effect('ask'),
      },
    });
    const death = deaths[turn];
    const died = death === undefined ? new Promise<never>(() => undefined) : after(death);
    const outcome = await Promise.race([run.call('code'), died]);
    if (outcome === null) {
      isDead = true;
      continue;
    }
    if ('answer' in outcome) return { result: answerOf(outcome), effects, sights };
    decideAll(outcome, { verdicts }, () => says[verdicts.size % says.length] ?? 'deny');
  }
  throw new Error('it never ended');
}

async function after(moments: number): Promise<null> {
  for (let left = moments; left > 0; left -= 1) await moment();
  return null;
}

test('an unsafe call runs at most once, and code sees the same results in the same order in every run', async () => {
  await fc.assert(
    fc.asyncProperty(life, async (given) => {
      const { result, effects, sights } = await live(given);
      const unsafe = effects.filter((effect) => !effect.startsWith('look'));
      expect(new Set(unsafe).size).toBe(unsafe.length);
      const last = sights.at(-1) ?? [];
      for (const sight of sights) expect(last.slice(0, sight.length)).toEqual(sight);
      expect(last).toHaveLength(given.threads.flat().length);
      checkAnswers(result, given, effects);
    }),
    { numRuns: runs(300) },
  );
});

/** Checks that nothing is reported as done that was not, and that nothing denied was done. */
function checkAnswers(result: ToolResult, { threads }: Life, effects: readonly string[]): void {
  const lines = contentText(result.content).split('\n');
  for (const [index, steps] of threads.entries())
    for (const [at, { tool }] of steps.entries()) {
      const said = lines.find((line) => line.startsWith(`${index}.${at} `))?.slice(`${index}.${at} `.length);
      const did = effects.includes(`${tool} ${index}.${at}`);
      expect([`${tool} done`, 'denied', 'outcome_unknown']).toContain(said);
      if (said === 'denied') expect(did).toBe(false);
      if (said === `${tool} done`) expect(did).toBe(true);
    }
}
