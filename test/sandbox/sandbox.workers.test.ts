/** The sandbox in the Workers runtime: there the engine is a module of the bundle, and machines share the isolate with everything else. */
import { describe, expect, it } from 'vitest';
import { runIn } from './harness.ts';

describe('code in the Workers runtime', () => {
  it('calls a tool and returns', async () => {
    const { end, calls } = await runIn.withCalls("const { output } = await tools.read_file({ path: 'a' }); return { output }");
    expect(end).toEqual({ end: 'returned', value: { output: 'text of a' }, console: '' });
    expect(calls).toHaveLength(1);
  });

  it('ends an endless loop', async () => {
    expect(await runIn('while (true) {}')).toMatchObject({ end: 'limit', limit: 'fuel' });
  });

  it('ends when it exceeds the memory limit', async () => {
    expect(await runIn('const all = []; for (;;) all.push(new Uint8Array(1_000_000))')).toMatchObject({ end: 'limit', limit: 'memory' });
  });

  it('is suspended when everything that it waits for waits', async () => {
    expect(await runIn('await tools.read_file({})', { call: () => ({ waits: true }) })).toEqual({ end: 'suspended', console: '' });
  });

  it('lets other work run while it is busy', async () => {
    let others = 0;
    const timer = setInterval(() => others++, 1);
    const end = await runIn('for (;;) await null');
    clearInterval(timer);
    expect(end).toMatchObject({ end: 'limit' });
    expect(others).toBeGreaterThan(0);
  });
});
