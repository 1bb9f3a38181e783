/**
 * A route: a model alias with several targets, of which each request gets one, and the next when that fails. Targets and fallbacks name models,
 * never aliases, so that there are no cycles. The order for a request is in `target-order.ts`.
 */
import * as z from 'zod';
import { listOf, recordOf } from '../json/wire-value.ts';
import { ModelTimeouts, modelTimeout } from './timeouts.ts';

/** The response header that names the model of a route that replied, and why it was asked. */
export const targetHeader = 'x-moniker-target';
/** In the OpenAPI document. */
export const targetHeaders = {
  [targetHeader]:
    'Of an alias with `targets`: the model that replied, why it was asked, and which models failed before: `openai/gpt-5.5; why=fallback; attempts=2; failed="azure-eu/gpt-5.5:rate_limited"`.',
};

export const maxTargets = 32;
export const maxRouteFallbacks = 16;
export const maxRouteRetries = 5;

const TargetModel = z
  .string()
  .regex(/^(?!agent\/)[a-z][a-z0-9-]{0,31}\/.{1,200}$/, {
    message: 'must be <provider>/<model>; a target is never an alias or an agent, so that there are no cycles',
  })
  .meta({ example: 'openai/gpt-5.5' });

export const RouteTarget = z
  .strictObject({
    model: TargetModel,
    weight: z.number().min(0).max(1_000_000).optional().meta({
      description: 'Its share of the requests, for `weighted` and `least-busy`. Default 1; 0: used only when the other targets fail.',
    }),
  })
  .meta({ id: 'RouteTarget' });
export type RouteTarget = z.infer<typeof RouteTarget>;

const RouteTimeouts = ModelTimeouts.extend({
  totalMs: modelTimeout.optional().meta({
    description: 'Of all attempts together: until the first output of a streamed reply, or the complete reply of another one.',
  }),
}).meta({ id: 'RouteTimeouts', example: { firstByteMs: 10_000, totalMs: 60_000 } });

/** What an alias has in place of `model`. */
export const routeMembers = {
  targets: z.array(RouteTarget).min(1).max(maxTargets).meta({ description: 'The models that share the requests.' }),
  strategy: z.enum(['in-order', 'weighted', 'least-busy', 'lowest-latency']).optional().meta({
    description: 'Which target a request gets, of those that are up. Default `in-order`.',
  }),
  fallbacks: z.array(TargetModel).max(maxRouteFallbacks).optional().meta({ description: 'Asked in order when no target replies.' }),
  contextFallback: TargetModel.optional().meta({ description: 'Asked next when a model reports that the conversation does not fit it.' }),
  retries: z.int().min(0).max(maxRouteRetries).optional().meta({
    description:
      'Further attempts at a model before the next one is asked. Default 0; without it, when every model has failed, the request waits, 30 s at most, and asks up to three times those that are up again.',
  }),
  timeouts: RouteTimeouts.optional().meta({ description: 'They replace those of the providers; those of an agent take precedence.' }),
  sticky: z.enum(['session', 'key', 'none']).optional().meta({
    description:
      'What stays with its target while that is up: a conversation (default), everything of a key, or nothing. A conversation without a session is recognized by its first messages.',
  }),
};

const RouteMembers = z.object(routeMembers);
export type ModelRoute = z.infer<typeof RouteMembers>;
/** `name`: of the alias. */
export type NamedRoute = ModelRoute & { name: string };

/** What the name of a model stands for: `<provider>/<model>`, `agent/<name>`, or a route. */
export type ResolvedModel = string | NamedRoute;

/** Returns every model that a request may be sent to, each once; the first target comes first. */
export function modelsOf(resolved: string | ModelRoute): readonly string[] {
  if (typeof resolved === 'string') return [resolved];
  const { targets, fallbacks = [], contextFallback } = resolved;
  return [...new Set([...targets.map(({ model }) => model), ...fallbacks, ...(contextFallback === undefined ? [] : [contextFallback])])];
}

/** Returns every model, alias or agent that an agent or alias names. `body`: not parsed yet. */
export function refsIn({ model, targets, fallbacks, contextFallback }: Readonly<Record<string, unknown>>): string[] {
  const ofTargets = listOf(targets).map((target) => recordOf(target).model);
  return [model, ...ofTargets, ...listOf(fallbacks), contextFallback].filter((ref) => typeof ref === 'string');
}

/** Returns the name that later turns of a session use. A name with a `/` is never an alias there. */
export function nameForTurns(resolved: ResolvedModel): string {
  if (typeof resolved === 'string') return resolved;
  return resolved.name.includes('/') ? (resolved.targets[0]?.model ?? '') : resolved.name;
}

/** Returns what is wrong with a route beyond its members' schemas. */
export function routeIssues({ targets, contextFallback }: ModelRoute): { path: (string | number)[]; message: string }[] {
  const models = targets.map(({ model }) => model);
  const twice = models.findIndex((model, index) => models.indexOf(model) !== index);
  return [
    ...(targets.every(({ weight = 1 }) => weight === 0)
      ? [{ path: ['targets'], message: 'at least one target needs a `weight` above 0' }]
      : []),
    ...(twice < 0 ? [] : [{ path: ['targets', twice, 'model'], message: 'is a target already: give it one `weight`' }]),
    ...(contextFallback !== undefined && models.length === 1 && models[0] === contextFallback
      ? [{ path: ['contextFallback'], message: 'is the only target: name a model that takes longer conversations' }]
      : []),
  ];
}
