/**
 * The tools of a simulated session and their effects, which are counted at a recording upstream outside of everything that can crash.
 * The arguments of a call say whether it is safe, so every tool has both kinds.
 */
import { buildAliasMap, type AliasMap } from '../../src/core/toolset/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../src/core/toolset/edition-tool.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import { callsTools } from '../../src/core/toolset/composite-tool.ts';
import { errorResult, textResult } from '../../src/core/tools/tool.ts';
import type { ToolOutcome, ToolContext, ToolExecutor } from '../../src/ports/tool-executor.ts';
import { turnNames } from '../../src/engine/plan/plan-names.ts';
import { compile, knownTools, toolOf } from '../fakes/known-tools.ts';
import type { Life, World } from './world.ts';

const inputSchema = {
  type: 'object',
  properties: { n: { type: 'integer' }, safe: { type: 'boolean' }, path: { type: 'string' } },
  required: ['n'],
  additionalProperties: false,
};
const known = knownTools([
  toolOf('sim', 'note', { kind: 'local', inputSchema }),
  toolOf('sim', 'guarded', { kind: 'local', inputSchema }),
  toolOf('sim', 'reach', { kind: 'local', inputSchema }),
  toolOf('sim', 'free', { kind: 'local', inputSchema }),
  toolOf('builtin', 'delete_file', { kind: 'builtin', inputSchema }),
  toolOf('builtin', 'run_code', { kind: 'builtin', inputSchema }),
]);

/** Two toolsets that can change between turns: a name, an alias and a tool differ. */
const documents = new Map<string, object[]>([
  [
    'first',
    [
      { tool: 'sim.note', aliases: ['jot'] },
      { tool: 'sim.guarded', approval: 'always' },
      { tool: 'sim.reach' },
      { tool: 'sim.free', approval: 'never' },
      { tool: 'builtin.delete_file', name: 'erase' },
      { tool: 'builtin.run_code' },
    ],
  ],
  [
    'second',
    [
      { tool: 'sim.note', name: 'remember' },
      { tool: 'sim.guarded', name: 'jot', approval: 'always' },
      { tool: 'builtin.delete_file' },
      { tool: 'builtin.run_code' },
    ],
  ],
]);

const compiled = new Map<string, AliasMap>();
for (const [name, tools] of documents) compiled.set(name, buildAliasMap((await compile({ tools }, known)).edition, { aliases: true }));

export const toolsetNames: readonly string[] = [...documents.keys()];
/** The tool that the client of a turn runs. */
export const clientTool = { name: 'pick', description: '', inputSchema: { type: 'object' } };
/** Every name that a model may use: of either toolset, of the client, and unknown. */
export const sayableNames: readonly string[] = [
  'note',
  'jot',
  'remember',
  'guarded',
  'reach',
  'free',
  'erase',
  'delete_file',
  'pick',
  'nosuch',
  'run_code',
];
/** A file of the client that is never deleted: a tool that would delete it requires approval. */
export const givenFile = '/workspace/a.txt';
/** Tools that always require approval. */
export const askingTools: ReadonlySet<string> = new Set(['sim.guarded', 'sim.reach', 'builtin.delete_file']);

export function pointerOf(toolset: string): EditionPointer {
  return { toolset, version: 1, revision: 1, hash: toolset };
}

export function namesFor(plan: Plan): AliasMap | null {
  return turnNames(plan.edition === undefined ? null : (compiled.get(plan.edition.toolset) ?? null), plan);
}

/** The other object that a session needs, during an outage. */
export class CatalogAway extends Error {}

export type Effect = { callId: string; canonical: string; safe: boolean; n: unknown; life: number; stale: boolean };

/** The requests to the outside, in order; `requests`: of models. */
export type Upstream = { effects: Effect[]; requests: number };

/** For a tool that calls tools, its journal has what had ended. */
export function isSafe(args: Record<string, unknown>): boolean {
  return args.safe === true;
}

/** The executor of one process. `sending`: something is sent, so everything written before it is durable. */
export function createExecutor(world: World, life: Life, upstream: Upstream, sending: (effect: Effect) => void): ToolExecutor {
  const send = (tool: EditionTool, args: Record<string, unknown>, context: ToolContext): void => {
    if (life.state === 'dead' || life.isMute) return;
    const effect: Effect = {
      callId: context.idempotencyKey,
      canonical: tool.canonical,
      safe: isSafe(args),
      n: args.n,
      life: life.number,
      stale: life.state === 'stale',
    };
    world.note(() => `  EFFECT of ${effect.callId} (${effect.canonical}, ${effect.safe ? 'safe' : 'unsafe'})`);
    sending(effect);
    upstream.effects.push(effect);
  };
  return {
    isSafe: (tool, args) => callsTools(tool) || isSafe(args),
    async execute(tool, args, context): Promise<ToolOutcome> {
      if (callsTools(tool)) return await program(world, life, args, context);
      const kind = world.random.int(0, 19);
      if (kind > 3) await life.pause(`${context.idempotencyKey} is about to send`);
      // Most stop when aborted; some ignore it.
      if (kind !== 4) context.signal.throwIfAborted();
      if (tool.canonical === 'sim.reach' || tool.canonical === 'sim.free')
        await context.fetch(new Request(`https://${tool.ownName}.example/`));
      send(tool, args, context);
      if (kind === 5) return await new Promise(() => undefined);
      await life.pause(`${context.idempotencyKey} gets a response`);
      if (kind === 6) throw new Error('the upstream said no');
      return kind === 7 ? errorResult('tool_error', 'exit 1') : textResult(`did ${String(args.n)}`);
    },
  };
}

/** Code over tools: two or three calls, one of which requires approval, in parallel or not, alternately safe and unsafe. */
async function program(world: World, life: Life, args: Record<string, unknown>, { calls, signal }: ToolContext): Promise<ToolOutcome> {
  if (calls === null) throw new Error('it has no calls');
  const n = Number(args.n);
  const made = ['sim.note', 'sim.guarded', 'sim.note', 'sim.guarded'].slice(n % 2, (n % 2) + 2 + (n % 3 === 0 ? 1 : 0));
  const answers: string[] = [];
  let waits = false;
  const call = async (name: string, index: number): Promise<void> => {
    await life.pause('code continues');
    signal.throwIfAborted();
    const answer = await calls.call(name, { n: n * 100 + index, safe: (index % 2 === 0) === isSafe(args) });
    if (answer.waits) waits = true;
    else answers.push(answer.result.code ?? 'ok');
  };
  if (n > 5) await Promise.all(made.map(call));
  else for (const [index, name] of made.entries()) if (!waits) await call(name, index);
  if (world.random.chance(0.03)) await new Promise(() => undefined);
  return waits ? { ...textResult(''), suspended: true } : textResult(answers.join(' '));
}
