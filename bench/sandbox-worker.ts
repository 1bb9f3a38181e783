/** The sandbox in workerd, for `sandbox.ts`: a request runs a number of passes, timed from outside. */
import type { EditionTool } from '../src/core/toolset/edition-tool.ts';
import { textResult } from '../src/core/tools/tool.ts';
import type { InnerCalls } from '../src/ports/inner-calls.ts';
import type { ToolContext } from '../src/ports/tool-executor.ts';
import { poolBounds } from '../src/core/limits/pools.ts';
import { createFairPool } from '../src/engine/fair-pool.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createMadeExecutor } from '../src/sandbox/made-executor.ts';
import { createSandbox } from '../src/sandbox/sandbox.ts';

const owner = { workspace: 'default', keyId: 'bench' };
const sandbox = createSandbox(createFairPool(poolBounds.machineBytes, systemClock), owner);
const executor = createMadeExecutor();
const files = new Map([['a', 'one two three '.repeat(500)]]);
const code = `const { output } = await tools.read_file({ path: args.path });
const parts = output.split(args.find);
await tools.write_file({ path: args.path, content: parts.join(args.replace) });
return { replaced: parts.length - 1 };`;
// The executor reads nothing else of an edition's tool.
const tool = { canonical: 'made.replace', inputSchema: {}, made: { implementation: code, uses: [] } } as unknown as EditionTool;

const calls: InnerCalls = {
  tools: ['read_file', 'write_file'].map((name) => ({ name, canonical: name, aliases: [], description: '', inputSchema: {} })),
  replay: { now: 0, seed: 'bench' },
  async call(name, args) {
    const { path, content } = args as { path: string; content?: string };
    if (name === 'write_file') files.set(path, content ?? '');
    return { waits: false, result: textResult(files.get(path) ?? '') };
  },
};

async function made(): Promise<void> {
  const context = { signal: new AbortController().signal, calls, sandbox } as ToolContext;
  const result = await executor.execute(tool, { path: 'a', find: 'two', replace: 'two' }, context);
  if (result.isError) throw new Error(JSON.stringify(result.content));
}

async function direct(): Promise<void> {
  const read = await calls.call('read_file', { path: 'a' });
  const block = read.waits ? null : read.result.content[0];
  const parts = (block?.type === 'text' ? block.text : '').split('two');
  await calls.call('write_file', { path: 'a', content: parts.join('two') });
}

/** The longest wait of a 10 ms timer while an endless loop runs, in milliseconds, and how long that took. */
async function stall(): Promise<{ gap: number; total: number }> {
  const begin = Date.now();
  let last = begin;
  let gap = 0;
  const tick = (): void => {
    gap = Math.max(gap, Date.now() - last);
    last = Date.now();
  };
  const timer = setInterval(tick, 10);
  const run = { source: 'while (true) {}', args: {}, tools: [], now: 0, seed: '', call: calls.call };
  await sandbox.run(run, new AbortController().signal);
  tick();
  clearInterval(timer);
  return { gap, total: Date.now() - begin };
}

export default {
  /** `/made/<passes>`, `/direct/<passes>`, `/together/<passes>`, `/stall/1`. */
  async fetch(request: Request): Promise<Response> {
    const [, kind, count] = new URL(request.url).pathname.split('/');
    if (kind === 'stall') return Response.json(await stall());
    if (kind === 'together') await Promise.all(Array.from({ length: Number(count) }, made));
    else for (let pass = 0; pass < Number(count); pass++) await (kind === 'made' ? made() : direct());
    return Response.json({});
  },
};
