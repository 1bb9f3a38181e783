import { describe, expect, it } from 'vitest';
import type { ProviderAccess } from '../../../src/core/model/provider.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { UsageReport } from '../../../src/core/records/usage.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import { type BatchTotals, countedResults, createResultScan, reportBatch } from '../../../src/providers/passed/batch-usage.ts';
import { systemClock } from '../../../src/platform/clock.ts';

const line = (model: string, tokens: number): string => {
  const body = { model, usage: { prompt_tokens: tokens, completion_tokens: 1 } };
  return `${JSON.stringify({ custom_id: 'ü', response: { status_code: 200, body }, error: null })}\n`;
};
const failed = `${JSON.stringify({ custom_id: 'f', response: { status_code: 400, body: {} }, error: null })}\n`;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const openAi = { kind: 'openai' } as const;

function scanned(text: string, pieceBytes: number, model: string | null = null): BatchTotals {
  const scan = createResultScan(openAi, model);
  const bytes = bytesOf(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) scan.push(bytes.subarray(at, at + pieceBytes));
  return scan.end();
}

describe('the report of a batch', () => {
  const report = async (baseUrl: string, prices: object | undefined, model: string) => {
    const sent: [string, readonly UsageReport[]][] = [];
    const deps = {
      clock: { now: () => 1_000 },
      directory: {} as Directory,
      recordUsage: async (_workspace: string, session: string, reports: readonly UsageReport[]) => void sent.push([session, reports]),
    };
    // Nothing else of these is used.
    const access = { name: 'p', kind: 'openai', baseUrl, prices } as unknown as ProviderAccess;
    const principal = { workspace: 'default', keyId: 'k'.repeat(12), limits: { key: { dailyCost: 1 } } } as unknown as Principal;
    const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
    const totals = new Map([[model, { calls: 4, failures: 1, unreported: 1, usage }]]);
    await reportBatch(deps, principal, { access, batch: 'b', totals, requestId: null });
    return sent[0] ?? ['', []];
  };
  const own = { 'gpt-4o': { input: 2, output: 10 } };

  it('has half of the price at the services that document it, and the price elsewhere', async () => {
    const costs = await Promise.all(
      [
        ['https://api.openai.com/v1', undefined, 'gpt-4o'],
        ['https://api.anthropic.com/v1', own, 'gpt-4o'],
        ['https://api.openai.com.example/v1', own, 'gpt-4o'],
        ['https://api.groq.com/openai/v1', own, 'gpt-4o'],
      ].map(
        async ([url, prices, model]) => (await report(url as string, prices as object | undefined, model as string))[1][0]?.models[0]?.cost,
      ),
    );
    expect(costs).toEqual([6.25, 6, 12, 12]);
  });

  it('counts each request, for the budgets of its key, under an id that is the same every time', async () => {
    const [session, [first]] = await report('https://a.example/v1', own, 'gpt-4o');
    const [again, [second]] = await report('https://a.example/v1', own, 'gpt-4o');
    expect([again, second]).toEqual([session, first]);
    expect(first).toMatchObject({
      part: 1,
      budgets: [{ of: 'key' }],
      models: [{ calls: 4, failures: 1, priced: 2, unpriced: 1, unreported: 1 }],
    });
    expect(session).toMatch(/^batch_[0-9a-f]{32}$/);
    const [, [unpriced]] = await report('https://a.example/v1', undefined, 'gpt-4o');
    expect(unpriced?.models).toMatchObject([{ cost: 0, priced: 0, unpriced: 3 }]);
  });
});

describe('the results of a batch', () => {
  it('are added up by model, in pieces of any size', () => {
    const text = line('a', 1) + line('b', 2) + line('a', 3) + failed;
    for (const size of [1, 7, 1_000]) {
      const totals = scanned(text, size);
      expect(totals.get('a')).toMatchObject({ calls: 2, failures: 0, usage: { inputTokens: 4, outputTokens: 2 } });
      expect(totals.get('b')).toMatchObject({ calls: 1, usage: { inputTokens: 2 } });
      expect(totals.get('unknown')).toMatchObject({ calls: 1, failures: 1, unreported: 0 });
    }
    expect(scanned(text, 50, 'asked').get('asked')).toMatchObject({ calls: 4, failures: 1, usage: { inputTokens: 6 } });
  });

  it('count as unreported where they do not say what they used, or are too long to be read', () => {
    const silent = JSON.stringify({ response: { status_code: 200, body: { model: 'a' } } });
    expect(scanned(silent, 100).get('a')).toMatchObject({ calls: 1, unreported: 1 });
    const long = `{"custom_id":"${'x'.repeat(17_000_000)}"}\n${line('a', 1)}`;
    expect(scanned(long, 1_000_000).get('unknown')).toMatchObject({ calls: 1, unreported: 1 });
    expect(scanned('\n\nno json\n{"other":1}\n', 4).size).toBe(0);
  });

  it('of many models are counted under at most 101 names', () => {
    const totals = scanned(Array.from({ length: 300 }, (_, index) => line(`m${index}`, 1)).join(''), 4_096);
    expect([totals.size, totals.get('other')?.calls]).toEqual([101, 200]);
  });
});

describe('results that are forwarded', () => {
  const open = (end: (controller: ReadableStreamDefaultController<Uint8Array>) => void) => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          sent += 1;
          if (sent <= 20) controller.enqueue(bytesOf(line('a', 1)));
          else end(controller);
        },
      },
      { highWaterMark: 0 },
    );
    const counts: BatchTotals[] = [];
    const works: Promise<unknown>[] = [];
    const deps = { clock: systemClock, background: (work: Promise<unknown>) => void works.push(work) };
    const count = async (totals: BatchTotals) => void counts.push(totals);
    return { stream: countedResults(body, createResultScan(openAi, null), deps, count), counts, works };
  };

  it('are counted before their end', async () => {
    const { stream, counts, works } = open((controller) => controller.close());
    expect(await new Response(stream).text()).toBe(line('a', 1).repeat(20));
    expect(counts.map((totals) => totals.get('a')?.calls)).toEqual([20]);
    await Promise.all(works);
  });

  it('are read to their end when the client disconnects before', async () => {
    const { stream, counts, works } = open((controller) => controller.close());
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel();
    await Promise.all(works);
    expect(counts.at(-1)?.get('a')?.calls).toBe(20);
  });

  it('are not counted when the provider breaks off', async () => {
    const { stream, counts, works } = open((controller) => controller.error(new Error('gone')));
    await expect(new Response(stream).text()).rejects.toThrow('gone');
    await Promise.all(works);
    expect(counts).toEqual([]);
  });
});
