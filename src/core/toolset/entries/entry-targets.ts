/**
 * Entries with several targets: `{"tool": ["github.search", "github-backup.search"], "choose": …}` (contract §4). The first target is what the entry is:
 * its names, its definition and its place in lists and rights. A call runs on one of the targets, which `engine/call/call-targets.ts` chooses.
 */
import * as z from 'zod';
import { limits } from '../../limits/limits.ts';
import { quote } from '../../names/names.ts';

const maxTargets = 16;
const maxCallers = 100;
const maxWeight = 10_000;
/** A result may be as old as a day. */
const maxCacheSeconds = 86_400;

const TargetName = z.string().min(1).max(limits.maxCanonicalNameLength);

export const EntryTool = z.union([TargetName, z.array(TargetName).min(1).max(maxTargets)]).meta({
  description:
    'Canonical name. Optional if `refId` is given. `<server>.*` (or `<server>.<beginning>*`) is replaced by one entry for each tool that ' +
    `the server has when the toolset is written. A list of up to ${maxTargets} names gives the entry several targets: tools of servers that accept every call of the first one, which \`choose\` chooses from.`,
  example: 'builtin.bash',
});

const Caller = z
  .record(z.string().min(1).max(50), z.string().max(1_000))
  .refine((fields) => Object.keys(fields).length > 0, { message: 'must name a field of the key' })
  .meta({
    description: 'Fields of the calling key, which all have to be equal: `key`, `workspace`, `role`, or one set when the key was created.',
  });

export const TargetChoice = z
  .union([
    z.literal('in-order'),
    z.strictObject({ weights: z.record(TargetName, z.int().min(0).max(maxWeight)) }),
    z.strictObject({ callers: z.record(TargetName, z.array(Caller).min(1).max(maxCallers)) }),
  ])
  .meta({
    id: 'TargetChoice',
    description:
      '`in-order` (default): the first target that can be called. A call that may have had an effect is not made again. ' +
      '`weights`: a share of the sessions (without a session: of the keys) for each target; a session keeps its target. ' +
      '`callers`: the first target that lists the calling key, else the first target.',
    example: { weights: { 'github.search': 95, 'github-next.search': 5 } },
  });
export type TargetChoice = z.infer<typeof TargetChoice>;

export const EntryCache = z
  .strictObject({
    ttl: z.int().min(1).max(maxCacheSeconds).meta({ description: 'Seconds for which a result answers equal calls.' }),
    per: z
      .enum(['key', 'workspace'])
      .optional()
      .meta({ description: 'Who gets the same result: calls of one key (default), or of the workspace.' }),
  })
  .meta({ id: 'EntryCache', description: 'For tools that only read: equal calls get a stored result.', example: { ttl: 60 } });
export type EntryCache = z.infer<typeof EntryCache>;

type WithTool = { tool?: string | readonly string[] | undefined };
type Targets = { tool?: string | string[] | undefined; choose?: TargetChoice | undefined };

/** Returns the canonical name of the first target; undefined: only `refId` names the tool. */
export function toolOf({ tool }: WithTool): string | undefined {
  return typeof tool === 'object' ? tool[0] : tool;
}

export function targetNames({ tool }: WithTool): readonly string[] {
  return typeof tool === 'object' ? tool : tool === undefined ? [] : [tool];
}

/** Returns the path of a target, in the entry. */
export function targetPath({ tool }: WithTool, index: number): string {
  return typeof tool === 'object' ? `tool[${index}]` : 'tool';
}

/** Returns the members of an entry that name tools, with `to` in place of `from`. */
export function rebound({ tool, choose }: Targets, from: string, to: string): Targets {
  const renamed = (name: string): string => (name === from ? to : name);
  const keyed = <T>(record: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [renamed(name), value]));
  return {
    ...(tool !== undefined && { tool: typeof tool === 'object' ? tool.map(renamed) : renamed(tool) }),
    ...(typeof choose === 'object' && {
      choose: 'weights' in choose ? { weights: keyed(choose.weights) } : { callers: keyed(choose.callers) },
    }),
  };
}

/** Returns what is wrong with the targets of a written entry, by itself. Paths are lists, as of zod. */
export function targetFaults(
  entry: WithTool & { refId?: unknown; choose?: TargetChoice | undefined },
): { path: (string | number)[]; message: string }[] {
  const { tool, choose } = entry;
  const targets = targetNames(entry);
  const listed =
    typeof tool !== 'object'
      ? []
      : targets.flatMap((name, index) => {
          const path = ['tool', index];
          if (name.endsWith('*')) return [{ path, message: 'names several tools; a target is one tool' }];
          return targets.indexOf(name) < index ? [{ path, message: `${quote(name)} is listed twice` }] : [];
        });
  if (typeof tool === 'object' && entry.refId !== undefined)
    listed.push({ path: ['refId'], message: 'names one tool, and tool lists several; leave one of them out' });
  if (choose === undefined) return listed;
  if (targets.length < 2) return [...listed, { path: ['choose'], message: 'needs several tools in tool' }];
  if (choose === 'in-order') return listed;
  const [member, named] = 'weights' in choose ? (['weights', choose.weights] as const) : (['callers', choose.callers] as const);
  const unknown = Object.keys(named).filter((name) => !targets.includes(name));
  listed.push(...unknown.map((name) => ({ path: ['choose', member, name], message: 'is no target of this entry' })));
  if (!('weights' in choose)) return listed;
  const without = targets.filter((name) => !Object.hasOwn(choose.weights, name));
  listed.push(...without.map((name) => ({ path: ['choose', member], message: `has no weight for ${name}; 0 sends it no calls` })));
  if (Object.values(choose.weights).every((weight) => weight === 0))
    listed.push({ path: ['choose', member], message: 'are all 0; at least one must be more' });
  return listed;
}
