/**
 * Further names of models in a workspace, for clients whose model names are fixed: `claude-*` → `groq/llama-3.3-70b`. An alias names a model,
 * an agent or a route (`route.ts`), never another alias, so that there are no loops.
 */
import * as z from 'zod';
import { boundedText } from '../text/bounded-text.ts';
import { limits } from '../limits/limits.ts';
import { CachePolicy } from './cache/cache-policy.ts';
import { quoted } from '../problem.ts';
import { matchesPieces } from '../text/match-stars.ts';
import { type NamedRoute, type ResolvedModel, routeIssues, routeMembers } from './route.ts';

export const maxModelAliases = 500;

/**
 * May look like `<provider>/<model>`, since other gateways name models so, and takes precedence over it. One `*` stands for any text, also
 * none; a name without `/` stands for names without one only, so that `*` leaves `<provider>/<model>` as it is.
 */
export const ModelAliasName = z
  .string()
  .regex(/^(?=.{1,128}$)(?!(?:agent|rehearsal)\/)(?!.*\/\.{1,2}(?:\/|$))[a-z0-9*][\w.:@+*-]*(?:\/[\w.:@+*-]+)*$/i, {
    message: 'must be 1 to 128 letters, digits or . _ : @ + - *, with single "/" inside, and not begin with agent/ or rehearsal/',
  })
  .refine((name) => name.split('*').length <= 2, { message: 'may have one "*"' });

function isReserved(name: string): boolean {
  return /^(?:agent|rehearsal)\//i.test(name);
}

export const ModelAlias = z
  .strictObject({
    name: ModelAliasName.optional().meta({ description: 'Optional. Must equal the name in the path.' }),
    model: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}\/.{1,200}$/, {
        message: 'must be <provider>/<model> or agent/<name>; an alias cannot name another alias',
      })
      .optional()
      .meta({
        description: 'The model or the agent that requests with this name use. Either this or `targets`.',
        example: 'groq/llama-3.3-70b-versatile',
      }),
    ...routeMembers,
    targets: routeMembers.targets.optional(),
    description: boundedText(limits.maxDescriptionBytes).optional(),
    cache: CachePolicy.optional(),
  })
  .superRefine(({ model, targets, ...members }, context) => {
    const fault = (path: (string | number)[], message: string): void => context.addIssue({ code: 'custom', path, message });
    if (targets === undefined) {
      if (model === undefined) fault(['model'], 'is required: give either model or targets');
      for (const name of Object.keys(routeMembers)) if (Object.hasOwn(members, name)) fault([name], 'needs `targets`');
      return;
    }
    if (model !== undefined) fault(['model'], 'give either model or targets');
    for (const { path, message } of routeIssues({ ...members, targets })) fault(path, message);
  })
  .meta({ id: 'ModelAlias', example: { model: 'rehearsal/default', description: 'For clients that only know this name.' } });
export type ModelAlias = z.infer<typeof ModelAlias>;

/** An alias of a workspace, and what it names. */
export type NamedModel = ({ name: string; model: string } | NamedRoute) & { cache?: CachePolicy };

/** Returns what is published of a stored alias, which was parsed when it was written. */
export function toNamedModel(name: string, { description: _description, ...alias }: ModelAlias): NamedModel {
  return { ...alias, name } as NamedModel;
}

/** Returns what an alias stands for. */
export function namedBy(alias: NamedModel): ResolvedModel {
  return 'targets' in alias ? alias : alias.model;
}

/** Returns what a name stands for; null if no alias matches. The exact name wins, then the pattern with the most text. */
export function resolveModelAlias(aliases: readonly NamedModel[], requested: string): ResolvedModel | null {
  const found = findModelAlias(aliases, requested);
  return found === null ? null : namedBy(found);
}

export function findModelAlias(aliases: readonly NamedModel[], requested: string): NamedModel | null {
  if (isReserved(requested)) return null;
  const hasSlash = requested.includes('/');
  let best: NamedModel | null = null;
  for (const alias of aliases) {
    if (alias.name === requested) return alias;
    if (alias.name.includes('/') !== hasSlash) continue;
    if (matchesPieces(alias.name.split('*'), requested) && (best === null || isCloser(alias.name, best.name))) best = alias;
  }
  return best;
}

/**
 * Returns the model that an agent or a session names, directly or by an alias, or why there is none. With a `/` it is never an alias: an
 * agent that an alias such as `openai/gpt-4o` stands for can use the model of that name.
 */
export function resolveModelRef(aliases: readonly NamedModel[], ref: string): { model: ResolvedModel } | { fault: string } {
  if (ref.includes('/')) return { model: ref };
  const model = resolveModelAlias(aliases, ref);
  if (model === null)
    return { fault: `There is no model alias ${quoted(ref)}: create it with PUT /v1/model-aliases/${ref}, or name <provider>/<model>.` };
  if (typeof model !== 'string' || !model.startsWith('agent/')) return { model };
  return {
    fault: `The model alias ${quoted(ref)} names the agent ${quoted(model.slice(6))}, which is not a model: name an alias of a model, or <provider>/<model>.`,
  };
}

/** Of two patterns of the same length the first in the alphabet, so that the order of the list does not matter. */
function isCloser(one: string, other: string): boolean {
  return one.length === other.length ? one < other : one.length > other.length;
}
