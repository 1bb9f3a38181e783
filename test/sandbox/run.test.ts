/** Code of others in its machine: what it is given, what it gives, and how it ends. */
import { describe, expect, it } from 'vitest';
import { runIn } from './harness.ts';

describe('code in the sandbox', () => {
  it('returns what its body returns', async () => {
    expect(await runIn('return args.a + args.b', { args: { a: 1, b: 2 } })).toEqual({ end: 'returned', value: 3, console: '' });
  });

  it('calls tools and reads their answers', async () => {
    const { end, calls } = await runIn.withCalls("const r = await tools.read_file({ path: 'a' }); return [r.success, r.output]");
    expect(end).toEqual({ end: 'returned', value: [true, 'text of a'], console: '' });
    expect(calls).toEqual([{ name: 'read_file', args: { path: 'a' } }]);
  });

  it('ends in a loop that does not end, and the next run is as if nothing had been', async () => {
    expect(await runIn('while (true) {}')).toMatchObject({ end: 'limit', limit: 'ticks' });
    expect(await runIn('return 1')).toMatchObject({ end: 'returned', value: 1 });
  });
});
