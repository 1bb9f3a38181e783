/**
 * The tools of a simulated session and what they did: effects are counted at a recording upstream, outside of everything that
 * can die. Whether a call is safe is said by its arguments, so every tool comes in both kinds.
 */
import { buildAliasMap, type AliasMap } from '../../src/core/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../src/core/edition.ts';
import type { Plan } from '../../src/core/plan.ts';
import { errorResult, textResult, type ToolResult } from '../../src/core/tool.ts';
import type { ToolContext, ToolExecutor } from '../../src/ports/tool-executor.ts';
import { turnNames } from '../../src/engine/plan-names.ts';
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
]);

/** Two toolsets, so that they can change between turns: a name, an alias and a tool differ. */
const documents = new Map<string, object[]>([
  [
    'first',
    [
      { tool: 'sim.note', aliases: ['jot'] },
      { tool: 'sim.guarded', approval: 'always' },
      { tool: 'sim.reach' },
      { tool: 'sim.free', approval: 'never' },
      { tool: 'builtin.delete_file', name: 'erase' },
    ],
  ],
  [
    'second',
    [{ tool: 'sim.note', name: 'remember' }, { tool: 'sim.guarded', name: 'jot', approval: 'always' }, { tool: 'builtin.delete_file' }],
  ],
]);

const compiled = new Map<string, AliasMap>();
for (const [name, tools] of documents) compiled.set(name, buildAliasMap((await compile({ tools }, known)).edition, { aliases: true }));

export const toolsetNames: readonly string[] = [...documents.keys()];
/** What the caller of a turn runs itself. */
export const clientTool = { name: 'pick', description: '', inputSchema: { type: 'object' } };
/** Every name that a model may say: of either toolset, of the caller, and of nothing. */
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
];
/** Tools that do nothing without a person's word. */
export const askingTools: ReadonlySet<string> = new Set(['sim.guarded', 'sim.reach', 'builtin.delete_file']);

export function pointerOf(toolset: string): EditionPointer {
  return { toolset, version: 1, revision: 1, hash: toolset };
}

export function namesFor(plan: Plan): AliasMap | null {
  return turnNames(plan.edition === undefined ? null : (compiled.get(plan.edition.toolset) ?? null), plan);
}

/** The other object that a session needs, in a bad moment. */
export class CatalogAway extends Error {}

export type Effect = { callId: string; canonical: string; safe: boolean; n: unknown; life: number; stale: boolean };

/** What the outside was asked to do, in order; `requests`: of models. */
export type Upstream = { effects: Effect[]; requests: number };

export function isSafe(args: Record<string, unknown>): boolean {
  return args.safe === true;
}

/** The executor of one process. `sending`: something goes out, so all that was written before it is durable. */
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
    isSafe: (_tool, args) => isSafe(args),
    async execute(tool, args, context): Promise<ToolResult> {
      const kind = world.random.int(0, 19);
      if (kind > 3) await life.pause(`${context.idempotencyKey} is about to send`);
      // Most stop when they are told to; some do not listen.
      if (kind !== 4) context.signal.throwIfAborted();
      if (tool.canonical === 'sim.reach' || tool.canonical === 'sim.free')
        await context.fetch(new Request(`https://${tool.ownName}.example/`));
      send(tool, args, context);
      if (kind === 5) return await new Promise(() => undefined);
      await life.pause(`${context.idempotencyKey} hears back`);
      if (kind === 6) throw new Error('the upstream said no');
      return kind === 7 ? errorResult('tool_error', 'exit 1') : textResult(`did ${String(args.n)}`);
    },
  };
}
